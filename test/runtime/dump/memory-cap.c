/* Under a memory cap, records are spilled to files of their own, which are raw profiles, and merged by indexing: no block
 * is lost, and it is one run. A reset removes them. Where they cannot be written, blocks are dropped and counted.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t && rm -f %t.prof*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof:memory_cap=1:recursion=full:stack_depth=16 %t > %t.out 2>&1 && count 0 < %t.out
 * RUN: ls %t.prof.*.part1 %t.prof.*.part2
 * RUN: cat %t.prof.* > %t.all && %hearth index %t.all -o %t.hearth | FileCheck %s --check-prefix=INDEX
 * RUN: for file in %t.prof.*; do python3 %S/../Inputs/raw_print.py $file AllocCount; done > %t.txt
 * RUN: awk '/^record:/ { sub(/.*AllocCount=/, ""); total += $1 } END { print total, "blocks" }' %t.txt | FileCheck %s
 * Stacks take the room that they need, whatever their depth could be.
 * RUN: rm %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:memory_cap=2:recursion=full %t
 * RUN: cat %t.prof.* > %t.all && %hearth index %t.all -o %t.hearth 2>&1 | FileCheck %s --check-prefix=INDEX --implicit-check-not=warning
 * RUN: for file in %t.prof.*; do python3 %S/../Inputs/raw_print.py $file AllocCount; done > %t.txt && not grep 'dropped_stacks=[1-9]' %t.txt
 * RUN: awk '/^record:/ { sub(/.*AllocCount=/, ""); total += $1 } END { print total, "blocks" }' %t.txt | FileCheck %s
 * RUN: rm %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:memory_cap=1:recursion=full:stack_depth=16 %t reset
 * RUN: ls %t.prof.* | count 1
 * RUN: rm -rf %t.prof.* %t.none && HEARTH_OPTIONS=log_path=%t.none/x:memory_cap=1:recursion=full:stack_depth=16 %t lost > %t.out 2>&1
 * RUN: FileCheck %s --check-prefix=LOST < %t.out && python3 %S/../Inputs/raw_print.py %t.none/x.* AllocCount > %t.txt
 * RUN: awk '/^profile:/ { sub(/.*dropped_blocks=/, ""); total += $1 } /^record:/ { sub(/.*AllocCount=/, ""); total += $1 } \
 * RUN:   END { print total, "blocks" }' %t.txt | FileCheck %s
 *
 * Histograms are spilled with their records.
 * RUN: %clang -O1 $(%hearth flags instrument --clang=%clang) -fno-builtin -fno-optimize-sibling-calls -I%S/../../../runtime/include \
 * RUN:   -mllvm -memprof-histogram %s -o %t && rm -f %t.prof*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof:memory_cap=2:recursion=full:stack_depth=16 %t
 * RUN: ls %t.prof.*.part1 %t.prof.*.part2
 * RUN: %hearth index %t.prof.* --binary %t -o %t.hearth | FileCheck %s --check-prefix=INDEX
 * RUN: %hearth show --text %t.hearth > %t.txt
 * RUN: awk '$1 == "histogram" { for (i = 2; i <= NF; ++i) total += $i } END { print total, "blocks" }' %t.txt | FileCheck %s
 *
 * INDEX: 1 run,
 * INDEX-SAME: 0 blocks dropped
 * CHECK: {{^}}16384 blocks
 * LOST: hearth: cannot spill records to {{.*}}/x.{{[0-9]+[.][0-9]+}}.part1: {{.*}}; blocks of contexts that find no room below the memory cap are dropped
 * LOST-NOT: {{.}}
 */
#include "hearth/rt.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* A call stack for each number: its bits are calls of two functions. */
static void *make(unsigned path, int bits);

#define KEEP_FRAME __asm__ volatile("" ::: "memory") /* the call before is no jump: each frame is in the stack */

__attribute__((noinline)) static void *left(unsigned path, int bits) {
  void *block = make(path / 2, bits - 1);
  KEEP_FRAME;
  return block;
}
__attribute__((noinline)) static void *right(unsigned path, int bits) {
  void *block = make(path / 2, bits - 1);
  KEEP_FRAME;
  return block;
}

static void *make(unsigned path, int bits) {
  void *block = bits == 0 ? malloc(100) : path % 2 ? right(path, bits) : left(path, bits);
  KEEP_FRAME;
  return block;
}

int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "";
  struct rlimit limit;

  getrlimit(RLIMIT_FSIZE, &limit);
  if (strcmp(way, "lost") == 0) {
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, limit.rlim_max});
  }
  for (unsigned i = 0; i < 16384; ++i) {
    volatile char *block = make(i % 4096, 12);
    block[99] = 1;
    free((void *)block);
  }
  setrlimit(RLIMIT_FSIZE, &limit);
  if (strcmp(way, "reset") == 0)
    __memprof_profile_reset();
  return 0;
}
