/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Three linked lists whose nodes were allocated in turn. Rounds of walks follow: two lists side by side, then the third one. */
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 750000 };

typedef struct node {
  struct node *next;
  long value;
  char text[32];
} node;

static node *grow(node *list, long value) {
  node *n = malloc(sizeof *n);
  if (!n)
    exit(1);
  *n = (node){.next = list, .value = value};
  return n;
}

__attribute__((noinline)) static long walk_both(node *a, node *b) {
  long sum = 0;
  for (; a && b; a = a->next, b = b->next)
    sum += a->value++ ^ b->value++;
  return sum;
}

__attribute__((noinline)) static long walk(node *list) {
  long sum = 0;
  for (; list; list = list->next)
    sum += list->value++;
  return sum;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  node *a = NULL, *b = NULL, *c = NULL;
  long sum = 0;
  for (int i = 0; i < NODES; i++) {
    a = grow(a, i);
    b = grow(b, 2 * i);
    c = grow(c, 3 * i);
  }
  for (int i = 0; i < rounds; i++)
    sum += walk_both(a, b);
  for (int i = 0; i < 2 * rounds; i++)
    sum += walk(c);
  printf("%ld\n", sum);
  return 0;
}
