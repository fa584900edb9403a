/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "order.h"

#include "memory.h"

#include <assert.h>

static_assert(sizeof(struct item) == RECORD_BYTES && sizeof(struct change) == RECORD_BYTES &&
                  sizeof(struct order) == RECORD_BYTES,
              "these are records");

struct order *order_create(uint64_t customer) {
  struct order *order = store_alloc(sizeof *order);
  *order = (struct order){.customer = customer};
  return order;
}

void order_add_item(struct order *order, uint64_t article, uint64_t price_cents, uint64_t count) {
  struct item *item = store_alloc(sizeof *item);
  *item = (struct item){.next = order->items, .article = article, .price_cents = price_cents, .count = count};
  order->items = item;
  order->item_count++;
}

void order_record_change(struct order *order, uint64_t time_us, int32_t amount_cents, enum change_reason reason) {
  struct change *change = store_alloc(sizeof *change);
  *change = (struct change){
      .previous = order->last_change, .time_us = time_us, .amount_cents = amount_cents, .reason = reason};
  order->last_change = change;
}

void order_destroy(struct order *order) {
  for (struct item *item = order->items; item;) {
    struct item *next = item->next;
    store_free(item);
    item = next;
  }
  for (struct change *change = order->last_change; change;) {
    struct change *previous = change->previous;
    store_free(change);
    change = previous;
  }
  store_free(order);
}

static uint64_t checksum_add(uint64_t sum, uint64_t value) { return (sum ^ value) * 0x9e3779b97f4a7c15u; }

uint64_t order_checksum(const struct order *order) {
  uint64_t sum = checksum_add(order->customer, order->item_count);
  for (const struct item *item = order->items; item; item = item->next)
    sum = checksum_add(checksum_add(sum, item->article), item->price_cents * item->count);
  for (const struct change *change = order->last_change; change; change = change->previous)
    sum = checksum_add(checksum_add(sum, change->reason), (uint64_t)change->amount_cents);
  return sum;
}
