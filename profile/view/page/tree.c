/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Equal functions below one parent are one node, numbered as pairs; sums go from each node to its parent, last node
 * first. */
#include "tree.h"

#include <stdlib.h>

hearth_status hearth_page_tree_number(const hearth_page_model *model, hearth_pair_set *pairs, uint32_t *ret,
                                      hearth_error *err) {
  uint32_t root;
  HEARTH_TRY(hearth_pair_set_add(pairs, (hearth_pair){HEARTH_NONE, HEARTH_NONE}, &root, err));
  for (uint32_t i = 0; i < model->nodes.count; i++) {
    hearth_pair node = model->nodes.pairs[i];
    uint32_t parent = node.second == HEARTH_NONE ? root : ret[node.second];
    hearth_pair pair = {hearth_page_model_place(model, node.first).function, parent};
    HEARTH_TRY(hearth_pair_set_add(pairs, pair, &ret[i], err));
  }
  return HEARTH_OK;
}

static void link_nodes(hearth_page_tree *tree, const hearth_pair_set *pairs) {
  tree->count = pairs->count;
  for (uint32_t i = 0; i < tree->count; i++)
    tree->nodes[i] = (hearth_page_tree_node){.parent = pairs->pairs[i].second,
                                             .function = pairs->pairs[i].first,
                                             .child = HEARTH_NONE,
                                             .sibling = HEARTH_NONE};
  for (uint32_t i = tree->count; i-- > 1;) {
    hearth_page_tree_node *parent = &tree->nodes[tree->nodes[i].parent];
    tree->nodes[i].sibling = parent->child;
    parent->child = i;
  }
}

static void add_sums(hearth_page_tree *tree, const hearth_page_model *model, const uint32_t *numbers,
                     hearth_quantity quantity) {
  for (uint32_t i = 0; i < model->context_count; i++) {
    const hearth_page_context *context = &model->contexts[i];
    hearth_page_tree_node *node = &tree->nodes[numbers[context->node]];
    double value = (double)context->of[quantity];
    node->sum += value;
    node->cold += context->hotness == HEARTH_CLASS_COLD ? value : 0;
    node->hot += context->hotness == HEARTH_CLASS_HOT ? value : 0;
  }
  for (uint32_t i = tree->count; i-- > 1;) {
    const hearth_page_tree_node *node = &tree->nodes[i];
    hearth_page_tree_node *parent = &tree->nodes[node->parent];
    parent->sum += node->sum;
    parent->cold += node->cold;
    parent->hot += node->hot;
  }
}

static hearth_status make(hearth_page_tree *tree, const hearth_page_model *model, hearth_quantity quantity,
                          hearth_pair_set *pairs, uint32_t *numbers, hearth_error *err) {
  HEARTH_TRY(hearth_page_tree_number(model, pairs, numbers, err));
  tree->nodes = malloc(pairs->count * sizeof *tree->nodes);
  if (!tree->nodes)
    return hearth_error_nomem(err);
  link_nodes(tree, pairs);
  add_sums(tree, model, numbers, quantity);
  return HEARTH_OK;
}

hearth_status hearth_page_tree_init(hearth_page_tree *tree, const hearth_page_model *model, hearth_quantity quantity,
                                    hearth_error *err) {
  hearth_pair_set pairs = {0};
  uint32_t *numbers = malloc(((size_t)model->nodes.count + 1) * sizeof *numbers);
  *tree = (hearth_page_tree){0};
  hearth_status status = numbers ? make(tree, model, quantity, &pairs, numbers, err) : hearth_error_nomem(err);
  free(numbers);
  hearth_pair_set_destroy(&pairs);
  return status;
}

void hearth_page_tree_destroy(hearth_page_tree *tree) {
  free(tree->nodes);
  tree->nodes = NULL;
}
