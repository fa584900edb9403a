/* Bursts. Where all stretches are counted, the profile is that of counting all accesses. Where some are, each context's sum is
 * near that: of loops, recursion, library functions, in one thread and in four. Contexts stay the same, and so does what the
 * program prints.
 *
 * RUN: %clang %clang_plugin -mllvm -memprof-instrument -O2 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
 * RUN:   -fno-optimize-sibling-calls %s -Wl,--build-id %rt -lpthread -o %t.exact
 * RUN: %clang %clang_plugin -mllvm -memprof-instrument -mllvm -memprof-burst -O2 -g -fno-omit-frame-pointer \
 * RUN:   -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls %s -Wl,--build-id %rt -lpthread -o %t.burst
 * RUN: rm -f %t.prof.*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof.exact %t.exact > %t.exact.out
 * RUN: HEARTH_OPTIONS=log_path=%t.prof.all:burst=100 %t.burst > %t.all.out
 * RUN: HEARTH_OPTIONS=log_path=%t.prof.one %t.burst > %t.one.out
 * RUN: HEARTH_OPTIONS=log_path=%t.prof.ten:burst=10 %t.burst > %t.ten.out
 * RUN: cmp %t.exact.out %t.all.out && cmp %t.exact.out %t.one.out && cmp %t.exact.out %t.ten.out
 * RUN: python3 %S/../Inputs/bursts.py 0 %t.prof.exact.* %t.prof.all.*
 * RUN: python3 %S/../Inputs/bursts.py 25 %t.prof.exact.* %t.prof.one.*
 * RUN: python3 %S/../Inputs/bursts.py 12 %t.prof.exact.* %t.prof.ten.*
 *
 * What part of blocks was accessed is not known, and nobody is told that it was none.
 * RUN: %hearth index -o %t.ix %t.prof.one.* 2>&1 | FileCheck %s --check-prefix=INDEX
 * RUN: %hearth advise %t.ix | FileCheck %s --check-prefix=ADVISE
 * INDEX: accesses were counted for part of the time: their sums are estimates
 * ADVISE: not looked for: unused, oversized (needs a program compiled for profiling, that counts all accesses)
 *
 * The option says something to such programs only, and files of both kinds do not go together.
 * RUN: HEARTH_OPTIONS=log_path=%t.prof.no:burst=5 %t.exact 2>&1 | FileCheck %s --check-prefix=OPTION
 * OPTION: option burst is for code compiled with -memprof-burst; here all accesses are counted
 * RUN: %clang %clang_plugin -mllvm -memprof-instrument -DSECOND -c %s -o %t.second.o
 * RUN: %clang %clang_plugin -mllvm -memprof-instrument -mllvm -memprof-burst -O2 %s %t.second.o -Wl,--build-id %rt \
 * RUN:   -lpthread -o %t.both
 * RUN: HEARTH_OPTIONS=log_path=%t.prof.both %t.both 2>&1 | FileCheck %s --check-prefix=BOTH
 * BOTH: some of the program's files are compiled with -memprof-burst and some count all accesses; the profile will have no access counts
 */
#ifdef SECOND
int second = 2;
#else
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define THREADS  4

struct node {
  struct node *left, *right;
  long value;
};

NOINLINE static struct node *new_node(void) { return malloc(sizeof(struct node)); }

NOINLINE static struct node *make_tree(int depth) {
  if (depth == 0)
    return NULL;
  struct node *n = new_node();
  n->left = make_tree(depth - 1);
  n->right = make_tree(depth - 1);
  n->value = depth;
  return n;
}

NOINLINE static long sum(const struct node *n, long factor) {
  return n ? n->value * factor + sum(n->left, factor) + sum(n->right, factor + 1) : 0;
}

NOINLINE static void free_tree(struct node *n) {
  if (!n)
    return;
  free_tree(n->left);
  free_tree(n->right);
  free(n);
}

NOINLINE static long *new_row(size_t count) { return calloc(count, sizeof(long)); }

/* A loop in a loop: the inner one is counted before it. */
NOINLINE static long add_rows(long *to, const long *from, int rounds, size_t count) {
  for (int r = 0; r < rounds; r++)
    for (size_t i = 0; i < count; i++)
      to[i] += from[i] * r;
  return to[count / 2];
}

NOINLINE static char *new_text(void) { return malloc(200); }

NOINLINE static long texts(int rounds) {
  char *text = new_text();
  long all = 0;
  for (int r = 0; r < rounds; r++) {
    memset(text, 'a' + r % 26, (size_t)(r % 150));
    text[r % 150] = '\0';
    all += (long)strlen(text);
  }
  free(text);
  return all;
}

static void *work(void *result) {
  struct node *tree = make_tree(12);
  long *to = new_row(50), *from = new_row(50), all = 0;
  for (size_t i = 0; i < 50; i++)
    from[i] = (long)i;
  for (int i = 0; i < 60; i++)
    all += sum(tree, i);
  *(long *)result = all + add_rows(to, from, 200000, 50) + texts(200000);
  free_tree(tree);
  free(to);
  free(from);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  long results[THREADS + 1];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, work, &results[i]);
  work(&results[THREADS]);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i <= THREADS; i++)
    printf("%ld\n", results[i]);
  return 0;
}
#endif
