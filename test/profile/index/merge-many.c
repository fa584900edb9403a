// Many inputs: debug information is read once, and warnings are few.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -fno-optimize-sibling-calls -Wl,--build-id \
// RUN:   %s %rt -lpthread -o program
// RUN: for i in $(seq 300); do env HEARTH_OPTIONS=log_path=%t/raw ./program $i || exit 1; done
// RUN: ls raw.* > list
// RUN: %hearth merge -f list -o alone.prof | FileCheck %s
// CHECK: alone.prof: 3 contexts, 4 functions, 300 runs
//
// The list comes from standard input.
// RUN: %hearth merge -f - -v -o listed.prof < list 2>&1 | grep -c 'using .*/program' | FileCheck %s --check-prefix=ONCE
// RUN: cmp alone.prof listed.prof
// ONCE: 1
//
// Of the warnings eight are printed.
// RUN: %hearth merge -f list -o alone.prof 2>&1 | FileCheck %s --check-prefix=FEW --allow-empty
// FEW-NOT: warning
// RUN: for i in $(seq 20); do env HEARTH_OPTIONS=sample=1:log_path=%t/sampled ./program $i || exit 1; done
// RUN: %hearth merge -o some.prof sampled.* 2> warnings && grep -c 'sums are estimates' warnings | FileCheck %s --check-prefix=EIGHT
// RUN: FileCheck %s --check-prefix=MORE < warnings
// RUN: %hearth merge -v -o some.prof sampled.* 2>&1 | grep -c 'sums are estimates' | FileCheck %s --check-prefix=ALL
// EIGHT: 8
// MORE: hearth: warning: 12 more (-v prints all)
// ALL: 20
#include <stdlib.h>

__attribute__((noinline)) static void one(size_t n) {
  char *volatile block = malloc(n);
  free(block);
}
__attribute__((noinline)) static void two(size_t n) { one(n); }
__attribute__((noinline)) static void three(size_t n) { one(2 * n); }

int main(int argc, char **argv) {
  size_t n = argc > 1 ? (size_t)atoi(argv[1]) : 0;
  one(n);
  if (n % 2)
    two(n);
  if (n % 3 == 0)
    three(n);
  return 0;
}
