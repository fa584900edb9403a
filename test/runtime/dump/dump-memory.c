/* Writing the profile of very many contexts takes hardly any memory: it goes out as a stream, histograms included. If all of them
 * had blocks when most bytes were live, it takes no more than the table of what was live when.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:dump_at_exit=0:recursion=full %t 2>&1 | FileCheck %s
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* | FileCheck %s --check-prefix=PROFILE
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:dump_at_exit=0:recursion=full:format=llvm %t 2>&1 | FileCheck %s
 *
 * RUN: %clang -O1 $(%hearth flags instrument --clang=%clang) -fno-builtin -fno-optimize-sibling-calls -I%S/../../../runtime/include \
 * RUN:   -mllvm -memprof-histogram %s -o %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:dump_at_exit=0:recursion=full %t 2>&1 | FileCheck %s
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* | FileCheck %s --check-prefix=PROFILE
 *
 * CHECK: the dump took less than 1 MiB
 * CHECK-NEXT: the dump took less than 3 MiB
 * PROFILE: contexts=16384 dropped_blocks=0 dropped_stacks=0
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hearth/rt.h"

#define DEPTH      14                                /* two ways at each */
#define KEEP_FRAME __asm__ volatile("" ::: "memory") /* the call before is no jump: each frame is in the stack */

static void *kept[1 << DEPTH];
static int keeps;

__attribute__((noinline)) static int build(int depth) {
  if (depth == 0) {
    volatile char *block = malloc(16);
    *block = 1;
    if (keeps)
      kept[keeps++ - 1] = (void *)block;
    else
      free((void *)block);
    return 1;
  }
  int left = build(depth - 1);
  int right = build(depth - 1);
  KEEP_FRAME;
  return left + right;
}

/* KiB that were resident at most since the last call; no allocation. */
static long peak(void) {
  char text[4096];
  int status = open("/proc/self/status", O_RDONLY), refs = open("/proc/self/clear_refs", O_WRONLY);
  ssize_t size = read(status, text, sizeof text - 1);

  if (size <= 0 || write(refs, "5", 1) != 1)
    exit(1);
  text[size] = '\0';
  close(status);
  close(refs);
  return atol(strstr(text, "VmHWM:") + 6);
}

static int dump(long most_mib) {
  peak();
  long before = peak();
  if (__memprof_profile_dump() != 0)
    return 1;
  long grown = peak() - before;
  if (grown < most_mib * 1024)
    fprintf(stderr, "the dump took less than %ld MiB\n", most_mib);
  else
    fprintf(stderr, "the dump took %ld KiB\n", grown);
  return 0;
}

int main(void) {
  for (int round = 0; round < 2; ++round) {
    keeps = round;
    if (build(DEPTH) != 1 << DEPTH)
      return 1;
    for (int i = 0; i < 1 << DEPTH; i++)
      free(kept[i]);
    if (dump(round == 0 ? 1 : 3) != 0)
      return 1;
  }
  return 0;
}
