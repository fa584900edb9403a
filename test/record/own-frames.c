/* Call stacks are the program's: they end at main, without the frames below it, of the library that is preloaded and of the C
 * library's start code; a call that main makes by a jump has none. With frame pointers, and without.
 *
 * REQUIRES: traces
 * RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O2 -fno-builtin -fomit-frame-pointer %s -o without && %clang -O2 -fno-builtin -fno-omit-frame-pointer %s -o with
 * RUN: %hearth record -q -o with.raw -- ./with || true
 * RUN: python3 %S/../runtime/Inputs/raw_print.py with.raw MaxSize > with.txt
 * RUN: FileCheck %s < with.txt && not grep 'record.*libhearth_preload' with.txt
 * RUN: %hearth record -q -o without.raw -- ./without || true
 * RUN: python3 %S/../runtime/Inputs/raw_print.py without.raw MaxSize > without.txt
 * RUN: FileCheck %s < without.txt && not grep 'record.*libhearth_preload' without.txt
 * CHECK-DAG: MaxSize=1001 | with{{(out)?}}+0x{{[0-9a-f]+$}}
 * CHECK-DAG: MaxSize=1002 | with{{(out)?}}+0x{{[0-9a-f]+}} with{{(out)?}}+0x{{[0-9a-f]+$}}
 * CHECK-DAG: MaxSize=1003 | with{{(out)?}}+0x{{[0-9a-f]+}} libc.so.6+0x{{[0-9a-f]+$}}
 *
 * RUN: %hearth record -q --mode=trace -o with.trace -- ./with || true
 * RUN: %hearth trace with.trace > trace.txt
 * RUN: FileCheck %s --check-prefix=TRACE < trace.txt && python3 %S/Inputs/own_frames.py < trace.txt
 * RUN: %hearth record -q --mode=trace -o without.trace -- ./without || true
 * RUN: %hearth trace without.trace > trace.txt
 * RUN: FileCheck %s --check-prefix=TRACE < trace.txt && python3 %S/Inputs/own_frames.py < trace.txt
 * TRACE-DAG: malloc {{.*}} 1001 {{.*}} frames 1
 * TRACE-DAG: malloc {{.*}} 1002 {{.*}} frames 2
 * TRACE-DAG: free {{.*}} 1002 {{.*}} frames 1
 * TRACE-DAG: free {{.*}} 1001 {{.*}} stack - frames 0
 */
#include <stdlib.h>

static void *volatile kept[3];

__attribute__((noinline)) static void *called(size_t size) {
  void *block = malloc(size);
  kept[1] = block;
  return block;
}

__attribute__((constructor)) static void before_main(void) {
  kept[2] = malloc(1003);
  kept[2] = NULL;
}

int main(void) {
  void *block = kept[0] = malloc(1001);
  free(called(1002));
  kept[1] = NULL;
  return ((int (*)(void *))free)(block); /* by a jump; the exit code may be anything */
}
