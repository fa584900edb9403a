/* What recording alone tells of blocks that are made all through the run, and stay. */
/* RUN: rm -rf %t && mkdir %t && cd %t && %clang -O1 -gmlt -fdebug-info-for-profiling -I%tools %s -rdynamic -o app
 * RUN: %hearth record -q --mode=trace -o trace -- ./app && %hearth index -q trace -o prof
 * RUN: %hearth advise trace | FileCheck %s
 * RUN: %hearth advise prof | FileCheck %s
 * CHECK: memory that grows and is never freed (leak): up to
 * CHECK-NEXT: use_leak leak.c:
 * CHECK-NEXT: 200 of 200 blocks, 19.5 KiB, are live at exit
 */
#include "given_days.h"

#include <stdlib.h>

static void *kept[200];

static void use_leak(void) {
  for (int i = 0; i < 200; i++) {
    kept[i] = malloc(100);
    if (i % 10 == 9)
      pass_days(1);
  }
}

int main(void) {
  use_leak();
  return 0;
}
