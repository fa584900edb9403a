/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* builder: builds a tree of 2^20 - 1 nodes by a function that calls itself, adds up what is in it and takes it down. Every
 * node is reached on a way of its own, left and right being two places in the function: without folding, each
 * allocation has a call stack of its own. Its argument is the height. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
  struct node *left, *right;
  uint64_t value;
};

static struct node *build(unsigned height, uint64_t value) {
  if (height == 0)
    return NULL;
  struct node *node = malloc(sizeof *node);
  if (!node)
    abort();
  node->value = value;
  node->left = build(height - 1, 2 * value);
  node->right = build(height - 1, 2 * value + 1);
  return node;
}

static uint64_t sum(const struct node *node) { return node ? node->value + sum(node->left) + sum(node->right) : 0; }

static void destroy(struct node *node) {
  if (!node)
    return;
  destroy(node->left);
  destroy(node->right);
  free(node);
}

int main(int argc, char **argv) {
  struct node *root = build(argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 20, 1);
  printf("%" PRIu64 "\n", sum(root));
  destroy(root);
  return 0;
}
