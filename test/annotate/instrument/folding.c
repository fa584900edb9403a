/* A linker that makes functions of equal code one (--icf) would give a stack's frame the other function's name, and the one
 * that has lost its name would get no hints: functions of the profiling build are all different.
 *
 * REQUIRES: lld
 * RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O2 -ffunction-sections -fuse-ld=lld -Wl,--icf=all %s -o plain && ./plain | FileCheck %s --check-prefix=PLAIN
 * PLAIN: folded
 * RUN: %clang -O2 -ffunction-sections -fuse-ld=lld -Wl,--icf=all $(%hearth flags instrument --clang=%clang) %s -o prog
 * RUN: env HEARTH_OPTIONS=log_path=raw ./prog | FileCheck %s
 * CHECK: apart, aligned
 * RUN: %hearth index -q raw.* --binary prog -o prog.prof && %hearth show prog.prof | FileCheck %s --check-prefix=SHOW
 * SHOW-DAG: {{^ +}}make_list
 * SHOW-DAG: {{^ +}}make_tree
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static char *volatile kept;

__attribute__((noinline)) static void make_list(void) { kept = malloc(1000); }
__attribute__((noinline)) static void make_tree(void) { kept = malloc(1000); }

int main(void) {
  make_list();
  make_tree();
  void (*volatile list)(void) = make_list, (*volatile tree)(void) = make_tree;
  printf("%s, %saligned\n", list == tree ? "folded" : "apart", (uintptr_t)tree % 16 ? "not " : "");
  return 0;
}
