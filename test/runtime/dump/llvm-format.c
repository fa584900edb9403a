/* The profile in LLVM's layout is accepted by llvm-profdata, for position-independent and fixed programs.
 *
 * REQUIRES: llvm22
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:format=llvm %t
 * RUN: %profdata show --memory --profiled-binary %t %t.prof.* | FileCheck %s
 * RUN: %profdata merge --profiled-binary %t %t.prof.* --memprof-version=4 --memprof-full-schema -o %t.memprofdata
 * RUN: %profdata show --memory %t.memprofdata | FileCheck %s --check-prefix=INDEXED
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t.fixed -no-pie -fuse-ld=lld
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:format=llvm %t.fixed
 * RUN: %profdata show --memory --profiled-binary %t.fixed %t.prof.* | FileCheck %s
 *
 * CHECK: Version: 5
 * CHECK: SymbolName: make
 * CHECK-NEXT: LineOffset: 0
 * CHECK: SymbolName: main
 * CHECK-NEXT: LineOffset: 5
 * CHECK: AllocCount: 3
 * CHECK: TotalAccessCount: 33
 * CHECK: MinAccessCount: 11
 * CHECK: MaxAccessCount: 11
 * CHECK: TotalSize: 300
 * CHECK: MinSize: 100
 * CHECK: TotalLifetime: {{[6-9][0-9]|[1-9][0-9][0-9]+$}}
 * CHECK: MinLifetime: {{[2-9][0-9]|[1-9][0-9][0-9]+$}}
 * CHECK: NumLifetimeOverlaps: 0
 * CHECK: TotalAccessDensity: 33
 * CHECK: AccessHistogramSize: 0
 *
 * INDEXED: Total contexts: 1
 * INDEXED: AllocCount: 3
 * INDEXED: TotalSize: 300
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static volatile char *make(size_t size) { return malloc(size); }

int main(void) {
  for (int i = 0; i < 3; ++i) {
    volatile char *block;
    int k;

    block = make(100);
    for (k = 0; k < 11; ++k)
      block[k] = 1;
    usleep(20000);
    free((void *)block);
  }
  return 0;
}
