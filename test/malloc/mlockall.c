/* mlockall locks what is in use, and future memory; freed blocks go back and come again as zero.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t
 * RUN: env LD_PRELOAD=%malloc %t | FileCheck %s
 *
 * CHECK: {{at most 16 MiB locked before, at most 16 MiB after 10 MiB more, zero|may not lock}}
 */
#include "Inputs/rollup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static long locked_kib(void) { return rollup_kib("Locked:"); }

int main(void) {
  free(malloc(100));
  free(malloc(300000));
  if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
    puts("may not lock");
    return 0;
  }
  long first = locked_kib();
  for (int i = 0; i < 100000; i++)
    memset(malloc(100), 1, 100);
  long more = locked_kib() - first;
  printf("at most %ld MiB locked before, at most %ld MiB after 10 MiB more, ", (first / 16384 + 1) * 16,
         (more / 16384 + 1) * 16);
  static char *blocks[20];
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 20; i++) {
      blocks[i] = calloc(1, 700000);
      for (int j = 0; j < 700000; j++)
        if (blocks[i][j])
          abort();
      memset(blocks[i], 1, 700000);
    }
    for (int i = 0; i < 19; i++)
      free(blocks[i]);
  }
  puts("zero");
}
