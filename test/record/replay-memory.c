/* A replay reads the trace in another process. What reading leaves in a heap would serve the blocks of the trace, and they
 * would seem to take less memory than their bytes.
 *
 * REQUIRES: traces
 * RUN: %clang -O1 -fno-builtin %s -o %t && rm -f %t.trace*
 * RUN: %hearth record -q --mode=trace -o %t.trace -- %t
 * RUN: %clang -O1 -fno-builtin -DSHIM -shared -fPIC %s -o %t.so
 * RUN: env LD_PRELOAD=%t.so %replay --touch %t.trace > %t.out 2>&1 && FileCheck %s < %t.out
 * CHECK: operations     40000
 * CHECK: mean resident
 * CHECK: requests above 64 KiB: 0
 * RUN: awk '/^peak live/ { live = substr($5, 2) } /^(peak|mean) resident/ { print $1, int(4 * substr($5, 2) / live) }' %t.out | \
 * RUN:   FileCheck %s --check-prefix=QUARTERS
 * QUARTERS: peak {{[4-6]}}
 * QUARTERS: mean {{[1-5]}}
 */
#include <stdio.h>
#include <stdlib.h>

#ifdef SHIM
void *__libc_malloc(size_t bytes);
static int large;

void *malloc(size_t bytes) {
  large += bytes > 64 << 10;
  return __libc_malloc(bytes);
}

__attribute__((destructor)) static void print(void) { fprintf(stderr, "requests above 64 KiB: %d\n", large); }
#else
enum { BLOCKS = 20000 };

int main(void) {
  static void *block[BLOCKS];
  for (int i = 0; i < BLOCKS; i++)
    block[i] = malloc(1000);
  for (int i = 0; i < BLOCKS; i++)
    free(block[i]);
  return 0;
}
#endif
