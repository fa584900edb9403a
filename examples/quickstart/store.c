/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "store.h"

#include "order.h"

void store_init(struct store *store) {
  index_init(&store->index);
  store->now_us = 0;
}

bool store_put(struct store *store, const struct feed_row *row) {
  struct order *order = order_create(row->customer, row->text, row->text_length);
  order_record_change(order, row->time_us, row->amount_cents, "placed by the customer");
  if (!index_insert(&store->index, row->time_us, row->amount_cents, order)) {
    order_destroy(order);
    return false;
  }
  if (row->time_us > store->now_us)
    store->now_us = row->time_us;
  return true;
}

bool store_amend(struct store *store, uint64_t time_us, int32_t amount_cents) {
  struct index_node *node = index_at_or_after(&store->index, time_us);
  if (!node)
    return false;
  node->amount_cents = amount_cents;
  node->status = ORDER_AMENDED;
  order_record_change(node->order, store->now_us, amount_cents, "amount corrected after a call from the customer");
  return true;
}

bool store_cancel(struct store *store, uint64_t time_us) {
  struct index_node *node = index_at_or_after(&store->index, time_us);
  if (!node)
    return false;
  order_destroy(index_remove(&store->index, node->time_us));
  return true;
}

uint64_t store_audit(const struct store *store, uint64_t time_us) {
  struct index_node *node = index_at_or_after(&store->index, time_us);
  return node ? order_checksum(node->order) : 0;
}
