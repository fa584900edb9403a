/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Selecting and trimming: a context is needed only up to the caller from which on its placement is no longer in
 * doubt; it is of use only up to where folding has left calls out. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/expect.h"
#include "match.h"

/* Nodes of the tree that are still to be looked at. */
typedef struct node_list {
  uint32_t *items;
  size_t count, room;
} node_list;

static hearth_status trim_add_node(node_list *list, uint32_t node, hearth_error *err) {
  if (!hearth_array_grow(&list->items, &list->room, list->count, sizeof *list->items))
    return hearth_error_nomem(err);
  list->items[list->count++] = node;
  return HEARTH_OK;
}

/* May folding have left calls out between the frames of a node and those of its children? Which callers led there is
 * then known, but not through how many turns of a cycle. A function that calls itself need not have been left out
 * anywhere: its call stands once for any number. But where one of the callers is a call that was left out, the call
 * that the node stands for may have led back to itself by that one, through different functions (a pointer, a
 * coroutine that is resumed): it then has that caller in every turn but the first. */
static hearth_status may_come_back(const hearth_leaf *leaf, const hearth_leaf_node *node, bool *ret,
                                   hearth_error *err) {
  const hearth_leaf_node *child = &leaf->nodes[node->first_child], *end = child + node->child_count;
  HEARTH_TRY(hearth_stacks_comes_back(leaf->folded, node->function, ret, err));
  for (; child < end && !*ret; child++)
    if (child->function == node->function)
      *ret = !child->ends;
    else
      HEARTH_TRY(hearth_stacks_left_out(leaf->folded, child->frame, ret, err));
  return HEARTH_OK;
}

/* -------------------------------------------------- selecting -------------------------------------------------- */

static int compare_child(const void *key, const void *item) {
  const uint64_t *id = key;
  const hearth_leaf_node *child = item;
  return child->ends ? 1 : (*id > child->id) - (*id < child->id);
}

/* The first child with this id or a greater one. Children at which stacks end are passed over. */
static uint32_t first_child(const hearth_leaf *leaf, const hearth_leaf_node *parent, uint64_t id) {
  const hearth_leaf_node *children = &leaf->nodes[parent->first_child];
  return parent->first_child +
         (uint32_t)hearth_lower_bound(&id, children, parent->child_count, sizeof *children, compare_child);
}

/* Select the children of a node that agree with a caller. */
static hearth_status select_children(hearth_leaf *leaf, uint32_t node, uint64_t id, node_list *ret, hearth_error *err) {
  HEARTH_TRY(hearth_leaf_grow(leaf, node, err));
  const hearth_leaf_node *parent = &leaf->nodes[node];
  uint32_t child = parent->first_child, end = child + parent->child_count;
  for (; child < end && (!id || leaf->nodes[child].ends || !leaf->nodes[child].id); child++)
    HEARTH_TRY(trim_add_node(ret, child, err));
  child = first_child(leaf, parent, id);
  if (id && child < end && leaf->nodes[child].id == id)
    HEARTH_TRY(trim_add_node(ret, child, err));
  return HEARTH_OK;
}

/* The parts of the tree that agree with the callers. *ret holds the root at first; *next is scratch. */
static hearth_status select_nodes(hearth_leaf *leaf, const uint64_t *ids, size_t n, node_list *ret, node_list *next,
                                  hearth_error *err) {
  for (size_t i = 0; i < n; i++) {
    next->count = 0;
    for (size_t k = 0; k < ret->count; k++)
      if (leaf->nodes[ret->items[k]].ends)
        HEARTH_TRY(trim_add_node(next, ret->items[k], err));
      else
        HEARTH_TRY(select_children(leaf, ret->items[k], ids[i], next, err));
    node_list last = *ret;
    *ret = *next;
    *next = last;
  }
  return HEARTH_OK;
}

/* -------------------------------------------------- trimming -------------------------------------------------- */

