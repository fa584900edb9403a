/* Recursion is folded as stacks are captured: a tree builder keeps a handful of contexts, no block is lost, and the profile
 * is the one that folding while merging makes of full stacks.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t -fdebug-info-for-profiling && rm -f %t.full* %t.fold*
 * RUN: HEARTH_OPTIONS=log_path=%t.full:recursion=full %t && HEARTH_OPTIONS=log_path=%t.fold %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.full.* | FileCheck %s --check-prefix=FULL
 * RUN: python3 %S/../Inputs/raw_print.py %t.fold.* AllocCount TotalSize | FileCheck %s
 *
 * Each leaf and each inner node has a way of its own: 1,024 and 1,023.
 * FULL: contexts=2047 dropped_blocks=0 dropped_stacks=0
 *
 * CHECK: contexts={{[0-9]+}} dropped_blocks=0 dropped_stacks=0
 * RUN: python3 %S/../Inputs/raw_print.py %t.fold.* AllocCount TotalSize | awk '/^record/ { sub(/AllocCount=/, "", $2); \
 * RUN:   sub(/TotalSize=/, "", $3); blocks += $2; bytes += $3; contexts++ } \
 * RUN:   END { print blocks, bytes, contexts < 20 ? "few" : contexts }' | FileCheck %s --check-prefix=SUM
 * SUM: 2047 73696 few
 *
 * RUN: %hearth merge -q %t.full.* -o %t.late.prof && %hearth merge -q %t.fold.* -o %t.early.prof
 * RUN: %hearth show --text %t.late.prof | grep -E '^(context|frame|AllocCount|TotalSize)' > %t.late
 * RUN: %hearth show --text %t.early.prof | grep -E '^(context|frame|AllocCount|TotalSize)' > %t.early
 * RUN: cmp %t.late %t.early
 */
#include <stdlib.h>

struct node {
  struct node *left, *right;
};

static struct node *build(int depth) {
  if (depth == 0)
    return calloc(1, 40);
  struct node *node = malloc(32);
  node->left = build(depth - 1);
  node->right = build(depth - 1);
  return node;
}

static void destroy(struct node *node) {
  if (!node)
    return;
  destroy(node->left);
  destroy(node->right);
  free(node);
}

int main(void) {
  destroy(build(10));
  return 0;
}
