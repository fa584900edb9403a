/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* hinted-pairs: what malloc and free cost with and without a hint.
 *
 * usage: hinted-pairs KIND THREADS OPERATIONS [ORDER BYTES]
 *   KIND        plain: malloc; cold, pool, hot: malloc_hot_cold with such a hint; realloc: realloc_hot_cold(NULL, ...)
 *   OPERATIONS  of each thread; each replaces one of 1,000 blocks, and writes to it
 *   ORDER       random (default); oldest; once: the same one each time; all: all are freed, the last one first, then all
 *               taken again
 *   BYTES       of each block (default: 16 to 400)
 *
 * Prints nanoseconds of processor time for each operation, the least of several rounds on any thread. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 20, THREADS_MOST = 64, SLOTS = 1000 };

#ifdef HINTED
#include <hearth/malloc.h>
#else /* the subject without the allocator has plain blocks only */
static void *malloc_hot_cold(size_t bytes, uint8_t hint) {
  (void)hint;
  return malloc(bytes);
}
static void *realloc_hot_cold(void *block, size_t bytes, uint8_t hint) {
  (void)hint;
  return realloc(block, bytes);
}
#endif

static unsigned long operations; /* of each round */
static int hint = -1;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool by_realloc;
static const char *order = "random";
static size_t fixed_bytes;

static void *allocate(size_t bytes) {
  if (by_realloc)
    return realloc_hot_cold(NULL, bytes, (uint8_t)hint);
  return hint < 0 ? malloc(bytes) : malloc_hot_cold(bytes, (uint8_t)hint);
}

static void take(void **slot, uint32_t random) {
  *slot = allocate(fixed_bytes ? fixed_bytes : 16 + (random >> 20) % 385);
  *(volatile char *)*slot = 1;
}

static void replace_all(void **slots, uint32_t *random) {
  for (int i = SLOTS; i-- > 0;)
    free(slots[i]);
  for (int i = 0; i < SLOTS; i++) {
    *random = *random * 1664525 + 1013904223;
    take(&slots[i], *random);
  }
}

static void round_of(void **slots, uint32_t *random) {
  bool is_random = *order == 'r', is_oldest = !strcmp(order, "oldest");
  for (unsigned long i = 0; i < operations; i++) {
    *random = *random * 1664525 + 1013904223;
    void **slot = &slots[is_random ? (*random >> 8) % SLOTS : is_oldest ? i % SLOTS : 0];
    free(*slot);
    take(slot, *random);
  }
}

static void *work(void *least) {
  void *slots[SLOTS] = {0};
  uint32_t random = 1;
  for (int i = 0; i < ROUNDS; i++) {
    double start = seconds();
    if (!strcmp(order, "all"))
      for (unsigned long done = 0; done < operations; done += SLOTS)
        replace_all(slots, &random);
    else
      round_of(slots, &random);
    double taken = seconds() - start;
    if (i == 0 || taken < *(double *)least)
      *(double *)least = taken;
  }
  for (int i = 0; i < SLOTS; i++)
    free(slots[i]);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 4 && argc != 6) {
    fputs("usage: hinted-pairs plain|cold|pool|hot|realloc THREADS OPERATIONS [random|oldest|once|all BYTES]\n",
          stderr);
    return 2;
  }
  by_realloc = !strcmp(argv[1], "realloc");
  hint = !strcmp(argv[1], "cold")                 ? 0
         : !strcmp(argv[1], "pool") || by_realloc ? 223
         : !strcmp(argv[1], "hot")                ? 255
                                                  : -1;
  if (argc == 6) {
    order = argv[4];
    fixed_bytes = strtoul(argv[5], NULL, 10);
  }
  int count = atoi(argv[2]);
  operations = strtoul(argv[3], NULL, 10) / ROUNDS + 1;
  if (count < 1 || count > THREADS_MOST)
    return 2;
  free(malloc_hot_cold(1, 0)); /* the ranges are open, whatever is measured */
  pthread_t threads[THREADS_MOST];
  double least[THREADS_MOST];
  for (int i = 1; i < count; i++)
    if (pthread_create(&threads[i], NULL, work, &least[i]))
      return 1;
  work(&least[0]);
  double best = least[0];
  for (int i = 1; i < count; i++) {
    pthread_join(threads[i], NULL);
    best = least[i] < best ? least[i] : best;
  }
  printf("%.3f\n", best / (double)operations * 1e9);
  return 0;
}
