/* Blocks whose stacks differ in the depth of a recursion alone are one entry of a heap dump. */
/* REQUIRES: traces
 * RUN: %clang -O1 -g -fno-builtin %s -o %t && rm -rf %t.d && mkdir %t.d && cd %t.d
 * RUN: HEARTH_OPTIONS=recursion=full %hearth record -q --mode=live -o dump -- %t
 * RUN: %hearth heap -q --dump=1 --limit=0 dump.1 | FileCheck %s
 * CHECK: 240 B (240 bytes) in 2 blocks
 * CHECK-NEXT: descend live-recursion.c:17
 * CHECK-NEXT: descend live-recursion.c:19
 * CHECK-NEXT: main live-recursion.c:
 */
#include <stdlib.h>

void *volatile kept[8];

__attribute__((noinline)) static void descend(int depth) {
  if (depth == 0)
    kept[0] = kept[1], kept[1] = malloc(120);
  else
    descend(depth - 1);
  __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv) {
  (void)argv;
  for (int depth = argc; depth <= 3 * argc; depth += 2)
    descend(depth);
  return 0;
}
