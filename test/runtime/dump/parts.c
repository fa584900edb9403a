/* With the option parts, each profile on request has the records since the one before, and is a raw profile: no block is lost,
 * and together they are one run. A reset removes them. Where one cannot be written, its records go into the next one.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t && rm -f %t.prof*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof:parts=1:recursion=full %t > %t.out 2>&1 && count 0 < %t.out
 * RUN: ls %t.prof.*.part* | count 4
 * RUN: cat %t.prof.* > %t.all && %hearth index %t.all -o %t.hearth 2>&1 | FileCheck %s --check-prefix=INDEX --implicit-check-not=warning
 * RUN: for file in %t.prof.*; do python3 %S/../Inputs/raw_print.py $file AllocCount; done > %t.txt
 * RUN: grep -c 'AllocCount=1 ' %t.txt | FileCheck %s --check-prefix=ONCE
 * RUN: awk '/^record:/ { sub(/.*AllocCount=/, ""); total += $1 } END { print total, "blocks" }' %t.txt | FileCheck %s
 * RUN: rm %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:parts=1:recursion=full %t reset
 * RUN: ls %t.prof.* | count 1
 * RUN: rm -rf %t.prof.* %t.none && HEARTH_OPTIONS=log_path=%t.none/x:parts=1:recursion=full %t lost > %t.out 2>&1
 * RUN: FileCheck %s --check-prefix=LOST < %t.out && ls %t.none | count 1 && python3 %S/../Inputs/raw_print.py %t.none/x.* AllocCount > %t.txt
 * RUN: awk '/^record:/ { sub(/.*AllocCount=/, ""); total += $1 } END { print total, "blocks" }' %t.txt | FileCheck %s
 *
 * Histograms are written with their records.
 * RUN: %clang -O1 $(%hearth flags instrument --clang=%clang) -fno-builtin -fno-optimize-sibling-calls -I%S/../../../runtime/include \
 * RUN:   -mllvm -memprof-histogram %s -o %t && rm -f %t.prof*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof:parts=1:recursion=full:stack_depth=16 %t
 * RUN: ls %t.prof.*.part* | count 4
 * RUN: %hearth index %t.prof.* --binary %t -o %t.hearth | FileCheck %s --check-prefix=INDEX
 * RUN: %hearth show --text %t.hearth > %t.txt
 * RUN: awk '$1 == "histogram" { for (i = 2; i <= NF; ++i) total += $i } END { print total, "blocks" }' %t.txt | FileCheck %s
 *
 * INDEX: 1 run,
 * INDEX-SAME: 0 blocks dropped
 * ONCE: {{^}}16384{{$}}
 * CHECK: {{^}}16384 blocks
 * LOST-COUNT-4: hearth: cannot write {{.*}}/x.{{[0-9]+[.][0-9]+}}.part1: File too large
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
    if (i % 4096 == 4095)
      __memprof_profile_dump();
  }
  setrlimit(RLIMIT_FSIZE, &limit);
  if (strcmp(way, "reset") == 0)
    __memprof_profile_reset();
  return 0;
}
