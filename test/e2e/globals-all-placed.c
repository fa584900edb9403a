/* Programs and libraries link also where all of their data lies apart, or where they have none: globals.ld names sections that are
 * empty then. A variable by the name of "hot" is none of the hot ones.
 *
 * REQUIRES: lld
 * RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O1 -g %s $(%hearth flags instrument --globals) -o profiled && HEARTH_OPTIONS=log_path=raw ./profiled > profiled.out
 * RUN: %hearth index -q raw.* -o p.prof
 * RUN: for linker in bfd lld; do for how in -no-pie -pie; do \
 * RUN:   %clang -O1 -g %s -fuse-ld=$linker $how -ffunction-sections -fdata-sections -Wl,--gc-sections $(%hearth flags use p.prof --globals) -o placed && \
 * RUN:   ./placed > placed.out && cmp profiled.out placed.out && readelf -SW placed > sections && readelf -sW placed > symbols && \
 * RUN:   awk -v want=.data.hot -v name=much -f %S/Inputs/section-of.awk sections symbols && \
 * RUN:   awk -v want=.bss -v name=hot -f %S/Inputs/section-of.awk sections symbols && \
 * RUN:   %clang -O1 -g -DLIBRARY %s -fPIC -shared -fuse-ld=$linker -Wl,--gc-sections $(%hearth flags use p.prof --globals) -o library.so || exit 1; \
 * RUN: done; done
 */
#ifdef LIBRARY
int square(int x) { return x * x; }
#else
#include <stdlib.h>
#include <unistd.h>

volatile int much = 1, busy, hot;
static void *volatile kept;

int main(void) {
  kept = malloc(100);
  for (int i = 0; i < 100000; i++)
    much += i + busy;
  return much == hot || write(1, (const int *)&much, sizeof much) < 0;
}
#endif
