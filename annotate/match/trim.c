/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Selecting and trimming: a context is needed only up to the caller from which on its class is no longer in doubt, and is
 * of use only up to where folding has left calls out. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "leaf_internal.h"
#include "search.h"

/* Nodes of the tree that are still to be looked at. */
typedef struct node_list {
  uint32_t *items;
  size_t count, room;
} node_list;

static hearth_status add_node(node_list *list, uint32_t node, hearth_error *err) {
  if (!hearth_array_grow(&list->items, &list->room, list->count, sizeof *list->items))
    return hearth_error_nomem(err);
  list->items[list->count++] = node;
  return HEARTH_OK;
}

/* -------------------------------------------------- selecting -------------------------------------------------- */

static int compare_child(const void *key, const void *item) {
  const uint64_t *id = key;
  const hearth_leaf_node *child = item;
  return child->ends ? 1 : (*id > child->id) - (*id < child->id);
}

/* The first child with this id or a greater one; those that end are none. */
static uint32_t first_child(const hearth_leaf *leaf, const hearth_leaf_node *parent, uint64_t id) {
  const hearth_leaf_node *children = &leaf->nodes[parent->first_child];
  return parent->first_child +
         (uint32_t)hearth_lower_bound(&id, children, parent->child_count, sizeof *children, compare_child);
}

/* Those of a node's children that agree with a caller. */
static hearth_status select_children(hearth_leaf *leaf, uint32_t node, uint64_t id, node_list *ret, hearth_error *err) {
  HEARTH_TRY(hearth_leaf_grow(leaf, node, err));
  const hearth_leaf_node *parent = &leaf->nodes[node];
  uint32_t child = parent->first_child, end = child + parent->child_count;
  for (; child < end && (!id || leaf->nodes[child].ends || !leaf->nodes[child].id); child++)
    HEARTH_TRY(add_node(ret, child, err));
  child = first_child(leaf, parent, id);
  if (id && child < end && leaf->nodes[child].id == id)
    HEARTH_TRY(add_node(ret, child, err));
  return HEARTH_OK;
}

/* The parts of the tree that agree with the callers. *ret holds the root at first; *next is scratch. */
static hearth_status select_nodes(hearth_leaf *leaf, const uint64_t *ids, size_t n, node_list *ret, node_list *next,
                                  hearth_error *err) {
  for (size_t i = 0; i < n; i++) {
    next->count = 0;
    for (size_t k = 0; k < ret->count; k++)
      if (leaf->nodes[ret->items[k]].ends)
        HEARTH_TRY(add_node(next, ret->items[k], err));
      else
        HEARTH_TRY(select_children(leaf, ret->items[k], ids[i], next, err));
    node_list last = *ret;
    *ret = *next;
    *next = last;
  }
  return HEARTH_OK;
}

/* -------------------------------------------------- trimming -------------------------------------------------- */

