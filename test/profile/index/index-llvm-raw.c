// Raw profiles of LLVM's own runtime: symbolised, converted (times to ns), several dumps of one file summed.
// REQUIRES: llvm22
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
// RUN:   -fno-optimize-sibling-calls -Wl,--build-id -fmemory-profile=%t/raw %s -o program
// RUN: ./program
// RUN: %hearth index raw/memprof.profraw.* --binary program -o one.prof | FileCheck %s
// RUN: %hearth show --text one.prof | FileCheck %s --check-prefix=TEXT
// RUN: cat raw/memprof.profraw.* raw/memprof.profraw.* > twice
// RUN: %hearth index twice --binary program -o two.prof | FileCheck %s --check-prefix=TWICE
//
// CHECK: one.prof: 1 context, 2 functions, 1 run, 300 B allocated
// TWICE: two.prof: 1 context, 2 functions, 2 runs, 600 B allocated
// TEXT: context
// TEXT-NEXT: frame get {{.*}}index-llvm-raw.c 28 0 {{[0-9]+}} 0
// TEXT-NEXT: frame main {{.*}}index-llvm-raw.c 30 2 {{[0-9]+}} {{[0-9]+$}}
// TEXT-DAG: AllocCount 3
// TEXT-DAG: TotalSize 300
// TEXT-DAG: TotalAccessCount 30
// TEXT-DAG: MinAccessCount 10
//
// Its layout does not say where the program is:
// RUN: not %hearth index raw/memprof.profraw.* -o none 2>&1 | FileCheck %s --check-prefix=WHERE
// WHERE: does not say where its program is: give it with --binary (build id {{[0-9a-f]+}})
#include <stdlib.h>

__attribute__((noinline)) static char *get(void) { return malloc(100); }

int main(void) {
  for (int i = 0; i < 3; ++i) {
    volatile char *block = get();
    for (int k = 0; k < 10; ++k)
      block[k] = 1;
    free((char *)block);
  }
  return 0;
}
