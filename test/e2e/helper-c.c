/* One malloc in one helper: hot for one caller, cold for the other. From profile to placement.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O2 $(%hearth flags instrument --clang=%clang) %s -o instrumented
 * RUN: env %run_clock HEARTH_OPTIONS=log_path=%t/raw ./instrumented > instrumented.out
 * RUN: %hearth index --layout=calls -q raw.* --binary instrumented -o prof
 * RUN: %hearth show prof | FileCheck %s --check-prefix=SHOW
 * RUN: %clang -O2 $(%hearth flags use prof --clang=%clang) -I%include %s -DPLACED -o optimised
 * RUN: ./optimised > optimised.out
 * RUN: FileCheck %s --check-prefix=PLACED < optimised.out
 * RUN: head -1 instrumented.out > a && head -1 optimised.out > b && cmp a b
 * RUN: %clang -O2 $(%hearth flags use prof --clang=%clang --compile) -I%include -S -emit-llvm %s -o - | FileCheck %s --check-prefix=IR
 *
 * SHOW-DAG: hot
 * SHOW-DAG: cold
 * SHOW-DAG: helper-c.c
 * IR-DAG: @__hearth_malloc_hot_cold({{.*}}, i8 zeroext -33)
 * IR-DAG: @__hearth_malloc_hot_cold({{.*}}, i8 zeroext 0)
 * IR-NOT: @malloc({{.*}}!dbg
 * PLACED: sum
 * PLACED: node hot payload cold
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef PLACED
#include <hearth/malloc.h>
#endif

struct node {
  struct node *next;
  char *payload;
  long key;
};

static void *allocate(size_t size) {
  void *block = malloc(size);
  if (!block)
    exit(1);
  return block;
}

static struct node *list;

static void add(long key) {
  struct node *node = allocate(sizeof *node);
  char *payload = allocate(200);
  payload[0] = (char)key;
  *node = (struct node){list, payload, key};
  list = node;
}

int main(void) {
  long sum = 0;
  for (long i = 0; i < 1000; i++)
    add(i);
  clock_t end = clock() + CLOCKS_PER_SEC / 20;
  do
    for (struct node *node = list; node; node = node->next)
      sum += node->key & 1;
  while (clock() < end);
  printf("sum %d\n", sum > 0);
#ifdef PLACED
  static const char *const names[] = {
      [HEARTH_MALLOC_OTHER] = "other", [HEARTH_MALLOC_COLD] = "cold", [HEARTH_MALLOC_HOT] = "hot"};
  printf("node %s payload %s\n", names[hearth_malloc_class(list)], names[hearth_malloc_class(list->payload)]);
#endif
  return 0;
}
