/* Scopes reach a preloaded runtime from a program that was linked with none, position-independent or not, and by every
 * linker; without it, or when no category is on, nothing happens.
 *
 * DEFINE: %{as} =
 * DEFINE: %{build} = %clang -O1 -gmlt -fdebug-info-for-profiling -fno-builtin -I%include %{as} %s -o %t
 * DEFINE: %{run} = rm -f %t.raw* && %{build} && %t && %hearth record -o %t.raw -- %t && \
 * DEFINE:   %hearth index -q %t.raw -o %t.prof && %hearth show %t.prof > %t.txt && FileCheck %s < %t.txt
 *
 * RUN: %{run}
 * REDEFINE: %{as} = -fno-pie -no-pie
 * RUN: %{run}
 * REDEFINE: %{as} = -fno-pie -no-pie -fuse-ld=lld
 * RUN: %{run}
 * REQUIRES: lld
 *
 * CHECK: make ({{.*}}scopes.c): 300 B in 2 contexts, 2 allocations
 * CHECK: make {{ *}}scopes.c:
 * CHECK-NEXT: main {{ *}}scopes.c:
 * CHECK-NEXT: setup {{ *}}(scope){{$}}
 * CHECK: make {{ *}}scopes.c:
 * CHECK-NEXT: main {{ *}}scopes.c:
 * CHECK-NOT: {{[(]scope[)]}}
 */
#include "hearth/context.h"

#include <stdlib.h>

static __attribute__((noinline)) void make(size_t size) { free(malloc(size)); }

int main(void) {
  make(100);
  HEARTH_SCOPE("test", "setup");
  make(200);
  return 0;
}
