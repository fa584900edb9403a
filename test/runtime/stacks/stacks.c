// A stack begins in the caller of the allocation function, inside the call; each path has a record of its own; the
// runtime's own functions are not in it.
//
// RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
// RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:recursion=full %t
// RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MaxSize > %t.txt
// RUN: grep MaxSize=11$ -v %t.txt | FileCheck %s
// RUN: sed -n 's/.*MaxSize=[12][12] | stacks.c.tmp+\(0x[0-9a-f]*\) stacks.c.tmp+\(0x[0-9a-f]*\) .*/\1 \2/p' %t.txt \
// RUN:   | tr ' ' '\n' | %symbolizer --obj=%t --no-inlines | FileCheck %s --check-prefix=NAMES
// RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:stack_depth=1 %t
// RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MaxSize | FileCheck %s --check-prefix=ONE
// RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:stack_depth=0 %t
// RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MaxSize | FileCheck %s --check-prefix=NONE
//
// CHECK: AllocCount=3 MaxSize=11 | stacks.c.tmp+[[LEAF:0x[0-9a-f]+]] stacks.c.tmp+
// CHECK: AllocCount=5 MaxSize=22 | stacks.c.tmp+[[LEAF]] stacks.c.tmp+
// With recursion=full, a recursive function is in the stack as often as it is active.
// CHECK: AllocCount=1 MaxSize=33 | stacks.c.tmp+{{0x[0-9a-f]+}} stacks.c.tmp+[[SELF:0x[0-9a-f]+]] stacks.c.tmp+[[SELF]] stacks.c.tmp+[[SELF]] stacks.c.tmp+
//
// NAMES: make
// NAMES-NEXT: stacks.c:[[#@LINE+15]]:
// NAMES: first
// NAMES-NEXT: stacks.c:[[#@LINE+14]]:
// NAMES: make
// NAMES: second
// NAMES-NEXT: stacks.c:[[#@LINE+12]]:
//
// ONE: AllocCount=8 MaxSize=22 | stacks.c.tmp+{{0x[0-9a-f]+$}}
//
// NONE: contexts=1 dropped_blocks=0 dropped_stacks=0
// NONE: MaxSize=33 | none
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

NOINLINE static void make(size_t size) { free(malloc(size)); }
NOINLINE static void first(void) { make(11); }
NOINLINE static void second(void) { make(22); }
NOINLINE static int recursive(int depth) {
  void *block = depth ? NULL : malloc(33);
  int result = depth ? recursive(depth - 1) + 1 : 0;

  free(block);
  return result;
}

int main(void) {
  for (int i = 0; i < 3; ++i)
    first();
  for (int i = 0; i < 5; ++i)
    second();
  return recursive(3) - 3;
}
