// Call stacks that found no room, in the parts of a run: one warning for the run says how many allocations that cost, which are
// the blocks that are dropped.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -fno-optimize-sibling-calls -I%S/../../../runtime/include -Wl,--build-id %s %rt -lpthread -o program
// RUN: env HEARTH_OPTIONS=log_path=%t/raw:max_contexts=3000:parts=1:recursion=full ./program && ls raw.*.part2
// RUN: %hearth index raw.* --binary program --recursion=full -o out 2>&1 | FileCheck %s --implicit-check-not=warning --implicit-check-not='known file'
// CHECK: hearth: warning: raw.{{[^ ]+}} (and {{[0-9]+}} more): [[#LOST:]] allocations
// CHECK-SAME: ([[#mul(LOST,100)]] bytes) found no room for the call stack and are left out: run the program with a greater max_contexts in HEARTH_OPTIONS
// CHECK: out: {{.*}} 1 run, {{.*}} [[#LOST]] blocks dropped
#include "hearth/rt.h"
#include <stdlib.h>

static void *make(unsigned path, int bits);

__attribute__((noinline)) static void *left(unsigned path, int bits) { return make(path / 2, bits - 1); }
__attribute__((noinline)) static void *right(unsigned path, int bits) { return make(path / 2, bits - 1); }

static void *make(unsigned path, int bits) {
  return bits == 0 ? malloc(100) : path % 2 ? right(path, bits) : left(path, bits);
}

int main(void) {
  for (unsigned i = 0; i < 32768; ++i) {
    volatile char *block = make(i % 8192, 13);
    block[99] = 1;
    free((void *)block);
    if (i % 16384 == 16383)
      __memprof_profile_dump();
  }
  return 0;
}
