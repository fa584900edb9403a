/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "feed.h"

#include "memory.h"

#include <stdio.h>

enum { ROW_TEXT_MAX = 512 };

static const char *const names[] = {"Ada Marin", "Bruno Keller", "Chidi Okafor",
                                    "Dana Levi", "Emil Novak",   "Fatima Zahra"};
static const char *const streets[] = {"Harbour Road", "Mill Lane", "Station Square", "Old Bridge Street",
                                      "Orchard Row"};
static const char *const towns[] = {"Aarhus", "Bologna", "Cork", "Dresden", "Evora", "Freiburg", "Gdansk", "Haarlem"};
static const char *const goods[] = {"cast iron pan", "oak table",    "desk lamp",    "set of towels", "garden chair",
                                    "tool box",      "bicycle pump", "wool blanket", "coffee mill",   "rain coat"};

#define PICK(random, list) (list[random_below(random, sizeof list / sizeof list[0])])

void feed_init(struct feed *feed, uint64_t seed) {
  feed->random = random_seeded(seed);
  feed->now_us = 1;
}

/* The text of an order: an address and one to six items, about 200 bytes. */
static size_t compose(struct random *random, char text[static ROW_TEXT_MAX]) {
  int length = snprintf(text, ROW_TEXT_MAX, "ship to %s, %u %s, %s; gift wrap: %s; items:", PICK(random, names),
                        (unsigned)random_below(random, 200) + 1, PICK(random, streets), PICK(random, towns),
                        random_below(random, 5) ? "no" : "yes");
  for (uint64_t items = random_below(random, 6) + 1; items > 0; items--)
    length +=
        snprintf(text + length, ROW_TEXT_MAX - (size_t)length, " %u x %s (article %07u),",
                 (unsigned)random_below(random, 9) + 1, PICK(random, goods), (unsigned)random_below(random, 10000000));
  return (size_t)length;
}

struct feed_row *feed_next(struct feed *feed) {
  struct random *random = &feed->random;
  struct feed_row *row = store_alloc(sizeof *row + ROW_TEXT_MAX);
  feed->now_us += 100 + random_below(random, 1800);
  row->time_us = feed->now_us;
  if (random_below(random, 8) == 0) {
    uint64_t late_us = random_below(random, 50000);
    row->time_us -= late_us < row->time_us ? late_us : 0;
  }
  row->customer = random_below(random, 50000);
  row->amount_cents = (int32_t)random_below(random, 100000) + 100;
  row->text_length = compose(random, row->text);
  return row;
}

void feed_row_destroy(struct feed_row *row) { store_free(row); }
