// Two runs are summed, context by context, in whatever order and grouping they are merged.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
// RUN:   -fno-optimize-sibling-calls -Wl,--build-id %s %rt -lpthread -o program
// RUN: env HEARTH_OPTIONS=log_path=%t/a.raw ./program 3
// RUN: env HEARTH_OPTIONS=log_path=%t/b.raw ./program 5
// RUN: %hearth index a.raw.* b.raw.* --binary program -o ab.prof | FileCheck %s
// RUN: %hearth show --text ab.prof | FileCheck %s --check-prefix=SUM
//
// RUN: %hearth index b.raw.* a.raw.* --binary program -o ba.prof
// RUN: cmp ab.prof ba.prof
// RUN: %hearth index a.raw.* --binary program -o a.prof
// RUN: test -z "$(%hearth index b.raw.* --binary program -q -o b.prof)"
// RUN: %hearth index b.prof a.prof -o merged.prof
// RUN: cmp ab.prof merged.prof
// RUN: %hearth show --text b.prof > b.txt
// RUN: %hearth index b.txt a.prof -o mixed.prof
// RUN: cmp ab.prof mixed.prof
// RUN: cat a.raw.* b.raw.* > both.raw
// RUN: %hearth index both.raw --binary program -o both.prof
// RUN: cmp ab.prof both.prof
//
// CHECK: ab.prof: 2 contexts, 1 function, 2 runs, 816 B allocated, 0 blocks dropped
// SUM: run {{.*}}runs=2
// SUM: AllocCount 8
// SUM: TotalSize 800
// SUM: AllocCount 2
// SUM: TotalSize 16
#include <stdlib.h>

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; i < n; ++i) {
    char *volatile block = malloc(100);
    free(block);
  }
  char *volatile last = malloc(8);
  return last == NULL;
}
