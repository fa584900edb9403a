/* A counter has 32 bits, and the sum is right all the same: the runtime's own thread sees it often enough while the program runs, in a
 * forked child, too, and where there are no picks (parts).
 *
 * RUN: %clang %clang_plugin -mllvm -memprof-instrument -O2 -fno-vectorize -fno-slp-vectorize -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer %s \
 * RUN:   -Wl,--build-id %rt -lpthread %given_time -o %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:parts=1 timeout 600 %t
 * RUN: for file in %t.prof.*; do python3 %S/../Inputs/raw_print.py $file AllocCount MinSize TotalAccessCount; done | FileCheck %s
 *
 * CHECK-DAG: MinSize=16 TotalAccessCount=4480000000
 * CHECK-DAG: MinSize=32 TotalAccessCount=4480000000
 */
#include "given_time.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

NOINLINE static void *one(size_t size) { return malloc(size); }

/* The address is a new one in each round, as far as a compiler knows: 16 counts are added each time. */
NOINLINE static void hammer(const char *block) {
  for (long i = 0; i < 35000000; i++) {
    int sum = 0;
    __asm__ volatile("" : "+r"(block));
    for (int k = 0; k < 16; k++)
      sum += block[k];
    __asm__ volatile("" : : "r"(sum));
  }
}

/* The thread looks every 0.25 s: before half of a counter is counted. */
static void hammer_and_rest(const char *block) {
  for (int i = 0; i < 8; i++) {
    hammer(block);
    pass(300 * MS);
  }
}

int main(void) {
  hammer_and_rest(one(16));
  if (fork() == 0) {
    hammer_and_rest(one(32));
    return 0;
  }
  wait(NULL);
  return 0;
}
