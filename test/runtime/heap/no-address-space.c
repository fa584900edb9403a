/* Without room for the counters, instrumented programs stop with the reason; others run, without access counts.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
 * RUN: %clang -O1 -c %s -o %t.plain.o && %clang %t.plain.o %rt -lpthread -o %t.plain
 * RUN: rm -f %t.prof.*
 * RUN: env HEARTH_OPTIONS=log_path=%t.prof sh -c 'ulimit -v 200000000; %t; echo result $?' 2>&1 | FileCheck %s
 * RUN: env HEARTH_OPTIONS=log_path=%t.prof sh -c 'ulimit -v 200000000; %t.plain; echo result $?' 2>&1 \
 * RUN:   | FileCheck %s --check-prefix=PLAIN
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MaxSize MaxAccessCount | FileCheck %s --check-prefix=PROFILE
 * RUN: sh -c 'ulimit -v 2000000; %t.plain; echo result $?' 2>&1 | FileCheck %s --check-prefix=NOHEAP
 *
 * CHECK: hearth: cannot reserve five eighths of the address space for access counters (see ulimit -v
 * CHECK-NEXT: hearth: instrumented code cannot run without its access counters
 * CHECK-NEXT: result 1
 *
 * PLAIN: hearth: cannot reserve five eighths
 * PLAIN-NEXT: result 0
 * PROFILE: profile: accesses=0
 * PROFILE: AllocCount=1 MaxSize=123 MaxAccessCount=0
 *
 * NOHEAP: hearth: cannot reserve address space for the heap (see ulimit -v)
 * NOHEAP-NEXT: result 1
 */
#include <stdlib.h>

void *volatile keep;

int main(void) {
  keep = malloc(123);
  *(char *)keep = 1;
  free(keep);
  return 0;
}
