/* A program that allocates blocks of one size now and of another size then takes about as much memory as the largest of these,
 * whether all are recorded, some, or traced. Of twenty thousand blocks one stays.
 *
 * RUN: %clang -O1 -g %s -o %t && %t | FileCheck %s
 * RUN: %hearth record -q -o %t.raw -- %t | FileCheck %s
 * RUN: %hearth record -q --sample=65536 -o %t.raw -- %t | FileCheck %s
 * RUN: %hearth record -q --accesses -o %t.raw -- %t | FileCheck %s
 * RUN: %hearth record -q --mode=trace -o %t.raw -- %t | FileCheck %s
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t.counted && HEARTH_OPTIONS=log_path=%t.raw %t.counted | FileCheck %s
 * CHECK: {{^[12]\..}} times
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { TOTAL = 32 << 20, SIZES = 20, STAYING = 20000 };

static void *volatile staying; /* a list */

static void churn(size_t size) {
  size_t count = TOTAL / size;
  void **blocks = malloc(count * sizeof *blocks);
  for (size_t i = 0; i < count; ++i)
    blocks[i] = memset(malloc(size), 1, size);
  for (size_t i = 0; i < count; ++i) {
    if (i % STAYING) {
      free(blocks[i]);
    } else {
      *(void **)blocks[i] = staying;
      staying = blocks[i];
    }
  }
  free(blocks);
}

int main(void) {
  for (size_t i = 0; i < SIZES; ++i)
    churn(i % 3 == 2 ? 1500 + 500 * i : 120 + 48 * i);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("%.1f times\n", (double)usage.ru_maxrss * 1024 / TOTAL);
  return 0;
}
