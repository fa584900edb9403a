/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Second step of planning: allocation calls with cold contexts and others, and the call sites at which these part.
 * By refinement: the contexts of an allocation call are sorted by their next caller; contexts that share it and
 * differ in place are refined further, up to a limit of steps. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "compare.h"
#include "planner.h"

#define DEPTH_MAX      256u               /* callers looked at from an allocation outwards */
#define WORK_MAX       UINT64_C(50000000) /* steps: a profile that needs more gets a plan of the part seen until then */
#define CONTEXTS_MAX   100000u            /* of all allocation calls but the one that matters most */
#define REFINED_MAX    16384u             /* contexts of one leaf that are looked at: of more, evenly spaced ones */
#define CHAIN_MAX      64u                /* candidates among the callers that contexts of one place share */
#define CANDIDATES_MAX 4096u              /* that most bytes go through */

/* -------------------------------------------------- leaves -------------------------------------------------- */

static hearth_status candidate_add_contexts(planner *p, uint32_t frame) {
  const writer *w = p->w;
  for (uint32_t i = plan_first_row(p, frame); i < w->context_ends[frame]; i++) {
    const plan_row *row = &p->rows[i];
    uint32_t caller = w->parents[w->leaves[w->contexts.order[i]]];
    if (row->is_light)
      continue;
    HEARTH_TRY(hearth_rows_reserve(&p->contexts, &p->context_room, p->context_count, 1, sizeof *p->contexts, p->err));
    p->contexts[p->context_count++] =
        (plan_context){.node = caller,
                       .caller = caller,
                       .bytes = row->bytes,
                       .allocs = row->allocs,
                       .accesses = row->accesses,
                       .place = plan_lies_apart(p->placements[i]) ? PLAN_COLD : PLAN_WARM};
  }
  return HEARTH_OK;
}

/* Contexts of one allocation call that do not lie apart share a placement, unless it has no pool id and classes are all that is
 * known: then most of their bytes decide. The others share one, too. */
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

static bool differ(const plan_context *contexts, size_t count) {
  for (size_t i = 1; i < count; i++)
    if (contexts[i].place != contexts[0].place)
      return true;
  return false;
}

/* Does an allocation call need a table? Where its contexts agree the compiler gives the hint. */
static bool needs_table(const planner *p, const plan_leaf *leaf) {
  return differ(p->contexts + leaf->first_context, leaf->context_count);
}

static hearth_status add_leaves(planner *p) {
  for (size_t i = 0, end; i < p->leaf_frame_count; i = end) {
    size_t first = p->context_count;
    end = hearth_plan_end_of_leaf(p, i);
    if (p->leaf_frames[i].id == 0)
      continue;
    for (size_t k = i; k < end; k++)
      HEARTH_TRY(candidate_add_contexts(p, p->leaf_frames[k].frame));
    plan_leaf leaf = {.stack_id = p->leaf_frames[i].id,
                      .frame = p->leaf_frames[i].frame,
                      .first_context = (uint32_t)first,
                      .context_count = (uint32_t)(p->context_count - first)};
    set_placements(p, i, end, &leaf);
    if (!needs_table(p, &leaf)) {
      p->context_count = first;
      continue;
    }
    HEARTH_TRY(hearth_rows_reserve(&p->leaves, &p->leaf_room, p->leaf_count, 1, sizeof *p->leaves, p->err));
    p->leaves[p->leaf_count++] = leaf;
  }
  return HEARTH_OK;
}

