/* The bytes that are live at exit are exact, by context: threads make blocks of several sizes in one context, other threads free
 * some of them, and what is left is neither the average nor of one thread. So it is in a dump in the middle of the run.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O1 -fno-builtin $(%hearth flags instrument --clang=%clang) -g -I%include %s -o app -lpthread
 * RUN: HEARTH_OPTIONS=log_path=raw ./app
 * RUN: %hearth index -q raw.* --binary app -o end && %hearth index -q middle --binary app -o middle.prof
 * RUN: %hearth show --full end | FileCheck %s
 * RUN: %hearth show --full middle.prof | FileCheck %s --check-prefix=MIDDLE
 *
 * CHECK: at exit 4.8 MiB live
 * A block of its own mapping; one that grew in steps of 10 bytes, and has its last size.
 * CHECK: 1 allocation, 4.8 MiB (5000001 bytes)
 * CHECK-NEXT: 1 live at exit with 4.8 MiB (5000001 bytes),
 * CHECK: make_large
 * CHECK: 300 allocations, 440.9 KiB (451500 bytes)
 * CHECK-NEXT: 1 live at exit with 2.9 KiB (3000 bytes),
 * CHECK: grow
 * Each of 4 threads makes 100 blocks of 1 to 100 bytes; the next thread frees those of an even size: 4 * (1 + 3 + ... + 99).
 * CHECK: 400 allocations, 19.7 KiB (20200 bytes), 50.5 bytes on average
 * CHECK-NEXT: 200 live at exit with 9.8 KiB (10000 bytes),
 * CHECK: make
 * CHECK-NEXT: work
 * CHECK: 2 allocations, 1.4 KiB (1400 bytes)
 * CHECK-NEXT: 2 live at exit with 1.4 KiB (1400 bytes),
 * CHECK: make_aligned
 * CHECK: 2 allocations, 0 B (0 bytes)
 * CHECK-NEXT: 2 live at exit, 0.0 accesses
 * CHECK: make_empty
 *
 * MIDDLE: 400 allocations, 19.7 KiB (20200 bytes), 50.5 bytes on average
 * MIDDLE-NEXT: 400 live at exit with 19.7 KiB (20200 bytes),
 */
#include "hearth/rt.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, BLOCKS = 100 };

static char *volatile blocks[THREADS][BLOCKS + 1];
static pthread_barrier_t made, dumped;
static void *volatile kept[8];

__attribute__((noinline)) static char *make(size_t size) {
  char *block = malloc(size);
  *(volatile char *)block = 1;
  return block;
}

static void *work(void *closure) {
  intptr_t own = (intptr_t)closure, next = (own + 1) % THREADS;
  for (int size = 1; size <= BLOCKS; size++)
    blocks[own][size] = make((size_t)size);
  pthread_barrier_wait(&made);
  pthread_barrier_wait(&dumped);
  for (int size = 2; size <= BLOCKS; size += 2)
    free(blocks[next][size]);
  return NULL;
}

static int dump(void) {
  char name[64];
  snprintf(name, sizeof name, "raw.%d", (int)getpid());
  return __memprof_profile_dump() != 0 || rename(name, "middle") != 0;
}

static void grow(void) {
  char *block = NULL;
  for (size_t size = 10; size <= 3000; size += 10)
    block = realloc(block, size);
  kept[0] = block;
}

static void make_empty(void) {
  for (int i = 1; i < 3; i++)
    kept[i] = malloc(0);
}

static void make_large(void) { kept[3] = malloc(5000001); }

static void make_aligned(void) {
  for (int i = 4; i < 6; i++)
    kept[i] = aligned_alloc(256, i == 4 ? 1300 : 100);
}

int main(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&made, NULL, THREADS + 1);
  pthread_barrier_init(&dumped, NULL, THREADS + 1);
  for (intptr_t i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, work, (void *)i);
  pthread_barrier_wait(&made);
  int failed = dump();
  pthread_barrier_wait(&dumped);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  grow();
  make_empty();
  make_large();
  make_aligned();
  return failed;
}
