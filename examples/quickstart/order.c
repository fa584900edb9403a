/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "order.h"

#include "memory.h"

#include <string.h>

struct order *order_create(uint64_t customer, const char *text, size_t text_length) {
  struct order *order = store_alloc(sizeof *order + text_length);
  order->last_change = NULL;
  order->customer = customer;
  order->text_length = (uint32_t)text_length;
  memcpy(order->text, text, text_length);
  return order;
}

void order_record_change(struct order *order, uint64_t time_us, int32_t amount_cents, const char *reason) {
  size_t reason_length = strlen(reason);
  struct change *change = store_alloc(sizeof *change + reason_length);
  change->previous = order->last_change;
  change->time_us = time_us;
  change->amount_cents = amount_cents;
  change->reason_length = (uint32_t)reason_length;
  memcpy(change->reason, reason, reason_length);
  order->last_change = change;
}

void order_destroy(struct order *order) {
  for (struct change *change = order->last_change; change;) {
    struct change *previous = change->previous;
    store_free(change);
    change = previous;
  }
  store_free(order);
}

/* FNV-1a: not the fastest, but one line. */
static uint64_t checksum_add(uint64_t sum, const void *bytes, size_t length) {
  const unsigned char *byte = bytes;
  for (size_t i = 0; i < length; i++)
    sum = (sum ^ byte[i]) * 0x100000001b3u;
  return sum;
}

uint64_t order_checksum(const struct order *order) {
  uint64_t sum = checksum_add(0xcbf29ce484222325u, order->text, order->text_length);
  for (const struct change *change = order->last_change; change; change = change->previous) {
    sum = checksum_add(sum, &change->amount_cents, sizeof change->amount_cents);
    sum = checksum_add(sum, change->reason, change->reason_length);
  }
  return sum;
}
