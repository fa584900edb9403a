/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Contexts are sorted by folded stack, so that equal ones are neighbours and summed. The tree of callers is grown on
 * demand: a node's stacks are sorted by their next frame, and each range of equal frames is a child. */
#include "match.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/expect.h"

/* -------------------------------------------------- reading -------------------------------------------------- */

/* Each as the folded stack of its leaf's callers << 32 | its row. */
static hearth_status leaf_read_frame(hearth_leaf *leaf, const hearth_frame_info *frame, uint64_t *ret,
                                     hearth_error *err) {
  for (uint32_t i = 0; i < frame->context_count; i++) {
    uint32_t node, row, caller, stack = HEARTH_NONE;
    HEARTH_TRY(hearth_profile_get_context(leaf->folded->profile, frame->first_context + i, &node, NULL, err));
    HEARTH_TRY(hearth_profile_get_stack(leaf->folded->profile, node, &row, &caller, err));
    if (caller != HEARTH_NONE)
      HEARTH_TRY(hearth_stacks_fold(leaf->folded, caller, &stack, err));
    ret[i] = (uint64_t)stack << 32 | (frame->first_context + i);
  }
  return HEARTH_OK;
}

/* *ret is the caller's, also after an error. */
static hearth_status read_contexts(hearth_leaf *leaf, uint64_t **ret, hearth_error *err) {
  size_t room = 0;
  for (uint32_t row = leaf->frames.first; row < leaf->frames.end; row++) {
    hearth_frame_info frame;
    HEARTH_TRY(hearth_profile_get_frame(leaf->folded->profile, row, &frame, err));
    /* One more: never NULL, also if no frame has contexts. */
    if (!hearth_array_reserve(ret, &room, leaf->row_count, (size_t)frame.context_count + 1, sizeof **ret))
      return hearth_error_nomem(err);
    HEARTH_TRY(leaf_read_frame(leaf, &frame, *ret + leaf->row_count, err));
    leaf->row_count += frame.context_count;
  }
  return HEARTH_OK;
}

hearth_status hearth_leaf_sum(const hearth_leaf *leaf, const hearth_leaf_stack *stack, hearth_mib *ret,
                              hearth_error *err) {
  if (stack->row_count > 1) {
    *ret = leaf->sums[stack->sum];
    return HEARTH_OK;
  }
  return hearth_profile_get_context(leaf->folded->profile, leaf->rows[stack->first_row], NULL, ret, err);
}

static uint64_t id_at(const hearth_leaf *leaf, uint32_t node) {
  return node == HEARTH_NONE ? 0 : leaf->folded->nodes[node].id;
}

/* Equal stacks become one; `contexts` is sorted. */
static hearth_status leaf_add_stacks(hearth_leaf *leaf, const uint64_t *contexts, hearth_error *err) {
  size_t distinct = 0;
  for (size_t i = 0; i < leaf->row_count; i++)
    distinct += i == 0 || contexts[i] >> 32 != contexts[i - 1] >> 32;
  leaf->rows = malloc((leaf->row_count + 1) * sizeof *leaf->rows);
  leaf->stacks = malloc((distinct + 1) * sizeof *leaf->stacks);
  if (!leaf->rows || !leaf->stacks)
    return hearth_error_nomem(err);
  for (size_t i = 0; i < leaf->row_count; i++) {
    uint32_t node = (uint32_t)(contexts[i] >> 32);
    if (i == 0 || node != (uint32_t)(contexts[i - 1] >> 32))
      leaf->stacks[leaf->stack_count++] =
          (hearth_leaf_stack){.id = id_at(leaf, node), .stack = node, .at = node, .first_row = (uint32_t)i};
    hearth_leaf_stack *stack = &leaf->stacks[leaf->stack_count - 1];
    if (++stack->row_count == 2)
      stack->sum = (uint32_t)leaf->sum_count++;
    leaf->rows[i] = (uint32_t)contexts[i];
  }
  leaf->sums = calloc(leaf->sum_count + 1, sizeof *leaf->sums);
  return leaf->sums ? HEARTH_OK : hearth_error_nomem(err);
}

