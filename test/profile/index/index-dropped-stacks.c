// Allocations that found no room for their call stack: the user is told so, and what helps.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -Wl,--build-id %s %rt -lpthread -o program
// RUN: env HEARTH_OPTIONS=log_path=%t/few.raw:max_contexts=1 ./program
// RUN: %hearth index few.raw.* --binary program -o out 2>&1 | FileCheck %s
// CHECK-NOT: no known file
// CHECK: hearth: warning: few.raw.{{.*}}: 4 allocations (132 bytes) found no room for the call stack and are left out: run the program with a greater max_contexts in HEARTH_OPTIONS
// CHECK-NOT: no known file
// CHECK: out: 1 context, {{.*}} 4 blocks dropped
//
// RUN: env HEARTH_OPTIONS=log_path=%t/enough.raw ./program
// RUN: %hearth index enough.raw.* --binary program -o out 2>&1 | FileCheck %s --check-prefix=ENOUGH
// ENOUGH-NOT: warning
// ENOUGH: out: 3 contexts,
#include <stdlib.h>

static char *volatile kept;

int main(void) {
  kept = malloc(11);
  for (int i = 0; i < 3; ++i)
    kept = malloc(22);
  kept = malloc(66);
  return 0;
}
