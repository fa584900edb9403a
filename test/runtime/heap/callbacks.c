/* Instrumentation by calls instead of inline counters, and counts made by hand.
 *
 * RUN: %clang -g -O1 -I%include -fno-builtin -fmemory-profile -mllvm -memprof-use-callbacks -c %s -o %t.o
 * RUN: %clang %t.o %rt -lpthread -o %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MaxSize MaxAccessCount | FileCheck %s
 *
 * CHECK: accesses=1
 * CHECK: AllocCount=1 MaxSize=101 MaxAccessCount=3
 * CHECK: AllocCount=1 MaxSize=202 MaxAccessCount=27
 */
#include "hearth/rt.h"

#include <stdlib.h>

int main(void) {
  volatile char *first = malloc(101), *second = malloc(202);

  first[0] = 1;
  first[64] = first[0]; /* a load and a store */
  __memprof_record_access(second + 100);
  __memprof_record_access_range(second, 202);
  free((void *)first);
  free((void *)second);
  return 0;
}