/* Only whether the node is behind matters to the search, which runs once for each context. */
static int is_behind(const void *node, const void *stack) {
  return *(const uint32_t *)node > ((const hearth_leaf_stack *)stack)->stack;
}

/* As they were added: ascending by node. It is there. */
static hearth_leaf_stack *stack_at(const hearth_leaf *leaf, uint32_t node) {
  return &leaf->stacks[hearth_lower_bound(&node, leaf->stacks, leaf->stack_count, sizeof *leaf->stacks, is_behind)];
}

/* Bytes by placement of what one sum is of. */
typedef struct shares {
  uint64_t bytes[HEARTH_PLACEMENTS];
} shares;

static void place_stack(hearth_leaf_stack *stack, hearth_place place) {
  stack->placement = place.placement;
  stack->is_light = place.is_light;
}

/* The numbers of a stack are summed once if they are those of several contexts; else the profile has them.
 * `contexts` is in the order of the profile, which keeps numbers of neighbours together. */
static hearth_status sum_and_place(hearth_leaf *leaf, const uint64_t *contexts, shares *of_sums, hearth_error *err) {
  for (size_t i = 0; i < leaf->row_count; i++) {
    uint32_t row = (uint32_t)contexts[i];
    hearth_leaf_stack *stack = stack_at(leaf, (uint32_t)(contexts[i] >> 32));
    hearth_mib mib;
    HEARTH_TRY(hearth_profile_get_context(leaf->folded->profile, row, NULL, &mib, err));
    hearth_place placed = hearth_place_context(leaf->placer, row, &mib);
    place_stack(stack, placed);
    leaf->has_dormant |= placed.is_dormant;
    if (stack->row_count == 1)
      continue;
    hearth_mib_merge(&leaf->sums[stack->sum], &mib);
    if (!placed.is_light)
      of_sums[stack->sum].bytes[placed.placement] += mib.TotalSize + 1; /* blocks of no size have a place, too */
  }
  for (size_t i = 0; i < leaf->stack_count; i++) {
    hearth_leaf_stack *stack = &leaf->stacks[i];
    if (stack->row_count > 1)
      place_stack(stack, hearth_place_sum(leaf->placer, &leaf->sums[stack->sum], of_sums[stack->sum].bytes));
  }
  return HEARTH_OK;
}

static hearth_status place_stacks(hearth_leaf *leaf, const uint64_t *contexts, hearth_error *err) {
  shares *of_sums = calloc(leaf->sum_count + 1, sizeof *of_sums);
  hearth_status status = of_sums ? sum_and_place(leaf, contexts, of_sums, err) : hearth_error_nomem(err);
  free(of_sums);
  return status;
}

/* -------------------------------------------------- growing -------------------------------------------------- */

/* Placements of light stacks: they count if the stacks have weight together. The plan has placements for them. */
static hearth_status placements_of_light(const hearth_leaf *leaf, const hearth_leaf_node *node, uint64_t *ret,
                                         hearth_error *err) {
  hearth_mib sum = {0};
  *ret = 0;
  for (uint32_t i = 0; i < node->count; i++) {
    const hearth_leaf_stack *stack = &leaf->stacks[node->first + i];
    hearth_mib mib;
    if (!stack->is_light)
      continue;
    HEARTH_TRY(hearth_leaf_sum(leaf, stack, &mib, err));
    hearth_mib_merge(&sum, &mib);
    *ret |= hearth_placement_bit(stack->placement);
  }
  if (*ret && !hearth_has_weight(&leaf->placer->classifier, &sum))
    *ret = hearth_placement_bit(HEARTH_CLASS_UNKNOWN);
  return HEARTH_OK;
}