static uint64_t at_stake(const planner *p, const plan_leaf *leaf) {
  plan_sums sums = {0};
  for (uint32_t i = 0; i < leaf->context_count; i++)
    plan_add_context(p, &sums, &p->contexts[leaf->first_context + i]);
  return sums.weights[PLAN_WARM] < sums.weights[PLAN_COLD] ? sums.weights[PLAN_WARM] : sums.weights[PLAN_COLD];
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

/* ------------------------------------------------- spots ---------------------------------------------------- */

/* While contexts are refined, each stack id is a spot, a row of the candidates. Spots at which no contexts part are
 * dropped in the end. Row 0 stands for frames at unknown places. */
typedef struct refining {
  planner *p;
  uint32_t *spots;         /* of each frame */
  uint32_t *counts;        /* of each spot: contexts of the group that is sorted; 0 between two sorts */
  uint32_t *met;           /* scratch: spots of that group */
  plan_context *looked_at; /* of the leaf at hand */
  plan_context *sorted;    /* scratch: that group */
  uint64_t work;           /* steps that are left */
} refining;

static uint32_t rank_of(const uint64_t *ids, size_t count, uint64_t id) {
  return (uint32_t)((const uint64_t *)bsearch(&id, ids, count, sizeof *ids, hearth_compare_u64) - ids);
}

static hearth_status make_spots(refining *r) {
  planner *p = r->p;
  size_t frames = p->w->frames.count;
  uint64_t *ids = calloc(frames + 1, sizeof *ids); /* one more, which is 0 */
  r->spots = calloc(frames + 1, sizeof *r->spots);
  r->counts = calloc(frames + 1, sizeof *r->counts);
  r->met = calloc(frames + 1, sizeof *r->met);
  r->looked_at = malloc(REFINED_MAX * sizeof *r->looked_at);
  r->sorted = malloc(REFINED_MAX * sizeof *r->sorted);
  p->candidates = calloc(frames + 1, sizeof *p->candidates);
  if (!ids || !r->spots || !r->counts || !r->met || !r->looked_at || !r->sorted || !p->candidates) {
    free(ids);
    return hearth_error_nomem(p->err);
  }
  memcpy(ids, p->stack_ids, frames * sizeof *ids);
  p->candidate_count = hearth_sort_distinct_u64(ids, frames + 1);
  for (size_t i = 0; i < p->candidate_count; i++)
    p->candidates[i] = (plan_candidate){.stack_id = ids[i], .frame = HEARTH_NONE};
  for (size_t i = 0; i < frames; i++)
    r->spots[i] = rank_of(ids, p->candidate_count, p->stack_ids[i]);
  free(ids);
  return HEARTH_OK;
}

static void free_spots(refining *r) {
  free(r->spots);
  free(r->counts);
  free(r->met);
  free(r->looked_at);
  free(r->sorted);
}

/* ------------------------------------------------ candidates ------------------------------------------------ */

/* Cold contexts go through it: bits tell of nothing else. */
static void add_candidate(refining *r, uint32_t frame, uint64_t bytes, uint32_t depth) {
  plan_candidate *c = &r->p->candidates[r->spots[frame]];
  c->bytes += bytes;
  c->depth = c->depth > depth ? c->depth : depth;
  c->frame = c->frame < frame ? c->frame : frame;
}

static uint64_t candidate_bytes_of(const plan_context *contexts, size_t count) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; i++)
    bytes += contexts[i].bytes;
  return bytes;
}

/* The callers, from the next one outwards, that all these contexts share; their number. */
static uint32_t shared_callers(refining *r, const plan_context *contexts, size_t count, uint32_t frames[CHAIN_MAX]) {
  const writer *w = r->p->w;
  uint32_t nodes[CHAIN_MAX], length = 0;
  for (uint32_t node = contexts[0].node; node != HEARTH_NONE && length < CHAIN_MAX; node = w->parents[node]) {
    nodes[length] = node;
    frames[length++] = w->node_frames[node];
  }
  for (size_t i = 1; i < count; i++) {
    uint32_t node = contexts[i].node, same = 0;
    for (; same < length && node != nodes[same]; same++) {
      if (node == HEARTH_NONE || w->node_frames[node] != frames[same])
        length = same;
      else
        node = w->parents[node];
    }
    r->work -= r->work > same ? same : r->work;
  }
  return length;
}

/* All calls that contexts share from where they are known to be cold tell of them equally well, and the outer ones run less
 * often. */
static void add_shared_callers(refining *r, const plan_context *contexts, size_t count, uint32_t depth) {
  uint32_t frames[CHAIN_MAX], length = shared_callers(r, contexts, count, frames);
  uint64_t bytes = candidate_bytes_of(contexts, count);
  for (uint32_t i = 0; i < length; i++)
    add_candidate(r, frames[i], bytes, depth + i);
}

