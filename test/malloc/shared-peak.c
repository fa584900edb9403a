/* Small and large blocks use one another's memory: the most that is resident stays near the most that is live.
 *
 *   0  large blocks that replace each other are freed; small ones come
 *   1  small blocks are freed but for a few everywhere; large ones come
 *   2  the same in a thread of its own
 *
 * RUN: %clang -O1 -fno-builtin %s %malloc_a -lpthread -o %t
 * RUN: for way in 0 1 2; do %t $way || exit; done | FileCheck %s
 * CHECK-COUNT-3: under 5/4 of what is live
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { MIB = 1 << 20, MOST = 64 * MIB, SMALL = 208, SMALLS = MOST / SMALL, KEPT_IN = 4000, LARGES = 40 };
static void *small[SMALLS], *large[MOST / MIB];

static void make_small(void) {
  for (int i = 0; i < SMALLS; i++)
    small[i] = memset(malloc(SMALL), 1, SMALL);
}

static void small_after_large(void) {
  unsigned random = 42;
  for (int i = 0; i < 2000; i++) {
    random = random * 1103515245 + 12345;
    unsigned which = (random >> 16) % LARGES;
    size_t bytes = MIB / 2 + (random >> 8) % MIB;
    free(large[which]);
    large[which] = memset(malloc(bytes), 1, bytes);
  }
  for (int i = 0; i < LARGES; i++)
    free(large[i]);
  make_small();
}

static void large_after_small(void) {
  make_small();
  for (int i = 0; i < SMALLS; i++)
    if (i % KEPT_IN)
      free(small[i]);
  for (int i = 0; i < MOST / MIB - 4; i++)
    large[i] = memset(malloc(MIB - 4096), 1, MIB - 4096);
}

static void *run(void *unused) {
  (void)unused;
  large_after_small();
  return NULL;
}

static void in_a_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL))
    exit(1);
}

int main(int argc, char **argv) {
  static void (*const ways[])(void) = {small_after_large, large_after_small, in_a_thread};
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  struct rusage usage;
  memset(small, 1, sizeof small);
  getrusage(RUSAGE_SELF, &usage);
  long before = usage.ru_maxrss;
  ways[argc > 1 ? atoi(argv[1]) : 0]();
  getrusage(RUSAGE_SELF, &usage);
  long peak = usage.ru_maxrss - before;
  fprintf(stderr, "peak %ld of %d KiB\n", peak, MOST / 1024);
  printf("%s 5/4 of what is live\n", peak < MOST / 1024 / 4 * 5 ? "under" : "over");
  return 0;
}