static hearth_status trim_add_context(const hearth_leaf *leaf, uint32_t stack, size_t depth, hearth_contexts *ret,
                                      hearth_error *err) {
  if (!hearth_array_grow(&ret->items, &ret->room, ret->count, sizeof *ret->items))
    return hearth_error_nomem(err);
  uint64_t *ids = malloc((depth + 1) * sizeof *ids);
  if (!ids)
    return hearth_error_nomem(err);
  for (size_t i = 0; i < depth; i++, stack = leaf->folded->nodes[stack].caller)
    ids[i] = leaf->folded->nodes[stack].id;
  ret->items[ret->count++] = (hearth_context){.stack = ids, .depth = depth};
  return HEARTH_OK;
}

static void mark_matched(const hearth_leaf *leaf, const hearth_leaf_node *node) {
  for (uint32_t i = 0; i < node->count; i++) {
    const hearth_leaf_stack *stack = &leaf->stacks[node->first + i];
    for (uint32_t k = 0; k < stack->row_count; k++)
      leaf->matched[leaf->rows[stack->first_row + k]] = true;
  }
}

static hearth_status trim_add_stack(const hearth_leaf *leaf, const hearth_leaf_stack *stack, hearth_context *to,
                                    hearth_error *err) {
  hearth_mib mib;
  HEARTH_TRY(hearth_leaf_sum(leaf, stack, &mib, err));
  hearth_mib_merge(&to->mib, &mib);
  return HEARTH_OK;
}

/* Add a node's numbers to the last context. */
static hearth_status sum_node(const hearth_leaf *leaf, const hearth_leaf_node *node, hearth_contexts *ret,
                              hearth_error *err) {
  mark_matched(leaf, node);
  for (uint32_t i = 0; i < node->count; i++)
    HEARTH_TRY(trim_add_stack(leaf, &leaf->stacks[node->first + i], &ret->items[ret->count - 1], err));
  return HEARTH_OK;
}

static bool trim_is_one(uint64_t placements) { return (placements & (placements - 1)) == 0; }

/* The placement of one stack whose contexts the profile tells apart by frames of unknown place. */
static hearth_status place_sum(const hearth_leaf *leaf, const hearth_leaf_node *node, hearth_context *ret,
                               hearth_error *err) {
  uint64_t bytes[HEARTH_PLACEMENTS] = {0};
  for (uint32_t i = 0; i < node->count; i++) {
    const hearth_leaf_stack *stack = &leaf->stacks[node->first + i];
    hearth_mib mib;
    HEARTH_TRY(hearth_leaf_sum(leaf, stack, &mib, err));
    if (!stack->is_light)
      bytes[stack->placement] += mib.TotalSize + 1;
  }
  ret->placement = hearth_place_sum(leaf->placer, &ret->mib, bytes).placement;
  return HEARTH_OK;
}

/* Of contexts that have one. Light contexts are not cold. */
static hearth_placement common_placement(uint64_t placements) {
  hearth_expect(trim_is_one(placements));
  hearth_placement common = (hearth_placement)__builtin_ctzll(placements);
  return common == HEARTH_CLASS_UNKNOWN ? HEARTH_CLASS_NOTCOLD : common;
}

/* All nodes as one context of no callers. */
static hearth_status emit_together(const hearth_leaf *leaf, const node_list *nodes, uint64_t placements,
                                   hearth_contexts *ret, hearth_error *err) {
  HEARTH_TRY(trim_add_context(leaf, HEARTH_NONE, 0, ret, err));
  for (size_t i = 0; i < nodes->count; i++)
    HEARTH_TRY(sum_node(leaf, &leaf->nodes[nodes->items[i]], ret, err));
  ret->items[ret->count - 1].placement = common_placement(placements);
  return HEARTH_OK;
}

