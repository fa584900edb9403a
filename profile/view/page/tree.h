/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The call stacks of a model as a tree of functions, callers first, with the sums of one quantity. */
#ifndef HEARTH_PAGE_TREE_H
#define HEARTH_PAGE_TREE_H

#include "model.h"

enum { HEARTH_PAGE_TREE_ROOT = 0 };

typedef struct hearth_page_tree_node {
  uint32_t parent, function; /* HEARTH_NONE for the root; a parent has a lower number */
  uint32_t child, sibling;   /* the first, the next; HEARTH_NONE: there is none */
  double sum, cold, hot;     /* in and below it */
} hearth_page_tree_node;

typedef struct hearth_page_tree {
  hearth_page_tree_node *nodes;
  uint32_t count; /* at least 1 */
} hearth_page_tree;

/* Number the nodes of the model in the tree: places of one function become one. 0 is the root; the numbers of new ones
 * follow in the order of the model's nodes. `ret` has room for all of them; `pairs` holds (function, parent) then. E_NOMEM,
 * E_FULL. Destroy `pairs` also after an error. */
hearth_status hearth_page_tree_number(const hearth_page_model *model, hearth_pair_set *pairs, uint32_t *ret,
                                      hearth_error *err);

/* E_NOMEM, E_FULL. Destroy also after an error. */
hearth_status hearth_page_tree_init(hearth_page_tree *tree, const hearth_page_model *model, hearth_quantity quantity,
                                    hearth_error *err);
void hearth_page_tree_destroy(hearth_page_tree *tree);

#endif