/* Contexts by spot: a stable counting sort, as they are many and spots few. */
static void sort_by_spot(refining *r, plan_context *contexts, size_t count) {
  uint32_t met = 0, start = 0;
  for (size_t i = 0; i < count; i++)
    if (r->counts[contexts[i].spot]++ == 0)
      r->met[met++] = contexts[i].spot;
  if (met > 1) {
    qsort(r->met, met, sizeof *r->met, hearth_compare_u32);
    for (uint32_t i = 0; i < met; i++) {
      uint32_t own = r->counts[r->met[i]];
      r->counts[r->met[i]] = start;
      start += own;
    }
    memcpy(r->sorted, contexts, count * sizeof *contexts);
    for (size_t i = 0; i < count; i++)
      contexts[r->counts[r->sorted[i].spot]++] = r->sorted[i];
  }
  for (uint32_t i = 0; i < met; i++)
    r->counts[r->met[i]] = 0;
}

/* Moves each context to its next caller. False if none has one. */
static bool step_outwards(refining *r, plan_context *contexts, size_t count, uint32_t depth) {
  const writer *w = r->p->w;
  bool more = false;
  for (size_t i = 0; i < count; i++) {
    plan_context *context = &contexts[i];
    context->spot = 0;
    if (context->node == HEARTH_NONE)
      continue;
    uint32_t frame = w->node_frames[context->node];
    context->node = w->parents[context->node];
    context->spot = r->spots[frame];
    if (context->place == PLAN_COLD)
      add_candidate(r, frame, context->bytes, depth);
    more = true;
  }
  return more;
}

/* Contexts that have come the same way so far, and differ. */
static void candidate_refine(refining *r, plan_context *contexts, size_t count, uint32_t depth) {
  if (depth >= DEPTH_MAX || r->work < count)
    return;
  r->work -= count;
  if (!step_outwards(r, contexts, count, depth))
    return;
  sort_by_spot(r, contexts, count);
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i; end < count && contexts[end].spot == contexts[i].spot; end++)
      ;
    if (differ(contexts + i, end - i))
      candidate_refine(r, contexts + i, end - i, depth + 1);
    else if (contexts[i].place == PLAN_COLD)
      add_shared_callers(r, contexts + i, end - i, depth + 1);
  }
}

static int compare_by_bytes(const void *a, const void *b) {
  const plan_candidate *x = a, *y = b;
  return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes)
                              : (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

/* Keep candidates at which contexts part, and no more than can be weighed. */
static void keep_candidates(planner *p) {
  size_t kept = 0;
  for (size_t i = 1; i < p->candidate_count; i++)
    if (p->candidates[i].frame != HEARTH_NONE && p->may_be_site[p->candidates[i].frame])
      p->candidates[kept++] = p->candidates[i];
  p->candidate_count = kept;
  if (kept <= CANDIDATES_MAX)
    return;
  qsort(p->candidates, kept, sizeof *p->candidates, compare_by_bytes);
  p->candidate_count = CANDIDATES_MAX;
  qsort(p->candidates, CANDIDATES_MAX, sizeof *p->candidates, hearth_compare_u64);
}

/* Choose the contexts to refine: REFINED_MAX suffice. They are in the order of their nodes, so evenly spaced ones
 * come from everywhere. Returns their number. */
static uint32_t candidate_look_at(refining *r, const plan_leaf *leaf) {
  const plan_context *contexts = r->p->contexts + leaf->first_context;
  uint32_t count = leaf->context_count < REFINED_MAX ? leaf->context_count : REFINED_MAX;
  for (uint32_t i = 0; i < count; i++)
    r->looked_at[i] = contexts[(uint64_t)i * leaf->context_count / count];
  return count;
}

hearth_status hearth_plan_find_candidates(planner *p) {
  refining r = {.p = p, .work = WORK_MAX};
  hearth_status status = make_spots(&r);
  for (size_t i = 0; status == HEARTH_OK && i < p->leaf_count; i++)
    if (differ(p->contexts + p->leaves[i].first_context, p->leaves[i].context_count))
      candidate_refine(&r, r.looked_at, candidate_look_at(&r, &p->leaves[i]), 0);
  free_spots(&r);
  if (status == HEARTH_OK)
    keep_candidates(p);
  return status;
}