static hearth_status leaf_add_node(hearth_leaf *leaf, hearth_leaf_node node, hearth_error *err) {
  uint64_t light;
  hearth_expect(node.first + node.count <= leaf->stack_count);
  if (!hearth_array_grow(&leaf->nodes, &leaf->node_room, leaf->node_count, sizeof *leaf->nodes))
    return hearth_error_nomem(err);
  for (uint32_t i = 0; i < node.count; i++)
    if (!leaf->stacks[node.first + i].is_light)
      node.placements |= hearth_placement_bit(leaf->stacks[node.first + i].placement);
  HEARTH_TRY(placements_of_light(leaf, &node, &light, err));
  node.placements = hearth_leaf_placements_that_count(node.placements | light);
  leaf->nodes[leaf->node_count++] = node;
  return HEARTH_OK;
}

/* Stacks that end come first, then by caller. */
static int by_caller(const void *a, const void *b) {
  const hearth_leaf_stack *x = a, *y = b;
  if ((x->at == HEARTH_NONE) != (y->at == HEARTH_NONE))
    return x->at == HEARTH_NONE ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

hearth_status hearth_leaf_grow(hearth_leaf *leaf, uint32_t parent, hearth_error *err) {
  hearth_expect(parent < leaf->node_count);
  hearth_leaf_node node = leaf->nodes[parent];
  hearth_leaf_stack *stacks = leaf->stacks + node.first;
  if (node.ends || node.child_count)
    return HEARTH_OK;
  for (uint32_t i = 1; i < node.count; i++)
    if (by_caller(&stacks[i - 1], &stacks[i]) > 0) {
      qsort(stacks, node.count, sizeof *stacks, by_caller);
      break;
    }
  uint32_t first_child = (uint32_t)leaf->node_count;
  for (uint32_t i = 0, end; i < node.count; i = end) {
    for (end = i + 1; end < node.count && by_caller(&stacks[i], &stacks[end]) == 0; end++)
      ;
    bool ends = stacks[i].at == HEARTH_NONE;
    hearth_leaf_node child = {.id = stacks[i].id,
                              .frame = ends ? node.frame : leaf->folded->nodes[stacks[i].at].frame,
                              .function = ends ? node.function : leaf->folded->nodes[stacks[i].at].function,
                              .first = node.first + i,
                              .count = end - i,
                              .depth = node.depth + !ends,
                              .ends = ends};
    for (uint32_t k = i; k < end && !ends; k++) {
      stacks[k].at = leaf->folded->nodes[stacks[k].at].caller;
      stacks[k].id = id_at(leaf, stacks[k].at);
    }
    HEARTH_TRY(leaf_add_node(leaf, child, err));
  }
  leaf->nodes[parent].first_child = first_child;
  leaf->nodes[parent].child_count = (uint32_t)leaf->node_count - first_child;
  return HEARTH_OK;
}

static hearth_status plant(hearth_leaf *leaf, hearth_error *err) {
  hearth_frame_info frame;
  HEARTH_TRY(hearth_profile_get_frame(leaf->folded->profile, leaf->frames.first, &frame, err));
  hearth_leaf_node root = {
      .frame = leaf->frames.first, .function = frame.function, .count = (uint32_t)leaf->stack_count};
  return leaf_add_node(leaf, root, err);
}

/* *contexts and *sorted are the caller's, also after an error. */
static hearth_status leaf_fill(hearth_leaf *leaf, uint64_t **contexts, uint64_t **sorted, hearth_error *err) {
  HEARTH_TRY(read_contexts(leaf, contexts, err));
  *sorted = malloc((leaf->row_count + 1) * sizeof **sorted);
  if (!*sorted)
    return hearth_error_nomem(err);
  memcpy(*sorted, *contexts, leaf->row_count * sizeof **sorted);
  qsort(*sorted, leaf->row_count, sizeof **sorted, hearth_compare_u64);
  HEARTH_TRY(leaf_add_stacks(leaf, *sorted, err));
  HEARTH_TRY(place_stacks(leaf, *contexts, err));
  return plant(leaf, err);
}

hearth_status hearth_leaf_read(hearth_row_range frames, hearth_stacks *folded, const hearth_placer *placer,
                               bool *matched, hearth_leaf **ret, hearth_error *err) {
  uint64_t *contexts = NULL, *sorted = NULL;
  hearth_leaf *leaf = calloc(1, sizeof *leaf);
  if (!leaf)
    return hearth_error_nomem(err);
  *leaf = (hearth_leaf){.frames = frames, .folded = folded, .placer = placer, .matched = matched};
  hearth_status status = leaf_fill(leaf, &contexts, &sorted, err);
  free(sorted);
  free(contexts);
  if (status == HEARTH_OK)
    *ret = leaf;
  else
    hearth_leaf_destroy(leaf);
  return status;
}

void hearth_leaf_destroy(hearth_leaf *leaf) {
  if (!leaf)
    return;
  free(leaf->rows);
  free(leaf->stacks);
  free(leaf->sums);
  free(leaf->nodes);
  free(leaf->calls);
  free(leaf);
}

/* -------------------------------------------------- recursion -------------------------------------------------- */

/* Every call between functions in the stacks, once. */
static hearth_status collect_calls(hearth_leaf *leaf, hearth_error *err) {
  const hearth_stacks *folded = leaf->folded;
  bool *seen = calloc(folded->count + 1, sizeof *seen);
  leaf->calls = malloc((folded->count + 1) * sizeof *leaf->calls);
  if (!seen || !leaf->calls) {
    free(seen);
    return hearth_error_nomem(err);
  }
  for (size_t i = 0; i < leaf->stack_count; i++)
    for (uint32_t node = leaf->stacks[i].stack; node != HEARTH_NONE && !seen[node]; node = folded->nodes[node].caller) {
      uint32_t caller = folded->nodes[node].caller;
      seen[node] = true;
      if (caller != HEARTH_NONE)
        leaf->calls[leaf->call_count++] = (uint64_t)folded->nodes[caller].function << 32 | folded->nodes[node].function;
    }
  free(seen);
  leaf->call_count = hearth_sort_distinct_u64(leaf->calls, leaf->call_count);
  return HEARTH_OK;
}

/* Position of the first call by `caller`, or of where it would be. */
static size_t first_call(const hearth_leaf *leaf, uint32_t caller) {
  uint64_t key = (uint64_t)caller << 32;
  return hearth_lower_bound(&key, leaf->calls, leaf->call_count, sizeof key, hearth_compare_u64);
}

hearth_status hearth_leaf_leads_to(hearth_leaf *leaf, uint32_t from, uint32_t to, bool *ret, hearth_error *err) {
  *ret = from == to;
  if (*ret)
    return HEARTH_OK;
  if (!leaf->calls)
    HEARTH_TRY(collect_calls(leaf, err));
  bool *reached = calloc((size_t)hearth_profile_function_count(leaf->folded->profile) + 1, sizeof *reached);
  uint32_t *waiting = malloc((leaf->call_count + 1) * sizeof *waiting);
  size_t count = 0;
  if (!reached || !waiting) {
    free(reached);
    free(waiting);
    return hearth_error_nomem(err);
  }
  reached[from] = true;
  waiting[count++] = from;
  while (count > 0 && !reached[to]) {
    uint32_t caller = waiting[--count];
    for (size_t i = first_call(leaf, caller); i < leaf->call_count && leaf->calls[i] >> 32 == caller; i++) {
      uint32_t callee = (uint32_t)leaf->calls[i];
      if (!reached[callee])
        waiting[count++] = callee;
      reached[callee] = true;
    }
  }
  *ret = reached[to];
  free(reached);
  free(waiting);
  return HEARTH_OK;
}
