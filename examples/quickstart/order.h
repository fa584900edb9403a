/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An order as it came in, and the history of its changes. Both are kept for audits and hardly ever read. */
#ifndef ORDER_H
#define ORDER_H

#include <stddef.h>
#include <stdint.h>

/* One entry of the history, newest first. */
struct change {
  struct change *previous;
  uint64_t time_us;
  int32_t amount_cents; /* after the change */
  uint32_t reason_length;
  char reason[]; /* not terminated */
};

struct order {
  struct change *last_change; /* never NULL: the first entry records that the order was placed */
  uint64_t customer;
  uint32_t text_length;
  char text[]; /* who ordered what, and where it goes; not terminated */
};

/* Copies the text. */
struct order *order_create(uint64_t customer, const char *text, size_t text_length);

/* Add an entry to the history; copies the reason (a string). */
void order_record_change(struct order *order, uint64_t time_us, int32_t amount_cents, const char *reason);

/* Frees the order and its history. */
void order_destroy(struct order *order);

/* A checksum over the text and the whole history. */
uint64_t order_checksum(const struct order *order);

#endif
