/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where orders come from: a generator that stands for the parser of an incoming stream. */
#ifndef FEED_H
#define FEED_H

#include "random.h"

#include <stddef.h>
#include <stdint.h>

struct feed {
  struct random random;
  uint64_t now_us;
};

/* One parsed row. It lives until it is stored. */
struct feed_row {
  uint64_t time_us;
  uint64_t customer;
  int32_t amount_cents;
  size_t text_length;
  char text[];
};

void feed_init(struct feed *feed, uint64_t seed);

/* The next row; freed by feed_row_destroy. Rows come nearly in order of time: some are late, a few of those twice. */
struct feed_row *feed_next(struct feed *feed);
void feed_row_destroy(struct feed_row *row);

#endif
