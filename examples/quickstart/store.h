/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The store: what came in from the feed, found by time. */
#ifndef STORE_H
#define STORE_H

#include "feed.h"
#include "index.h"

#include <stdbool.h>
#include <stdint.h>

struct store {
  struct index index;
  uint64_t now_us; /* time of the newest order */
};

void store_init(struct store *store);

/* Keep the row's content. Returns false, and stores nothing, if an order with this time is known already. */
bool store_put(struct store *store, const struct feed_row *row);

/* The following work on the first order at or after a time; they return false or 0 if there is none. */

/* Change the amount, and record that in the order's history. */
bool store_amend(struct store *store, uint64_t time_us, int32_t amount_cents);

/* Forget the order and its history. */
bool store_cancel(struct store *store, uint64_t time_us);

/* Read the order and its whole history: a checksum. */
uint64_t store_audit(const struct store *store, uint64_t time_us);

#endif
