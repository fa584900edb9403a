/* The system is asked for huge pages where hot bss fills them, in programs and in libraries.
 *
 * REQUIRES: lld
 * RUN: rm -rf %t && split-file %s %t && cd %t && %hearth merge -q g.txt -o g.prof
 * RUN: for linker in bfd lld; do for how in '-fPIE -pie' -no-pie -static '-fPIE -pie -Wl,--gc-sections -fdata-sections'; do \
 * RUN:   static= && case $how in *static*) static=--static ;; esac; \
 * RUN:   %clang -O1 -g table.c main.c -fuse-ld=$linker $how $(%hearth flags use g.prof --globals --huge-globals $static) -o main && ./main | FileCheck %s --check-prefix=HUGE || exit 1; \
 * RUN: done; \
 * RUN:   %clang -O1 -g table.c -fPIC -shared -fuse-ld=$linker $(%hearth flags use g.prof --globals --huge-globals) -o libtable.so && \
 * RUN:   %clang -O1 main.c ./libtable.so -o main && ./main | FileCheck %s --check-prefix=HUGE || exit 1; done
 * RUN: %clang -O1 -g table.c main.c $(%hearth flags use g.prof --globals) -o main && ./main | FileCheck %s --check-prefix=SMALL
 * HUGE: huge pages: asked for
 * SMALL: huge pages: not asked for
 */
//--- g.txt
hearth-profile-text 1
run runs=1 accesses=1
global table table.c kind=1 local=1 size=8388608 accesses=1000000
context
frame f table.c 1 1 1 0
AllocCount 1
//--- table.c
enum { COUNT = 8 << 20 };
static volatile char table[COUNT];
const volatile char *middle(void) {
  table[COUNT / 2] = 1;
  return &table[COUNT / 2];
}
//--- main.c
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const volatile char *middle(void);

int main(void) {
  uintptr_t from, to, place = (uintptr_t)middle();
  char line[4096];
  int inside = 0;
  FILE *file = fopen("/proc/self/smaps", "r");
  assert(file);
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
      inside = place >= from && place < to;
    if (inside && strncmp(line, "VmFlags:", 8) == 0)
      printf("huge pages: %sasked for\n", strstr(line, " hg") ? "" : "not ");
  }
  return fclose(file);
}
