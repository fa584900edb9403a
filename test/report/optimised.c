/* What came of the hints: the profile, the report of the compile and the allocator's numbers at the end of a run meet in the
 * page, place by place. One of the hot calls is in another line when the program is compiled again.
 *
 * REQUIRES: chromium
 * RUN: rm -rf %t && mkdir %t && cp %s %t/app.c && cd %t
 * RUN: %clang -O1 $(%hearth flags instrument --clang=%clang) app.c -o profiled && env HEARTH_OPTIONS=log_path=raw ./profiled
 * RUN: %hearth index -q --layout=calls raw.* --binary profiled -o prof
 * RUN: %clang -O1 $(%hearth flags use prof --clang=%clang) -mllvm -memprof-salvage=0 -mllvm -memprof-report=%t/matched -DMOVED app.c -o app
 * RUN: env HEARTH_MALLOC=stats=%t/stats ./app && ./app
 * RUN: %hearth report prof --annotation=matched --malloc=stats -o page.html
 * RUN: python3 %S/Inputs/print_build.py page.html | FileCheck %s
 * CHECK: cold | 1,000 | 1,000 | 1,000 | 0 | 1,000 |
 * CHECK: hot | 2,000 | 1,000 | 1,000 | 0 | 1,000 |
 * CHECK: no-call-in-line | 1 | 23.4 KiB | 0 B
 * CHECK: errors: []
 */
#include <stdlib.h>
#include <time.h>

struct node {
  struct node *next;
  char *payload;
  long *key;
};

static struct node *list;

static void add(long key) {
  struct node *node = malloc(sizeof *node);
  node->payload = malloc(200);
#ifdef MOVED
  node->key = malloc(24);
#else
  node->key = malloc(24);
#endif
  node->payload[0] = (char)key;
  *node->key = key;
  node->next = list;
  list = node;
}

int main(void) {
  long sum = 0;
  for (long i = 0; i < 1000; i++)
    add(i);
  clock_t end = clock() + CLOCKS_PER_SEC / 20;
  do
    for (struct node *node = list; node; node = node->next)
      sum += *node->key & 1;
  while (clock() < end);
  return sum <= 0;
}
