/* A thread allocates, another one frees: memory is found again, also what threads that ended left.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t -pthread
 * RUN: env LD_PRELOAD=%malloc %t | FileCheck %s
 * RUN: env LD_PRELOAD=%malloc_checked %t | FileCheck %s
 *
 * CHECK: 1 GB passes through 8 MB: under 48 MiB
 * CHECK: 200 MB of a thread that ended, freed by others: under 32 MiB
 */
#include "Inputs/rollup.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long resident_mib(void) { return rollup_kib("Rss:") >> 10; }
static long round_up(long mib, long to) { return (mib / to + 1) * to; }

enum { BATCH = 10000, BATCHES = 250 };
static char *batch[2][BATCH];
static sem_t filled, empty;

static void *consume(void *unused) {
  for (int i = 0; i < BATCHES; i++) {
    sem_wait(&filled);
    for (int j = 0; j < BATCH; j++)
      free(batch[i % 2][j]);
    sem_post(&empty);
  }
  return unused;
}

static char *kept[1000000];
static void *leave(void *unused) {
  for (int i = 0; i < 1000000; i++)
    memset((kept[i] = malloc(200)), 1, 200);
  return unused;
}

int main(void) {
  pthread_t thread;
  sem_init(&filled, 0, 0);
  sem_init(&empty, 0, 2);
  long start = resident_mib();
  pthread_create(&thread, NULL, consume, NULL);
  for (int i = 0; i < BATCHES; i++) {
    sem_wait(&empty);
    for (int j = 0; j < BATCH; j++)
      memset((batch[i % 2][j] = malloc((size_t)(i * 7 + j) % 800)), 1, 1);
    sem_post(&filled);
  }
  pthread_join(thread, NULL);
  printf("1 GB passes through 8 MB: under %ld MiB\n", round_up(resident_mib() - start, 48));
  start = resident_mib();
  pthread_create(&thread, NULL, leave, NULL);
  pthread_join(thread, NULL);
  for (int i = 0; i < 1000000; i++)
    free(kept[i]);
  printf("200 MB of a thread that ended, freed by others: under %ld MiB\n", round_up(resident_mib() - start - 8, 32));
}
