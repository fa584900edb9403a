/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An order as it came in: its items, and the history of its changes. All are kept for audits and hardly ever read. */
#ifndef ORDER_H
#define ORDER_H

#include <stddef.h>
#include <stdint.h>

struct item {
  struct item *next;
  uint64_t article;
  uint64_t price_cents;
  uint64_t count;
};

enum change_reason { CHANGE_PLACED, CHANGE_CORRECTED };

/* One entry of the history, newest first. */
struct change {
  struct change *previous;
  uint64_t time_us;
  int64_t amount_cents; /* after the change */
  uint64_t reason;
};

struct order {
  struct item *items;
  struct change *last_change; /* never NULL, once the order is placed */
  uint64_t customer;
  uint64_t item_count;
};

struct order *order_create(uint64_t customer);

void order_add_item(struct order *order, uint64_t article, uint64_t price_cents, uint64_t count);

/* Add an entry to the history. */
void order_record_change(struct order *order, uint64_t time_us, int32_t amount_cents, enum change_reason reason);

/* Frees the order, its items and its history. */
void order_destroy(struct order *order);

/* A checksum over the items and the whole history. */
uint64_t order_checksum(const struct order *order);

#endif
