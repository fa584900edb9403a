/* 'hearth record' and the page of a trace count the same blocks as temporary: those that their thread freed before it did
 * anything else.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t && %clang -O0 -g %s -o app
 * RUN: %hearth record -o raw -- ./app 2>&1 | FileCheck %s
 * CHECK: , 5002 allocations, 2001 temporary, 0 not freed
 * RUN: %hearth record -q --mode=trace -o trace -- ./app && %hearth report trace -o page.html
 * RUN: python3 -c 'import sys; sys.path.insert(0, "%S/Inputs"); from page_data import Data; print(sum(Data("page.html").contexts["temporary"]))' | FileCheck %s --check-prefix=PAGE
 * PAGE: {{^}}2001{{$}}
 */
#include <stdlib.h>

enum { ROUNDS = 1000 };

int main(void) {
  void *kept = malloc(1);
  for (int i = 0; i < ROUNDS; i++) {
    void *first = malloc(10), *second = malloc(20);
    free(second); /* temporary */
    free(first);
    first = malloc(10);
    second = malloc(20);
    free(first);
    free(second); /* the newest, but not the last operation */
    free(malloc(30)); /* temporary */
  }
  free(kept);
  free(malloc(1)); /* temporary */
}
