/* Sizes beyond 32 bits.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MinSize MaxSize TotalSize MinAccessCount MaxAccessCount | FileCheck %s
 *
 * CHECK: AllocCount=2 MinSize=4294967296 MaxSize=4294967312 TotalSize=8589934608 MinAccessCount=0 MaxAccessCount=3
 */
#include <stdlib.h>

__attribute__((noinline)) static volatile char *make(size_t size) { return malloc(size); }

int main(void) {
  const size_t gib4 = (size_t)1 << 32;

  for (size_t extra = 0; extra <= 16; extra += 16) {
    volatile char *block = make(gib4 + extra);
    if (!block)
      return 1;
    if (extra > 0)
      block[0] = block[gib4] = block[gib4 + 15] = 1;
    free((void *)block);
  }
  return 0;
}
