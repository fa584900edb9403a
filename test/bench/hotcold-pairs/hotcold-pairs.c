/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* hotcold-pairs: what malloc and free cost with and without a hint.
 *
 * usage: hotcold-pairs KIND THREADS OPERATIONS
 *   KIND        plain: malloc; cold, pool, hot: malloc_hot_cold with such a hint
 *   OPERATIONS  of each thread; each replaces a random one of 1,000 blocks of 16 to 400 bytes, and writes to it
 *
 * Prints nanoseconds of processor time for each operation, the least of several rounds on any thread. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 20, THREADS_MOST = 64, SLOTS = 1000 };

#ifdef HINTED
#include <hearth/hotcold.h>
#else /* the subject without the adapter has plain blocks only */
static void *malloc_hot_cold(size_t bytes, uint8_t hint) {
  (void)hint;
  return malloc(bytes);
}
#endif

static unsigned long operations; /* of each round */
static int hint = -1;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void *allocate(size_t bytes) { return hint < 0 ? malloc(bytes) : malloc_hot_cold(bytes, (uint8_t)hint); }

static void round_of(void **slots, uint32_t *random) {
  for (unsigned long i = 0; i < operations; i++) {
    *random = *random * 1664525 + 1013904223;
    void **slot = &slots[(*random >> 8) % SLOTS];
    free(*slot);
    *slot = allocate(16 + (*random >> 20) % 385);
    *(volatile char *)*slot = 1;
  }
}

static void *work(void *least) {
  void *slots[SLOTS] = {0};
  uint32_t random = 1;
  for (int i = 0; i < ROUNDS; i++) {
    double start = seconds();
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
  if (argc != 4) {
    fputs("usage: hotcold-pairs plain|cold|pool|hot THREADS OPERATIONS\n", stderr);
    return 2;
  }
  hint = !strcmp(argv[1], "cold") ? 0 : !strcmp(argv[1], "pool") ? 223 : !strcmp(argv[1], "hot") ? 255 : -1;
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
