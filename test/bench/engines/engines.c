/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* engines: one engine for the cold range, measured. Prints on one line
 *
 *   NS1 NS2      nanoseconds of processor time for a free and an allocation, on one thread and on each of two; 1,000 blocks
 *                of 16 to 400 bytes, a random one replaced, the least of several rounds
 *   FULL SPARSE  resident bytes of the process for each byte that was asked for: a million blocks; a random tenth of them
 *   WRITTEN      of the nine tenths that were freed, percent into which the engine wrote: such a page has to be in memory
 *   EMPTY        resident KiB of the range after the last was freed
 *   IN OUT       of a million plain and cold requests, by threads that end meanwhile and free each other's blocks: plain
 *                blocks inside the range, cold ones outside
 */
#define _GNU_SOURCE
#include "engine.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { SLOTS = 1000, ROUNDS = 9, MANY = 1000000, MIXED = 4000, GENERATIONS = 25, MIXED_STEPS = 20000 };

static char *range;
static unsigned long operations;

char *reserve_range(void) {
  size_t alignment = (size_t)1 << 30;
  char *map =
      mmap(NULL, RANGE_BYTES + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED)
    exit(3);
  map = (char *)(((uintptr_t)map + alignment - 1) & -(uintptr_t)alignment);
  madvise(map, RANGE_BYTES, MADV_NOHUGEPAGE);
  return map;
}

static uint32_t next_random(uint32_t *random) { return (*random = *random * 1664525 + 1013904223) >> 8; }
static size_t random_size(uint32_t *random) { return 16 + next_random(random) % 385; }

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void *replace(void *least) {
  void *slots[SLOTS] = {0};
  uint32_t random = 1;
  engine_thread_begin();
  for (int round = 0; round < ROUNDS; round++) {
    double start = seconds();
    for (unsigned long i = 0; i < operations; i++) {
      void **slot = &slots[next_random(&random) % SLOTS];
      engine_give(*slot);
      *slot = engine_take(random_size(&random));
      *(volatile char *)*slot = 1;
    }
    double taken = seconds() - start;
    *(double *)least = round == 0 || taken < *(double *)least ? taken : *(double *)least;
  }
  for (int i = 0; i < SLOTS; i++)
    engine_give(slots[i]);
  engine_thread_end();
  return NULL;
}

static double pair_ns(int threads) {
  pthread_t thread[2];
  double least[2] = {0};
  for (int i = 0; i < threads; i++)
    pthread_create(&thread[i], NULL, replace, &least[i]);
  for (int i = 0; i < threads; i++)
    pthread_join(thread[i], NULL);
  double slower = least[0] > least[1] ? least[0] : least[1];
  return slower / (double)operations * 1e9;
}

static double resident_bytes(void) {
  static unsigned char present[1 << 14];
  double pages = 0;
  for (size_t at = 0; at < RANGE_BYTES; at += sizeof present * 4096)
    if (!mincore(range + at, sizeof present * 4096, present))
      for (size_t i = 0; i < sizeof present; i++)
        pages += present[i] & 1;
  return pages * 4096;
}

/* What an engine knows of its blocks may lie outside of the range. */
static double process_bytes(void) {
  double pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (!statm || fscanf(statm, "%*d %lf", &pages) != 1)
    exit(3);
  fclose(statm);
  return pages * 4096;
}

/* The filling is gone, and not because the page is. */
static bool was_written(const char *block) {
  uint64_t word;
  memcpy(&word, block, sizeof word);
  return word && word != UINT64_C(0x0101010101010101);
}

static void *fill_and_empty(void *unused) {
  static char *blocks[MANY];
  static size_t sizes[MANY];
  static const char *addresses[MANY];
  uint32_t random = 7;
  memset(blocks, 1, sizeof blocks);
  memset(sizes, 1, sizeof sizes);
  memset(addresses, 1, sizeof addresses);
  engine_thread_begin();
  double before = process_bytes(), asked = 0, left = 0;
  for (int i = 0; i < MANY; i++) {
    sizes[i] = random_size(&random);
    asked += (double)sizes[i];
    addresses[i] = blocks[i] = memset(engine_take(sizes[i]), 1, sizes[i]);
  }
  double full = process_bytes() - before;
  for (int i = 0; i < MANY; i++)
    if (next_random(&random) % 10) {
      engine_give(blocks[i]);
      blocks[i] = NULL;
    } else {
      left += (double)sizes[i];
    }
  double sparse = process_bytes() - before;
  int freed = 0, written = 0;
  for (int i = 0; i < MANY; i++)
    if (!blocks[i]) {
      freed++;
      written += was_written(addresses[i]);
    }
  for (int i = 0; i < MANY; i++)
    engine_give(blocks[i]);
  engine_thread_end();
  printf(" %.3f %.3f %.1f %.0f", full / asked, sparse / left, written * 100. / freed, resident_bytes() / 1024);
  return unused;
}

static void *mixed[MIXED];
static pthread_mutex_t mixed_lock = PTHREAD_MUTEX_INITIALIZER;
static long plain_inside, cold_outside;

static void *mix(void *seed) {
  uint32_t random = (uint32_t)(uintptr_t)seed;
  engine_thread_begin();
  for (int i = 0; i < MIXED_STEPS; i++) {
    uint32_t slot = next_random(&random) % MIXED;
    size_t bytes = random_size(&random);
    bool cold = next_random(&random) % 2;
    char *block = cold ? engine_take(bytes) : malloc(bytes);
    bool inside = (size_t)(block - range) < RANGE_BYTES;
    pthread_mutex_lock(&mixed_lock);
    plain_inside += !cold && inside;
    cold_outside += cold && !inside;
    void *old = mixed[slot];
    mixed[slot] = block;
    pthread_mutex_unlock(&mixed_lock);
    engine_give(old);
  }
  engine_thread_end();
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[2];
  if (argc != 2)
    return 2;
  operations = strtoul(argv[1], NULL, 10);
  range = engine_open();
  printf("%.2f", pair_ns(1));
  printf(" %.2f", pair_ns(2));
  pthread_create(&threads[0], NULL, fill_and_empty, NULL);
  pthread_join(threads[0], NULL);
  for (uintptr_t i = 1; i <= GENERATIONS; i++) {
    pthread_create(&threads[0], NULL, mix, (void *)(2 * i));
    pthread_create(&threads[1], NULL, mix, (void *)(2 * i + 1));
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
  }
  printf(" %ld %ld\n", plain_inside, cold_outside);
  return 0;
}
