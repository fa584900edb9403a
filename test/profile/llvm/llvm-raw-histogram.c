// Raw profiles with histograms: counters of 8 bytes each in version 4 and of 2 in version 5.
// REQUIRES: llvm19 || llvm22
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
// RUN:   -Wl,--build-id -mllvm -memprof-histogram -fmemory-profile=%t/raw %s -o program
// RUN: ./program
// RUN: od -A n -t u8 -j 8 -N 8 raw/* | FileCheck %s --check-prefix=VERSION%llvm
// VERSION19: 4
// VERSION22: 5
// RUN: %hearth merge -q raw/* --binary program -o prof && %hearth show --text prof > text && FileCheck %s --check-prefixes=CHECK,TEXT%llvm < text
// CHECK: frame main
// CHECK-NEXT: AllocCount 3
// CHECK-DAG: MinSize 160
// CHECK-DAG: MaxSize 4000
// CHECK-DAG: TotalSize 4560
// LLVM 19's runtime counts no accesses here; llvm-profdata 19 reads 0, too.
// TEXT19-NOT: TotalAccessCount
// TEXT22-DAG: TotalAccessCount 30
// TEXT22: histogram 3 3 3 3 3 3 3 3 3 3{{$}}
#include <stdlib.h>

int main(void) {
  static const int sizes[] = {160, 4000, 400};
  for (int i = 0; i < 3; ++i) {
    volatile char *block = malloc(sizes[i]);
    for (int k = 0; k < 10; ++k)
      block[8 * k] = 1;
    free((char *)block);
  }
  return 0;
}
