/* Histogram mode of clang -fmemory-profile. Release 19 counts where the 64 bytes begin that are accessed, also where that is
 * before the block.
 *
 * REQUIRES: llvm22 || llvm19
 * RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fmemory-profile \
 * RUN:   -mllvm -memprof-histogram -c %s -o %t.o && %clang -Wl,--build-id %t.o %rt -lpthread -o %t
 * RUN: %S/../Inputs/histograms.sh %hearth %t > %t.txt && FileCheck %s --check-prefix=INLINE%llvm < %t.txt
 * RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fmemory-profile \
 * RUN:   -mllvm -memprof-histogram -mllvm -memprof-use-callbacks -c %s -o %t.o
 * RUN: %clang -Wl,--build-id %t.o %rt -lpthread -o %t
 * RUN: %S/../Inputs/histograms.sh %hearth %t > %t.txt && FileCheck %s --check-prefix=INLINE22 < %t.txt
 *
 * Files of both modes in one program are noticed where Hearth instrumented both.
 * RUN: echo 'int other;' > %t.other.c
 * RUN: %clang -O1 $(%hearth flags instrument --compile --clang=%clang) -c %t.other.c -o %t.other.o
 * RUN: %clang -O1 $(%hearth flags instrument --clang=%clang) -mllvm -memprof-histogram %s %t.other.o -o %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t 2>&1 | FileCheck %s --check-prefix=BOTH
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount TotalAccessCount | FileCheck %s --check-prefix=NONE
 *
 * INLINE22: {{^}}main 18: 10 7 0 0 0 0 0 0 1{{$}}
 * INLINE19: {{^}}main 18: 17 0 0 0 1{{$}}
 * BOTH: hearth: some of the program's files are compiled in histogram mode (-memprof-histogram) and some are not; the profile will have no access counts
 * BOTH-NOT: {{.}}
 * NONE: profile: accesses=0
 * NONE: AllocCount=1 TotalAccessCount=0
 */
#include <stdlib.h>

void *volatile keep;

int main(void) {
  keep = malloc(123);
  volatile long *block = keep;
  for (int i = 0; i < 10; ++i)
    block[0] = i;
  for (int i = 0; i < 7; ++i)
    block[1] = i;
  block[8] = 1;
  free(keep);
  return 0;
}
