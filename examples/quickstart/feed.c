/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "feed.h"

void feed_init(struct feed *feed, uint64_t seed) {
  feed->random = random_seeded(seed);
  feed->now_us = 1;
}

static struct feed_item any_item(struct random *random) {
  return (struct feed_item){.article = random_below(random, 10000000),
                            .price_cents = (uint32_t)random_below(random, 5000) + 100,
                            .count = (uint32_t)random_below(random, 9) + 1};
}

struct feed_row feed_next(struct feed *feed) {
  struct random *random = &feed->random;
  feed->now_us += 100 + random_below(random, 1800);
  struct feed_row row = {.time_us = feed->now_us,
                         .customer = random_below(random, 50000),
                         .item_count = (uint32_t)random_below(random, ROW_ITEMS_MAX) + 1};
  if (random_below(random, 8) == 0) {
    uint64_t late_us = random_below(random, 50000);
    row.time_us -= late_us < row.time_us ? late_us : 0;
  }
  for (uint32_t i = 0; i < row.item_count; i++) {
    row.items[i] = any_item(random);
    row.amount_cents += (int32_t)(row.items[i].price_cents * row.items[i].count);
  }
  return row;
}
