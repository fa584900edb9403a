/* Threads allocate, free each other's blocks, and dump meanwhile; nothing is lost.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MaxSize LiveAtExit | FileCheck %s
 *
 * CHECK: dropped_blocks=0 dropped_stacks=0
 * CHECK: AllocCount=80000 MaxSize=777 LiveAtExit=8 | threads.c.tmp{{.*}} threads.c.tmp
 */
#include "hearth/rt.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS 8
#define BLOCKS 10000

static void *slots[THREADS];

__attribute__((noinline)) static void *make(void) {
  char *block = malloc(777);

  block[0] = 1;
  return block;
}

static void *work(void *closure) {
  (void)closure;
  for (int i = 0; i < BLOCKS; ++i) {
    free(__atomic_exchange_n(&slots[i % THREADS], make(), __ATOMIC_ACQ_REL));
    if (i == BLOCKS / 2 && __memprof_profile_dump() != 0)
      abort();
  }
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];

  for (int i = 0; i < THREADS; ++i)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  return 0;
}
