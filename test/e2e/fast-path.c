/* Programs take freed blocks themselves, where they allocate much: from the allocator's lists if it is there, and by calls if
 * another one is, or if malloc is the program's. Layouts of another run move them, too.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O2 %s $(%hearth flags instrument) -o instrumented
 * RUN: env HEARTH_OPTIONS=log_path=raw ./instrumented 2000
 * RUN: %hearth index -q raw.* -o profile
 * RUN: %clang -O2 %s $(%hearth flags use profile) -Rpass=hearth -o optimised 2>&1 | \
 * RUN:   grep "remark: the allocator's fast path" | sort -u | FileCheck %s --check-prefix=REMARK
 * RUN: ./optimised 200000 | FileCheck %s --check-prefixes=SUM,FAST
 * RUN: %clang -O2 %s $(%hearth flags use profile) -mllvm -memprof-fast-path=0 -o called
 * RUN: ./called 200000 | FileCheck %s --check-prefixes=SUM,CALLS
 * RUN: %clang -O2 %s $(%hearth flags use profile --static) -o contained && ./contained 200000 | FileCheck %s --check-prefixes=SUM
 * RUN: env HEARTH_MALLOC=layout=calls ./optimised 200000 | FileCheck %s --check-prefixes=SUM,NONE
 * RUN: env HEARTH_MALLOC=secure=on ./optimised 200000 | FileCheck %s --check-prefixes=SUM
 * RUN: %clang -O2 %s $(%hearth flags use profile --compile) -o alone && ./alone 200000 | FileCheck %s --check-prefixes=SUM,NONE
 * RUN: %clang -O2 -DOWN_MALLOC %s $(%hearth flags use profile) -o own && ./own 200000 | FileCheck %s --check-prefixes=SUM,OWN
 * RUN: %clang -O2 -DOWN_CALLOC %s $(%hearth flags use profile) -o zeroed && ./zeroed 200000 | FileCheck %s --check-prefixes=SUM,OWN
 * SUM: sum 19999900000
 * FAST: pool set, own malloc not called
 * CALLS: own malloc not called
 * NONE: pool not set
 * OWN: pool not set, own malloc called
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long own_calls;

#ifdef OWN_MALLOC
void *__libc_malloc(size_t bytes);
void __libc_free(void *block);
void *malloc(size_t bytes) {
  own_calls++;
  return __libc_malloc(bytes);
}
void free(void *block) { __libc_free(block); }
#endif

/* Freed blocks that code takes in place of calloc would bypass this. */
#ifdef OWN_CALLOC
void *calloc(size_t count, size_t bytes) {
  own_calls++;
  void *block = malloc(count * bytes);
  return block ? memset(block, 0, count * bytes) : NULL;
}
#endif

struct node {
  struct node *next;
  unsigned long value;
};

/* A table that stays: for its entries no freed blocks wait, and the allocator makes them. */
static struct node **make_table(unsigned long entries) {
  struct node **table = calloc(entries, sizeof *table);
  for (unsigned long i = 0; i < entries; i++) {
    table[i] = malloc(sizeof *table[i]);
    // REMARK-NOT: remark
    // REMARK: fast-path.c:[[#@LINE - 2]]:{{.*}} remark: the allocator's fast path is in place of the call
    *table[i] = (struct node){0};
  }
  return table;
}

static void drop_table(struct node **table, unsigned long entries) {
  for (unsigned long i = 0; i < entries * 10000; i++)
    ++*(volatile unsigned long *)&table[i % entries]->value;
  for (unsigned long i = 0; i < entries; i++)
    free(table[i]);
  free(table);
}

/* Lists that come and go. */
static void *work(void *rounds) {
  unsigned long sum = 0, n = (unsigned long)rounds;
  struct node *list = NULL;
  for (unsigned long i = 0; i < n; i++) {
    struct node *node = malloc(sizeof *node);
    // REMARK-NOT: remark
    // REMARK: fast-path.c:[[#@LINE - 2]]:{{.*}} remark: the allocator's fast path is in place of the call
    // REMARK-NOT: remark
    node->value = i;
    node->next = list;
    list = node;
    if (i % 100 < 99 && i + 1 < n)
      continue;
    while (list) {
      struct node *next = list->next;
      sum += list->value;
      free(list);
      list = next;
    }
  }
  return (void *)sum;
}

int main(int count, char **arguments) {
  void *rounds = (void *)strtoul(count > 1 ? arguments[1] : "1", NULL, 10), *of_thread;
  pthread_t thread;
  struct node **table = make_table(1000);
  pthread_create(&thread, NULL, work, rounds);
  unsigned long sum = (unsigned long)work(rounds);
  pthread_join(thread, &of_thread);
  unsigned long **pools = dlsym(RTLD_DEFAULT, "hearth_fast_pools_3"); /* an empty list of theirs is the key */
  printf("sum %lu\npool %s, own malloc %scalled\n", sum == (unsigned long)of_thread ? sum : 0,
         pools && **pools ? "set" : "not set", own_calls ? "" : "not ");
  drop_table(table, 1000);
  return 0;
}
