/* A program so small that its code lies in the file's first page, as its ELF header does: each of the two segments is mapped
 * from offset 0, and the second is not another module.
 *
 * RUN: %clang -O1 -fuse-ld=lld -fno-pie -no-pie -fno-builtin -gmlt -fdebug-info-for-profiling %s -o %t
 * RUN: rm -f %t.raw && %hearth record -o %t.raw -- %t
 * RUN: python3 %S/../runtime/Inputs/raw_print.py %t.raw MaxSize | FileCheck %s
 * CHECK: mapping: small-files.c.tmp build-id
 * CHECK: MaxSize=100 | small-files.c.tmp+0x
 * REQUIRES: lld
 */
#include <stdlib.h>

int main(void) {
  free(malloc(100));
  return 0;
}
