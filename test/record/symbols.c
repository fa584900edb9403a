/* Programs without debug information: functions have the names of their symbols; in a stripped program those that no symbol
 * names are told apart by where they begin. */
/* RUN: %clang -O1 -fno-omit-frame-pointer -g0 -rdynamic %s -o %t && rm -f %t.raw* && %hearth record -o %t.raw -- %t
 * RUN: not %hearth index -o %t.prof %t.raw 2>&1 | FileCheck %s --check-prefix=WITHOUT
 * WITHOUT: no debug information
 * RUN: %hearth index --symbols -o %t.prof %t.raw && %hearth show %t.prof | FileCheck %s --check-prefix=NAMED
 * NAMED: allocated  123 B
 * NAMED: {{^      }}hidden
 * NAMED-NEXT: {{^      }}visible
 * NAMED-NEXT: {{^      }}main
 *
 * Elsewhere, with the binary given:
 * RUN: cp %t %t.copy && %hearth index --symbols --binary %t.copy -o %t.prof %t.raw
 * RUN: %hearth show %t.prof | FileCheck %s --check-prefix=NAMED
 *
 * RUN: strip %t -o %t.stripped && rm -f %t.raw* && %hearth record -o %t.raw -- %t.stripped
 * RUN: %hearth index --symbols -o %t.prof %t.raw && %hearth show %t.prof | FileCheck %s --check-prefix=STRIPPED
 * STRIPPED: allocated  123 B
 * STRIPPED: {{^      }}symbols.c.tmp.stripped+0x{{[0-9a-f]+}}
 * STRIPPED-NEXT: {{^      }}visible
 * STRIPPED-NEXT: {{^      }}main
 */
#include <stdlib.h>

static void *volatile block;

static __attribute__((noinline)) void hidden(void) {
  block = malloc(123);
  __asm__ volatile("");
}

__attribute__((noinline)) void visible(void) {
  hidden();
  __asm__ volatile("");
}

int main(void) {
  visible();
  free(block);
  return 0;
}