static hearth_status add_context(const hearth_leaf *leaf, uint32_t stack, size_t depth, hearth_contexts *ret,
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

static hearth_status add_stack(const hearth_leaf *leaf, const hearth_leaf_stack *stack, hearth_context *to,
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
    HEARTH_TRY(add_stack(leaf, &leaf->stacks[node->first + i], &ret->items[ret->count - 1], err));
  return HEARTH_OK;
}

static bool one_class(uint8_t classes) { return (classes & (classes - 1)) == 0; }

enum { COLD = 1 << HEARTH_CLASS_COLD };

/* Is whatever is not cold one class at a call that has contexts of the classes `all`? */
static bool only_cold_counts(uint8_t all, hearth_trim trim) { return trim == HEARTH_TRIM_BY_COLD && (all & COLD); }

/* Need contexts of these classes not be told apart there? */
static bool agree(uint8_t classes, uint8_t all, hearth_trim trim) {
  return one_class(classes) || (only_cold_counts(all, trim) && !(classes & COLD));
}

/* `classes`: of all that is merged into the last context. Where they differ and need to be told apart, it is one stack all
 * the same (of unknown frames): the sum decides. */
static void classify(const hearth_leaf *leaf, uint8_t classes, uint8_t all, hearth_trim trim,
                     hearth_contexts *contexts) {
  hearth_context *last = &contexts->items[contexts->count - 1];
  if (one_class(classes))
    last->hotness = (hearth_class)__builtin_ctz(classes);
  else
    last->hotness = agree(classes, all, trim) ? HEARTH_CLASS_NOTCOLD : hearth_classify(leaf->classifier, &last->mib);
  if (last->hotness == HEARTH_CLASS_UNKNOWN)
    last->hotness = HEARTH_CLASS_NOTCOLD;
}

/* All nodes as one context of no callers. */
static hearth_status emit_together(const hearth_leaf *leaf, const node_list *nodes, uint8_t classes,
                                   hearth_contexts *ret, hearth_error *err) {
  HEARTH_TRY(add_context(leaf, HEARTH_NONE, 0, ret, err));
  for (size_t i = 0; i < nodes->count; i++)
    HEARTH_TRY(sum_node(leaf, &leaf->nodes[nodes->items[i]], ret, err));
  classify(leaf, classes, classes, HEARTH_TRIM_BY_CLASS, ret);
  return HEARTH_OK;
}

/* The child that stands for all of them that are not cold: callers that are not named get the original of a function that is
 * cloned, so one is enough to say that it stays, and one among a child's own children says it, too. NULL: none is needed. */
static const hearth_leaf_node *select_not_cold(const hearth_leaf_node *children, uint32_t count) {
  const hearth_leaf_node *first = NULL;
  for (const hearth_leaf_node *child = children; child < children + count; child++) {
    if ((child->classes & COLD) && child->classes != COLD && !child->ends)
      return NULL;
    if (!first && !(child->classes & COLD))
      first = child;
  }
  return first;
}

/* May folding have left calls out between the frames of a node and those of its children? Which callers led there is then
 * known, but not through how many turns of a cycle; clones follow calls one by one, and would lead the later turns
 * elsewhere. A function that calls itself need not have been left out anywhere: its call stands once for any number. */
static hearth_status may_come_back(const hearth_leaf *leaf, const hearth_leaf_node *node, bool *ret,
                                   hearth_error *err) {
  const hearth_leaf_node *child = &leaf->nodes[node->first_child], *end = child + node->child_count;
  HEARTH_TRY(hearth_stacks_comes_back(leaf->folded, node->function, ret, err));
  for (; child < end && !*ret; child++)
    *ret = !child->ends && child->function == node->function;
  return HEARTH_OK;
}

/* A node as a context for each class, all of the node's frames: nothing is to tell them apart by their callers. */
static hearth_status emit_by_class(const hearth_leaf *leaf, const hearth_leaf_node *node, bool only_cold,
                                   hearth_contexts *ret, hearth_error *err) {
  mark_matched(leaf, node);
  uint8_t left = node->classes, others = only_cold ? (uint8_t)(left & ~COLD) : 0;
  while (left) {
    uint8_t one = (uint8_t)(left & -left), together = one & others ? others : one;
    HEARTH_TRY(add_context(leaf, leaf->stacks[node->first].stack, node->depth, ret, err));
    hearth_context *context = &ret->items[ret->count - 1];
    context->hotness = one & others ? HEARTH_CLASS_NOTCOLD : (hearth_class)__builtin_ctz(one);
    for (uint32_t i = 0; i < node->count; i++)
      if (together >> leaf->stacks[node->first + i].hotness & 1)
        HEARTH_TRY(add_stack(leaf, &leaf->stacks[node->first + i], context, err));
    left &= (uint8_t)~together;
  }
  return HEARTH_OK;
}

/* The children of a node, the last one first. */
static hearth_status add_children(const hearth_leaf *leaf, uint32_t number, bool only_cold, node_list *ret,
                                  hearth_error *err) {
  uint32_t first = leaf->nodes[number].first_child, count = leaf->nodes[number].child_count;
  const hearth_leaf_node *not_cold = only_cold ? select_not_cold(&leaf->nodes[first], count) : NULL;
  for (uint32_t i = first + count; i-- > first;) {
    const hearth_leaf_node *child = &leaf->nodes[i];
    if (only_cold && !(child->classes & COLD) && child != not_cold)
      mark_matched(leaf, child);
    else
      HEARTH_TRY(add_node(ret, i, err));
  }
  return HEARTH_OK;
}

/* A list of nodes from the last on, each replaced by its children until their classes agree; `all`: those of the call. */
static hearth_status emit_apart(hearth_leaf *leaf, node_list *nodes, uint8_t all, hearth_trim trim,
                                hearth_contexts *ret, hearth_error *err) {
  while (nodes->count > 0) {
    uint32_t number = nodes->items[--nodes->count];
    if (leaf->nodes[number].ends || (agree(leaf->nodes[number].classes, all, trim) && trim != HEARTH_TRIM_OFF)) {
      const hearth_leaf_node *node = &leaf->nodes[number];
      HEARTH_TRY(add_context(leaf, leaf->stacks[node->first].stack, node->depth, ret, err));
      HEARTH_TRY(sum_node(leaf, node, ret, err));
      classify(leaf, node->classes, all, trim, ret);
      continue;
    }
    bool comes_back = false, differ = !agree(leaf->nodes[number].classes, all, trim);
    HEARTH_TRY(hearth_leaf_grow(leaf, number, err));
    if (differ)
      HEARTH_TRY(may_come_back(leaf, &leaf->nodes[number], &comes_back, err));
    if (comes_back)
      HEARTH_TRY(emit_by_class(leaf, &leaf->nodes[number], only_cold_counts(all, trim), ret, err));
    else
      HEARTH_TRY(add_children(leaf, number, only_cold_counts(all, trim), nodes, err));
  }
  return HEARTH_OK;
}

hearth_status hearth_leaf_select(hearth_leaf *leaf, const uint64_t *ids, size_t n, hearth_trim trim,
                                 hearth_contexts *ret, hearth_error *err) {
  node_list nodes = {0}, scratch = {0};
  uint8_t classes = 0;
  hearth_status status = add_node(&nodes, 0, err);
  if (status == HEARTH_OK)
    status = select_nodes(leaf, ids, n, &nodes, &scratch, err);
  for (size_t i = 0; i < nodes.count; i++)
    classes |= leaf->nodes[nodes.items[i]].classes;
  classes = hearth_leaf_classes_that_count(classes);
  if (status == HEARTH_OK && classes && one_class(classes) && trim != HEARTH_TRIM_OFF)
    status = emit_together(leaf, &nodes, classes, ret, err);
  else if (status == HEARTH_OK && classes) {
    for (size_t i = 0; i < nodes.count / 2; i++) { /* the list is emptied from its end */
      uint32_t other = nodes.items[nodes.count - 1 - i];
      nodes.items[nodes.count - 1 - i] = nodes.items[i];
      nodes.items[i] = other;
    }
    status = emit_apart(leaf, &nodes, classes, trim, ret, err);
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
    if (contexts->items[i].hotness != contexts->items[0].hotness)
      return true;
  return false;
}
