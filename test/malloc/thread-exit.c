/* Threads come and go: their memory serves those that follow, whether they free their blocks or others do.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t -pthread
 * RUN: env LD_PRELOAD=%malloc %t | FileCheck %s
 * RUN: env LD_PRELOAD=%malloc_checked %t | FileCheck %s
 *
 * CHECK: 2000 threads, one after the other: under 8 MiB
 * CHECK: 2000 threads at once: under 200 MiB, 8 MiB after another round
 * CHECK: blocks of threads that ended, freed: under 16 MiB
 */
#include "Inputs/rollup.h"

#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long resident_mib(void) { return rollup_kib("Rss:") >> 10; }
static long round_up(long mib, long to) { return (mib / to + 1) * to; }

static void *work(void *unused) {
  char *blocks[200];
  for (int i = 0; i < 200; i++)
    memset((blocks[i] = malloc((size_t)i + 1)), 1, (size_t)i + 1);
  for (int i = 0; i < 200; i++)
    free(blocks[i]);
  return unused;
}

static pthread_barrier_t together;
static void *work_together(void *unused) {
  work(NULL);
  pthread_barrier_wait(&together);
  return unused;
}

static void *leave_blocks(void *kept_of) {
  char **kept = kept_of;
  for (int i = 0; i < 1000; i++)
    memset((kept[i] = malloc(100)), 1, 100);
  return NULL;
}

static void at_once(pthread_attr_t *small) {
  static pthread_t threads[2000];
  pthread_barrier_init(&together, NULL, 2001);
  for (int i = 0; i < 2000; i++)
    if (pthread_create(&threads[i], small, work_together, NULL))
      abort();
  pthread_barrier_wait(&together);
  for (int i = 0; i < 2000; i++)
    pthread_join(threads[i], NULL);
}

int main(void) {
  pthread_attr_t small;
  pthread_t thread;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  long start = resident_mib();
  for (int i = 0; i < 2000; i++) {
    pthread_create(&thread, &small, work, NULL);
    pthread_join(thread, NULL);
  }
  printf("2000 threads, one after the other: under %ld MiB\n", round_up(resident_mib() - start, 8));
  at_once(&small);
  long first = resident_mib() - start;
  at_once(&small);
  printf("2000 threads at once: under %ld MiB, %ld MiB after another round\n", round_up(first, 200),
         round_up(resident_mib() - start - first, 8));
  first = resident_mib();
  static char *kept[1000];
  for (int i = 0; i < 2000; i++) {
    pthread_create(&thread, &small, leave_blocks, kept);
    pthread_join(thread, NULL);
    for (int j = 0; j < 1000; j++)
      free(kept[j]);
  }
  printf("blocks of threads that ended, freed: under %ld MiB\n", round_up(resident_mib() - first, 16));
}
