/* Call stacks beyond the limit are counted, and their blocks are under the empty stack: no block is lost.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:max_contexts=2 %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MaxSize | FileCheck %s
 *
 * CHECK: contexts=3 dropped_blocks=0 dropped_stacks=7
 * CHECK: AllocCount=1 MaxSize=11 | contexts-full.c.tmp+
 * CHECK: AllocCount=1 MaxSize=22 | contexts-full.c.tmp+
 * CHECK: AllocCount=7 MaxSize=44 | none
 */
#include <stdlib.h>

int main(void) {
  free(malloc(11));
  free(malloc(22));
  for (int i = 0; i < 3; ++i)
    free(malloc(33));
  for (int i = 0; i < 4; ++i)
    free(malloc(44));
  return 0;
}
