/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* orders: an in-memory store of orders under a made-up day's load.
 *
 * Orders are loaded from a feed, with corrections and cancellations in between. Then come the queries: the turnover of
 * some window of time, which entries of the index alone can answer. Now and then an order is corrected, and once in a long
 * while one is audited, which reads its items and history. All output on stdout depends on the arguments alone. */
#include "store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  LOAD_AMEND_EVERY = 50,
  LOAD_CANCEL_EVERY = 40,
  QUERY_AMEND_EVERY = 10000,
  QUERY_AUDIT_EVERY = 10000,
  MEAN_GAP_US = 1000, /* between two orders of the feed */
  WINDOW_ORDERS_MAX = 40,
};

struct settings {
  uint64_t orders, queries, seed;
  bool time;
};

struct totals {
  uint64_t stored, rejected, amended, cancelled, audited;
  uint64_t audit_checksum;
  struct turnover turnover;
};

static const char usage[] = "usage: orders [--time] ORDERS QUERIES SEED\n"
                            "  --time  print the seconds that each phase takes on stderr\n";

static uint64_t parse_number(const char *text) {
  char *end;
  errno = 0;
  uint64_t number = strtoull(text, &end, 10);
  if (errno || end == text || *end || *text == '-') {
    fprintf(stderr, "orders: '%s' is not a number\n%s", text, usage);
    exit(2);
  }
  return number;
}

static struct settings parse_arguments(int argc, char **argv) {
  struct settings settings = {0};
  if (argc > 1 && strcmp(argv[1], "--time") == 0) {
    settings.time = true;
    argc--, argv++;
  }
  if (argc != 4) {
    fputs(usage, stderr);
    exit(2);
  }
  settings.orders = parse_number(argv[1]);
  settings.queries = parse_number(argv[2]);
  settings.seed = parse_number(argv[3]);
  return settings;
}

static uint64_t any_time(const struct store *store, struct random *random) {
  return random_below(random, store->now_us + 1);
}

static int32_t any_amount(struct random *random) { return (int32_t)random_below(random, 100000) + 100; }

static void load(struct store *store, uint64_t orders, uint64_t seed, struct totals *totals) {
  struct feed feed;
  feed_init(&feed, seed);
  struct random random = random_seeded(seed + 1);
  for (uint64_t i = 1; i <= orders; i++) {
    struct feed_row row = feed_next(&feed);
    if (store_put(store, &row))
      totals->stored++;
    else
      totals->rejected++;
    if (i % LOAD_AMEND_EVERY == 0)
      totals->amended += store_amend(store, any_time(store, &random), any_amount(&random));
    if (i % LOAD_CANCEL_EVERY == 0)
      totals->cancelled += store_cancel(store, any_time(store, &random));
  }
}

static void query(struct store *store, uint64_t queries, uint64_t seed, struct totals *totals) {
  struct random random = random_seeded(seed + 2);
  for (uint64_t i = 1; i <= queries; i++) {
    uint64_t from_us = any_time(store, &random);
    uint64_t to_us = from_us + random_below(&random, WINDOW_ORDERS_MAX) * MEAN_GAP_US;
    struct turnover window = index_turnover(&store->index, from_us, to_us);
    totals->turnover.orders += window.orders;
    totals->turnover.amended += window.amended;
    totals->turnover.amount_cents += window.amount_cents;
    if (i % QUERY_AMEND_EVERY == 0)
      totals->amended += store_amend(store, any_time(store, &random), any_amount(&random));
    if (i % QUERY_AUDIT_EVERY == 0) {
      totals->audited++;
      totals->audit_checksum += store_audit(store, any_time(store, &random));
    }
  }
}

static void print_totals(const struct totals *totals, const struct store *store) {
  printf("stored    %" PRIu64 " orders, rejected %" PRIu64 " known already\n", totals->stored, totals->rejected);
  printf("changed   %" PRIu64 " amended, %" PRIu64 " cancelled, %zu in the index\n", totals->amended, totals->cancelled,
         store->index.count);
  printf("turnover  %" PRId64 " cents in %" PRIu64 " orders, %" PRIu64 " of them amended\n",
         totals->turnover.amount_cents, totals->turnover.orders, totals->turnover.amended);
  printf("audit     %016" PRIx64 " over %" PRIu64 " orders\n", totals->audit_checksum, totals->audited);
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  struct settings settings = parse_arguments(argc, argv);
  struct store store;
  struct totals totals = {0};
  store_init(&store);

  double start = seconds_now();
  load(&store, settings.orders, settings.seed, &totals);
  double loaded = seconds_now();
  query(&store, settings.queries, settings.seed, &totals);
  double done = seconds_now();

  print_totals(&totals, &store);
  if (settings.time)
    fprintf(stderr, "load %.3f\nquery %.3f\n", loaded - start, done - loaded);
  /* The store is not taken down: the kernel does that faster than a walk over every cold order could. */
  return 0;
}
