/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "store.h"

#include "order.h"

void store_init(struct store *store) {
  index_init(&store->index);
  store->now_us = 0;
}

bool store_put(struct store *store, const struct feed_row *row) {
  struct order *order = order_create(row->customer);
  for (uint32_t i = 0; i < row->item_count; i++)
    order_add_item(order, row->items[i].article, row->items[i].price_cents, row->items[i].count);
  order_record_change(order, row->time_us, row->amount_cents, CHANGE_PLACED);
  if (!index_insert(&store->index, row->time_us, row->amount_cents, order)) {
    order_destroy(order);
    return false;
  }
  if (row->time_us > store->now_us)
    store->now_us = row->time_us;
  return true;
}

bool store_amend(struct store *store, uint64_t time_us, int32_t amount_cents) {
  struct entry *entry = index_at_or_after(&store->index, time_us);
  if (!entry)
    return false;
  entry->amount_cents = amount_cents;
  entry->status = ORDER_AMENDED;
  order_record_change(entry->order, store->now_us, amount_cents, CHANGE_CORRECTED);
  return true;
}

bool store_cancel(struct store *store, uint64_t time_us) {
  struct entry *entry = index_at_or_after(&store->index, time_us);
  if (!entry)
    return false;
  order_destroy(index_remove(&store->index, entry->time_us));
  return true;
}

uint64_t store_audit(const struct store *store, uint64_t time_us) {
  struct entry *entry = index_at_or_after(&store->index, time_us);
  return entry ? order_checksum(entry->order) : 0;
}
