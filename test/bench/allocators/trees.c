/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Binary trees, many of each depth up to DEPTH beside one that stays: whole trees are allocated and freed in turn.
 *
 * usage: trees DEPTH */
#include <stdio.h>
#include <stdlib.h>

typedef struct tree {
  struct tree *left, *right;
} tree;

static tree *make(int depth) {
  tree *made = malloc(sizeof *made);
  if (!made)
    abort();
  made->left = depth ? make(depth - 1) : NULL;
  made->right = depth ? make(depth - 1) : NULL;
  return made;
}

static long count(const tree *t) { return t ? 1 + count(t->left) + count(t->right) : 0; }

static void drop(tree *t) {
  if (!t)
    return;
  drop(t->left);
  drop(t->right);
  free(t);
}

int main(int arguments, char **values) {
  int deepest = arguments > 1 ? atoi(values[1]) : 16;
  tree *stays = make(deepest);
  for (int depth = 4; depth <= deepest; depth += 2) {
    long trees = 1L << (deepest - depth + 4), nodes = 0;
    for (long i = 0; i < trees; i++) {
      tree *made = make(depth);
      nodes += count(made);
      drop(made);
    }
    printf("%ld trees of depth %d: %ld nodes\n", trees, depth, nodes);
  }
  printf("%ld nodes stay\n", count(stays));
  return 0;
}
