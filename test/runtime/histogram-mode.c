/* Programs compiled in histogram mode run, and are told what is missing.
 *
 * REQUIRES: llvm22 || llvm19
 * RUN: %clang -O1 -fmemory-profile -mllvm -memprof-histogram -c %s -o %t.o && %clang %t.o %rt -lpthread -o %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t 2>&1 | FileCheck %s
 * RUN: python3 %S/Inputs/raw_print.py %t.prof.* AllocCount MaxSize MaxAccessCount | FileCheck %s --check-prefix=PROFILE
 * RUN: %clang -O1 -fmemory-profile -mllvm -memprof-histogram -mllvm -memprof-use-callbacks -c %s -o %t.o
 * RUN: %clang %t.o %rt -lpthread -o %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t 2>&1 | FileCheck %s
 *
 * CHECK: hearth: the program was compiled in histogram mode, which this runtime does not support; the profile will have no access counts
 * CHECK-NOT: {{.}}
 * PROFILE: profile: accesses=0
 * PROFILE: AllocCount=1 MaxSize=123 MaxAccessCount=0
 */
#include <stdlib.h>

void *volatile keep;

int main(void) {
  keep = malloc(123);
  *(volatile char *)keep = 1;
  free(keep);
  return 0;
}
