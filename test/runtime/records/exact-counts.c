/* Sizes, accesses and utilisation of blocks are exact: no block sees its neighbour's accesses or those of a block that had
 * its memory before.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MinSize MaxSize TotalSize MinAccessCount MaxAccessCount \
 * RUN:   TotalAccessCount MinPercentUtilized MaxPercentUtilized MinAccessDensity LiveAtExit | FileCheck %s
 *
 * CHECK: profile: accesses=1 contexts={{[0-9]+}} dropped_blocks=0 dropped_stacks=0
 * Empty block: nothing accessed.
 * CHECK: AllocCount=1 MinSize=0 MaxSize=0 TotalSize=0 MinAccessCount=0 {{.*}} MinAccessDensity=0
 * 1,000 short-lived blocks of 7 bytes reuse one chunk; each has its two accesses.
 * CHECK: AllocCount=1000 MinSize=7 MaxSize=7 TotalSize=7000 MinAccessCount=2 MaxAccessCount=2 TotalAccessCount=2000 MinPercentUtilized=100 MaxPercentUtilized=100 MinAccessDensity=28
 * Neighbours of 32 bytes, live at the same time: only every other one is touched.
 * CHECK: AllocCount=100 MinSize=32 MaxSize=32 TotalSize=3200 MinAccessCount=0 MaxAccessCount=0
 * CHECK: AllocCount=100 MinSize=32 MaxSize=32 TotalSize=3200 MinAccessCount=10 MaxAccessCount=10 TotalAccessCount=1000 MinPercentUtilized=100
 * 1,000 bytes are 16 lines, the last of them of 40 bytes; 4 of them are touched.
 * CHECK: AllocCount=1 MinSize=1000 {{.*}} MinAccessCount=4 MaxAccessCount=4 TotalAccessCount=4 MinPercentUtilized=25 MaxPercentUtilized=25 MinAccessDensity=0
 * memset of 2,000 bytes: one count for each 8.
 * CHECK: AllocCount=1 MinSize=2000 {{.*}} TotalAccessCount=250 MinPercentUtilized=100
 */
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

/* One context each. */
NOINLINE static volatile char *empty(void) { return malloc(0); }
NOINLINE static volatile char *tiny(void) { return malloc(7); }
NOINLINE static volatile char *touched(void) { return malloc(32); }
NOINLINE static volatile char *untouched(void) { return malloc(32); }
NOINLINE static volatile char *sparse(void) { return malloc(1000); }
NOINLINE static char *filled(void) { return malloc(2000); }

NOINLINE static char *use(char *block) {
  __asm__ volatile("" : : "r"(block) : "memory");
  return block;
}

int main(void) {
  volatile char *blocks[200];

  free((void *)empty());
  for (int i = 0; i < 1000; ++i) {
    volatile char *block = tiny();
    block[0] = 1;
    block[6] = 2;
    free((void *)block);
  }
  for (int i = 0; i < 200; ++i)
    blocks[i] = i % 2 ? touched() : untouched();
  for (int round = 0; round < 10; ++round)
    for (int i = 1; i < 200; i += 2)
      blocks[i][round] = 1;
  for (int i = 0; i < 200; ++i)
    free((void *)blocks[i]);
  volatile char *block = sparse();
  block[0] = block[200] = block[500] = block[999] = 1;
  free((void *)block);
  char *memory = filled();
  __builtin_memset(memory, 1, 2000);
  free(use(memory));
  return 0;
}
