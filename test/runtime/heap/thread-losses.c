/* Four threads write to one block all the time, each 1000000 times or as often as the argument says. Added atomically, no
 * access is lost; by default some are, and none are made up where the addition is one instruction.
 *
 * RUN: %clang -g -O2 -emit-llvm -c %s -o %t.bc
 * RUN: %native_opt -passes=hearth-instrument %t.bc -o %t.plain.bc
 * RUN: %native_opt -memprof-atomic -passes=hearth-instrument %t.bc -o %t.atomic.bc
 * RUN: %clang -O2 -Wl,--build-id %t.plain.bc %rt -lpthread -o %t.plain
 * RUN: %clang -O2 -Wl,--build-id %t.atomic.bc %rt -lpthread -o %t.atomic
 * RUN: rm -f %t.*.prof.*
 * RUN: HEARTH_OPTIONS=log_path=%t.plain.prof %t.plain
 * RUN: HEARTH_OPTIONS=log_path=%t.atomic.prof %t.atomic
 * RUN: python3 %S/../Inputs/raw_print.py %t.atomic.prof.* MaxSize TotalAccessCount | FileCheck %s
 * RUN: python3 %S/../Inputs/raw_print.py %t.plain.prof.* MaxSize TotalAccessCount | FileCheck %s --check-prefix=PLAIN
 *
 * CHECK: MaxSize=70 TotalAccessCount=4000000 |
 * PLAIN: MaxSize=70 TotalAccessCount={{[1-9][0-9]{0,5}|[1-3][0-9]{6}|4000000}} |
 */
#include <pthread.h>
#include <stdlib.h>

#define THREADS 4

static pthread_barrier_t start;
static long times = 1000000;

__attribute__((noinline)) static void touch(volatile int *number) {
  *number = 1;
  __asm__ volatile("" : : : "memory");
}

static void *run(void *block) {
  pthread_barrier_wait(&start);
  for (long i = 0; i < times; i++)
    touch(block);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc > 1)
    times = atol(argv[1]);
  pthread_t threads[THREADS];
  void *block = malloc(70);
  pthread_barrier_init(&start, NULL, THREADS);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, run, block);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  free(block);
  return 0;
}
