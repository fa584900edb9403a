/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where orders come from: a generator that stands for the parser of an incoming stream. */
#ifndef FEED_H
#define FEED_H

#include "random.h"

#include <stdint.h>

enum { ROW_ITEMS_MAX = 6 };

struct feed {
  struct random random;
  uint64_t now_us;
};

struct feed_item {
  uint64_t article;
  uint32_t price_cents, count;
};

/* One parsed row. */
struct feed_row {
  uint64_t time_us;
  uint64_t customer;
  int32_t amount_cents;
  uint32_t item_count;
  struct feed_item items[ROW_ITEMS_MAX];
};

void feed_init(struct feed *feed, uint64_t seed);

/* The next row. Rows come nearly in order of time: some are late, a few of those twice. */
struct feed_row feed_next(struct feed *feed);

#endif
