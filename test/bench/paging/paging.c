/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The quickstart's store, with its hot path timed while its cold blocks are out of memory.
 *
 * usage: paging ORDERS QUERIES ROUNDS
 *
 * Loads the orders, waits until the system took cold memory away, and then prints
 *
 *   HOT    nanoseconds of processor time of a query, which the index answers alone: of the fastest round
 *   READS  pages that were read from the disk in all rounds
 *   OUT    per cent of the cold range's bytes that were not in memory then
 *   AUDIT  microseconds for reading an order and its history, once for each of 1,000 orders
 */
#include <hearth/malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#define main orders_main
#include "main.c"
#undef main

enum { AUDITS = 1000, WAIT_S = 3 };

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static long page_reads(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_majflt;
}

static double least_query_ns(const struct store *store, uint64_t queries, uint64_t rounds) {
  double least = 0;
  int64_t turnover = 0;
  for (uint64_t round = 0; round < rounds; round++) {
    struct random random = random_seeded(3);
    double start = processor_seconds();
    for (uint64_t i = 0; i < queries; i++) {
      uint64_t from_us = any_time(store, &random);
      turnover += index_turnover(&store->index, from_us, from_us + 20 * MEAN_GAP_US).amount_cents;
    }
    double ns = (processor_seconds() - start) / (double)queries * 1e9;
    least = round == 0 || ns < least ? ns : least;
  }
  fprintf(stderr, "%" PRId64 "\n", turnover); /* so that it is computed */
  return least;
}

static double audit_us(const struct store *store) {
  struct random random = random_seeded(5);
  uint64_t checksum = 0;
  double start = seconds_now();
  for (int i = 0; i < AUDITS; i++)
    checksum += store_audit(store, any_time(store, &random));
  double taken = seconds_now() - start;
  fprintf(stderr, "%" PRIu64 "\n", checksum);
  return taken / AUDITS * 1e6;
}

int main(int argc, char **argv) {
  struct store store;
  struct totals totals = {0};
  struct hearth_malloc_stats stats;
  if (argc != 4)
    return 2;
  store_init(&store);
  load(&store, parse_number(argv[1]), 2, &totals);
  sleep(WAIT_S);
  long reads = page_reads();
  double query_ns = least_query_ns(&store, parse_number(argv[2]), parse_number(argv[3]));
  reads = page_reads() - reads;
  hearth_malloc_stats(&stats);
  double out = 100 - (double)stats.cold.resident_bytes * 100 / (double)stats.cold.committed_bytes;
  printf("%.1f %ld %.1f", query_ns, reads, out);
  printf(" %.1f\n", audit_us(&store));
  return 0;
}