/* A node as a context for each placement, all of the node's frames: nothing is to tell them apart by their callers. */
static hearth_status emit_by_placement(const hearth_leaf *leaf, const hearth_leaf_node *node, hearth_contexts *ret,
                                       hearth_error *err) {
  mark_matched(leaf, node);
  for (uint64_t left = node->placements; left; left &= left - 1) {
    uint64_t one = left & -left;
    HEARTH_TRY(trim_add_context(leaf, leaf->stacks[node->first].stack, node->depth, ret, err));
    hearth_context *context = &ret->items[ret->count - 1];
    context->placement = common_placement(one);
    for (uint32_t i = 0; i < node->count; i++)
      if (one >> leaf->stacks[node->first + i].placement & 1)
        HEARTH_TRY(trim_add_stack(leaf, &leaf->stacks[node->first + i], context, err));
  }
  return HEARTH_OK;
}

/* The children of a node, the last one first. */
static hearth_status add_children(const hearth_leaf *leaf, uint32_t number, node_list *ret, hearth_error *err) {
  uint32_t first = leaf->nodes[number].first_child, count = leaf->nodes[number].child_count;
  for (uint32_t i = first + count; i-- > first;)
    HEARTH_TRY(trim_add_node(ret, i, err));
  return HEARTH_OK;
}

/* A list of nodes from the last on, each replaced by its children until they agree. */
static hearth_status emit_apart(hearth_leaf *leaf, node_list *nodes, bool trims, hearth_contexts *ret,
                                hearth_error *err) {
  while (nodes->count > 0) {
    uint32_t number = nodes->items[--nodes->count];
    bool comes_back = false, differ = !trim_is_one(leaf->nodes[number].placements);
    if (leaf->nodes[number].ends || (!differ && trims)) {
      const hearth_leaf_node *node = &leaf->nodes[number];
      HEARTH_TRY(trim_add_context(leaf, leaf->stacks[node->first].stack, node->depth, ret, err));
      HEARTH_TRY(sum_node(leaf, node, ret, err));
      hearth_context *context = &ret->items[ret->count - 1];
      if (differ)
        HEARTH_TRY(place_sum(leaf, node, context, err));
      else
        context->placement = common_placement(node->placements);
      continue;
    }
    HEARTH_TRY(hearth_leaf_grow(leaf, number, err));
    if (differ)
      HEARTH_TRY(may_come_back(leaf, &leaf->nodes[number], &comes_back, err));
    if (comes_back)
      HEARTH_TRY(emit_by_placement(leaf, &leaf->nodes[number], ret, err));
    else
      HEARTH_TRY(add_children(leaf, number, nodes, err));
  }
  return HEARTH_OK;
}

hearth_status hearth_leaf_select(hearth_leaf *leaf, const uint64_t *ids, size_t n, bool trims, hearth_contexts *ret,
                                 hearth_error *err) {
  node_list nodes = {0}, scratch = {0};
  uint64_t placements = 0;
  hearth_status status = trim_add_node(&nodes, 0, err);
  if (status == HEARTH_OK)
    status = select_nodes(leaf, ids, n, &nodes, &scratch, err);
  for (size_t i = 0; i < nodes.count; i++)
    placements |= leaf->nodes[nodes.items[i]].placements;
  placements = hearth_leaf_placements_that_count(placements);
  ret->placements |= placements;
  ret->has_dormant |= leaf->has_dormant;
  if (status == HEARTH_OK && placements && trim_is_one(placements) && trims)
    status = emit_together(leaf, &nodes, placements, ret, err);
  else if (placements) { /* the list is emptied from its end */
    scratch.count = 0;
    while (status == HEARTH_OK && nodes.count)
      status = trim_add_node(&scratch, nodes.items[--nodes.count], err);
    if (status == HEARTH_OK)
      status = emit_apart(leaf, &scratch, trims, ret, err);
  }
  free(nodes.items);
  free(scratch.items);
  return status;
}

void hearth_contexts_free(hearth_contexts *contexts) {
  for (size_t i = 0; i < contexts->count; i++)
    free(contexts->items[i].stack);
  free(contexts->items);
  memset(contexts, 0, sizeof *contexts);
}

bool hearth_contexts_differ(const hearth_contexts *contexts) {
  for (size_t i = 1; i < contexts->count; i++)
    if (contexts->items[i].placement != contexts->items[0].placement)
      return true;
  return false;
}
