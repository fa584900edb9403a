/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Second step of planning: allocation calls with cold contexts and others. Where contexts agree the compiler gives the
 * hint. */
#include <stdlib.h>

#include "planner.h"

#define CONTEXTS_MAX 100000u /* of all allocation calls but the one that matters most */

static hearth_status leaf_add_contexts(planner *p, uint32_t frame) {
  const writer *w = p->w;
  for (uint32_t i = plan_first_row(p, frame); i < w->context_ends[frame]; i++) {
    const plan_row *row = &p->rows[i];
    if (row->is_light)
      continue;
    HEARTH_TRY(hearth_rows_reserve(&p->contexts, &p->context_room, p->context_count, 1, sizeof *p->contexts, p->err));
    p->contexts[p->context_count++] = (plan_context){.caller = w->parents[w->leaves[w->contexts.order[i]]],
                                                     .bytes = row->bytes,
                                                     .allocs = row->allocs,
                                                     .accesses = row->accesses,
                                                     .is_cold = plan_lies_apart(p->placements[i])};
  }
  return HEARTH_OK;
}

/* Contexts of one allocation call that do not lie apart share a placement, unless it has no pool id and classes are
 * all that is known: then most of their bytes decide. The others share one, too. */
static void set_placements(const planner *p, size_t first, size_t end, plan_leaf *leaf) {
  uint64_t bytes[HEARTH_PLACEMENTS] = {0};
  leaf->warm = HEARTH_CLASS_NOTCOLD;
  leaf->cold = HEARTH_CLASS_COLD;
  for (size_t k = first; k < end; k++) {
    uint32_t frame = p->leaf_frames[k].frame;
    for (uint32_t i = plan_first_row(p, frame); i < p->w->context_ends[frame]; i++) {
      bytes[p->placements[i]] += p->rows[i].bytes;
      if (p->placements[i] == HEARTH_PLACEMENT_DORMANT)
        leaf->cold = HEARTH_PLACEMENT_DORMANT;
    }
  }
  for (hearth_placement i = HEARTH_CLASS_NOTCOLD; i < HEARTH_PLACEMENT_DORMANT; i++)
    leaf->warm = bytes[i] > bytes[leaf->warm] ? i : leaf->warm;
}

static bool leaf_contexts_differ(const planner *p, const plan_leaf *leaf) {
  const plan_context *contexts = p->contexts + leaf->first_context;
  for (size_t i = 1; i < leaf->context_count; i++)
    if (contexts[i].is_cold != contexts[0].is_cold)
      return true;
  return false;
}

static hearth_status add_leaves(planner *p) {
  for (size_t i = 0, end; i < p->leaf_frame_count; i = end) {
    size_t first = p->context_count;
    end = hearth_plan_end_of_leaf(p, i);
    if (p->leaf_frames[i].id == 0)
      continue;
    for (size_t k = i; k < end; k++)
      HEARTH_TRY(leaf_add_contexts(p, p->leaf_frames[k].frame));
    plan_leaf leaf = {.stack_id = p->leaf_frames[i].id,
                      .frame = p->leaf_frames[i].frame,
                      .first_context = (uint32_t)first,
                      .context_count = (uint32_t)(p->context_count - first)};
    set_placements(p, i, end, &leaf);
    if (!leaf_contexts_differ(p, &leaf)) {
      p->context_count = first;
      continue;
    }
    HEARTH_TRY(hearth_rows_reserve(&p->leaves, &p->leaf_room, p->leaf_count, 1, sizeof *p->leaves, p->err));
    plan_sums all = {0};
    for (size_t k = first; k < p->context_count; k++)
      plan_add_context(&all, &p->contexts[k]);
    leaf.is_cold = plan_is_mostly_cold(p, &all);
    p->leaves[p->leaf_count++] = leaf;
  }
  return HEARTH_OK;
}

static uint64_t at_stake(const planner *p, const plan_leaf *leaf) {
  uint64_t weights[2] = {0};
  for (uint32_t i = 0; i < leaf->context_count; i++) {
    const plan_context *context = &p->contexts[leaf->first_context + i];
    weights[context->is_cold] += plan_context_weight(p, context);
  }
  return weights[0] < weights[1] ? weights[0] : weights[1];
}

static int compare_by_stake(const void *a, const void *b) {
  const plan_leaf *x = a, *y = b;
  return x->at_stake != y->at_stake ? (x->at_stake < y->at_stake) - (x->at_stake > y->at_stake)
                                    : (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

/* Of a profile with very many contexts, the allocation calls whose hints matter most, so that planning takes no longer
 * than indexing. */
static void keep_what_matters(planner *p) {
  size_t kept = 0, contexts = 0;
  if (p->context_count <= CONTEXTS_MAX)
    return;
  for (size_t i = 0; i < p->leaf_count; i++)
    p->leaves[i].at_stake = at_stake(p, &p->leaves[i]);
  qsort(p->leaves, p->leaf_count, sizeof *p->leaves, compare_by_stake);
  while (kept < p->leaf_count && (kept == 0 || contexts + p->leaves[kept].context_count <= CONTEXTS_MAX))
    contexts += p->leaves[kept++].context_count;
  p->leaf_count = kept;
  qsort(p->leaves, p->leaf_count, sizeof *p->leaves, hearth_compare_u64);
}

hearth_status hearth_plan_find_leaves(planner *p) {
  HEARTH_TRY(add_leaves(p));
  keep_what_matters(p);
  return HEARTH_OK;
}
