/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* First step of planning: allocation calls whose contexts differ, and the call sites at which these part. By
 * refinement: the contexts of an allocation call are sorted by their next caller; those that share it and differ in
 * class are refined further, up to a limit of steps. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "compare.h"
#include "hearth/ids.h"
#include "planner.h"

#define DEPTH_MAX      256u               /* callers looked at from an allocation outwards */
#define WORK_MAX       UINT64_C(50000000) /* steps: a profile that needs more gets a plan of the part seen until then */
#define CONTEXTS_MAX   100000u            /* of all allocation calls but the one that matters most */
#define REFINED_MAX    16384u             /* contexts of one leaf that are looked at: of more, evenly spaced ones */
#define CHAIN_MAX      64u   /* callers that contexts of one class share, of which each may become a site */
#define CANDIDATES_MAX 4096u /* those that most bytes go through */

/* -------------------------------------------------- leaves -------------------------------------------------- */

typedef struct leaf_frame {
  uint64_t stack_id;
  uint32_t frame;
} leaf_frame;

static int compare_leaf_frames(const void *a, const void *b) {
  const leaf_frame *x = a, *y = b;
  return x->stack_id != y->stack_id ? (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id)
                                    : (x->frame > y->frame) - (x->frame < y->frame);
}

static hearth_status find_stack_ids(planner *p) {
  const writer *w = p->w;
  const hearth_builder *b = w->builder;
  p->stack_ids = calloc(w->frames.count + (size_t)1, sizeof *p->stack_ids);
  if (!p->stack_ids)
    return hearth_error_nomem(p->err);
  for (uint32_t i = 0; i < w->frames.count; i++) {
    const builder_frame *f = &b->frames[w->frames.order[i]];
    if (f->line != HEARTH_LINE_UNKNOWN && f->column != 0)
      p->stack_ids[i] = hearth_stack_id(b->functions[f->function].id, f->line, f->column);
  }
  return HEARTH_OK;
}

/* The common facts of contexts that end at a frame, as their allocation call; 0: it cannot be named. */
static uint64_t leaf_id(const planner *p, uint32_t frame) {
  const builder_frame *f = &p->w->builder->frames[p->w->frames.order[frame]];
  const builder_function *function = &p->w->builder->functions[f->function];
  if (p->stack_ids[frame] || !p->options.library_calls)
    return p->stack_ids[frame];
  return hearth_library_call_id(function->id, function->start_line, f->line);
}

static uint32_t first_context(const writer *w, uint32_t frame) { return frame ? w->context_ends[frame - 1] : 0; }

static hearth_status list_leaf_frames(planner *p, leaf_frame **ret, size_t *ret_count) {
  size_t room = 0;
  *ret = NULL;
  *ret_count = 0;
  for (uint32_t i = 0; i < p->w->frames.count; i++) {
    uint64_t id = p->w->context_ends[i] == first_context(p->w, i) ? 0 : leaf_id(p, i);
    if (id == 0)
      continue;
    HEARTH_TRY(hearth_check_memory(hearth_array_grow(ret, &room, *ret_count, sizeof **ret), p->err));
    (*ret)[(*ret_count)++] = (leaf_frame){id, i};
  }
  if (*ret_count)
    qsort(*ret, *ret_count, sizeof **ret, compare_leaf_frames);
  return HEARTH_OK;
}

/* `light`: the sum of those that are light. */
static hearth_status add_contexts(planner *p, const hearth_classifier *classifier, uint32_t frame, hearth_mib *light) {
  const writer *w = p->w;
  for (uint32_t i = first_context(w, frame); i < w->context_ends[frame]; i++) {
    hearth_mib mib = {0};
    uint32_t context = w->contexts.order[i], caller = w->parents[w->leaves[context]];
    hearth_writer_get_classified(w, context, &mib);
    uint64_t bytes = mib_rows_number(&w->builder->mibs, context, HEARTH_COL_TotalSize);
    uint64_t allocs = mib_rows_number(&w->builder->mibs, context, HEARTH_COL_AllocCount);
    p->total_bytes += bytes;
    p->total_allocs += allocs;
    p->total_accesses += mib.TotalAccessCount;
    HEARTH_TRY(hearth_check_memory(
        hearth_array_grow(&p->contexts, &p->context_room, p->context_count, sizeof *p->contexts), p->err));
    p->contexts[p->context_count++] = (plan_context){.node = caller,
                                                     .caller = caller,
                                                     .bytes = bytes,
                                                     .allocs = allocs,
                                                     .accesses = mib.TotalAccessCount,
                                                     .hotness = hearth_classify(classifier, &mib),
                                                     .is_light = !hearth_has_weight(classifier, &mib)};
    if (p->contexts[p->context_count - 1].is_light)
      hearth_mib_merge(light, &mib);
  }
  return HEARTH_OK;
}

/* Light contexts of a call do not count, unless they are many. `light`: their sum. */
static void drop_light(planner *p, size_t first, const hearth_classifier *classifier, const hearth_mib *light) {
  size_t kept = first;
  if (hearth_has_weight(classifier, light))
    return;
  for (size_t i = first; i < p->context_count; i++)
    if (!p->contexts[i].is_light)
      p->contexts[kept++] = p->contexts[i];
  p->context_count = kept;
}

static bool differ(const plan_context *contexts, size_t count) {
  for (size_t i = 1; i < count; i++)
    if (contexts[i].hotness != contexts[0].hotness)
      return true;
  return false;
}

/* Does an allocation call need a table? Where its contexts agree the compiler gives the hint; not in a library. */
static bool needs_table(const planner *p, const leaf_frame *leaf, const plan_context *contexts, size_t count) {
  bool has_hint = count > 0 && (contexts[0].hotness == HEARTH_CLASS_COLD || contexts[0].hotness == HEARTH_CLASS_HOT);
  return differ(contexts, count) || (p->stack_ids[leaf->frame] == 0 && has_hint);
}

static hearth_status add_leaves(planner *p, const leaf_frame *frames, size_t count,
                                const hearth_classifier *classifier) {
  for (size_t i = 0, end; i < count; i = end) {
    size_t first = p->context_count;
    hearth_mib light = {0};
    for (end = i; end < count && frames[end].stack_id == frames[i].stack_id; end++)
      HEARTH_TRY(add_contexts(p, classifier, frames[end].frame, &light));
    drop_light(p, first, classifier, &light);
    if (!needs_table(p, &frames[i], p->contexts + first, p->context_count - first)) {
      p->context_count = first;
      continue;
    }
    HEARTH_TRY(
        hearth_check_memory(hearth_array_grow(&p->leaves, &p->leaf_room, p->leaf_count, sizeof *p->leaves), p->err));
    p->leaves[p->leaf_count++] = (plan_leaf){.stack_id = frames[i].stack_id,
                                             .frame = frames[i].frame,
                                             .first_context = (uint32_t)first,
                                             .context_count = (uint32_t)(p->context_count - first)};
  }
  return HEARTH_OK;
}

static uint64_t at_stake(const planner *p, const plan_leaf *leaf) {
  plan_sums sums = {0};
  for (uint32_t i = 0; i < leaf->context_count; i++)
    plan_add_context(p, &sums, &p->contexts[leaf->first_context + i]);
  uint64_t sum = 0, most = 0;
  for (int i = 0; i < 4; i++) {
    sum += sums.weights[i];
    most = sums.weights[i] > most ? sums.weights[i] : most;
  }
  return sum - most;
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
  leaf_frame *frames;
  size_t count;
  hearth_classifier classifier = hearth_writer_classifier(p->w, &p->classify);
  HEARTH_TRY(find_stack_ids(p));
  hearth_status status = list_leaf_frames(p, &frames, &count);
  if (status == HEARTH_OK)
    status = add_leaves(p, frames, count, &classifier);
  if (status == HEARTH_OK)
    keep_what_matters(p);
  free(frames);
  return status;
}

/* ------------------------------------------------- places --------------------------------------------------- */

/* While contexts are refined, each stack id is a place: a row of the candidates, of which those that no context parts at
 * are dropped in the end. Row 0 stands for frames at unknown places. */
typedef struct refining {
  planner *p;
  uint32_t *places;        /* of each frame */
  uint32_t *counts;        /* of each place: contexts of the group that is sorted; 0 between two sorts */
  uint32_t *met;           /* scratch: places of that group */
  plan_context *looked_at; /* of the leaf at hand */
  plan_context *sorted;    /* scratch: that group */
  uint64_t work;           /* steps that are left */
} refining;

/* The distinct stack ids, ascending, in place. */
static size_t sort_ids(uint64_t *ids, size_t count) {
  size_t kept = 0;
  qsort(ids, count, sizeof *ids, hearth_compare_u64);
  for (size_t i = 0; i < count; i++)
    if (kept == 0 || ids[kept - 1] != ids[i])
      ids[kept++] = ids[i];
  return kept;
}

static uint32_t rank_of(const uint64_t *ids, size_t count, uint64_t id) {
  return (uint32_t)((const uint64_t *)bsearch(&id, ids, count, sizeof *ids, hearth_compare_u64) - ids);
}

static hearth_status make_places(refining *r) {
  planner *p = r->p;
  size_t frames = p->w->frames.count;
  uint64_t *ids = calloc(frames + 1, sizeof *ids); /* one more, which is 0 */
  r->places = calloc(frames + 1, sizeof *r->places);
  r->counts = calloc(frames + 1, sizeof *r->counts);
  r->met = calloc(frames + 1, sizeof *r->met);
  r->looked_at = malloc(REFINED_MAX * sizeof *r->looked_at);
  r->sorted = malloc(REFINED_MAX * sizeof *r->sorted);
  p->candidates = calloc(frames + 1, sizeof *p->candidates);
  if (!ids || !r->places || !r->counts || !r->met || !r->looked_at || !r->sorted || !p->candidates) {
    free(ids);
    return hearth_error_nomem(p->err);
  }
  memcpy(ids, p->stack_ids, frames * sizeof *ids);
  p->candidate_count = sort_ids(ids, frames + 1);
  for (size_t i = 0; i < p->candidate_count; i++)
    p->candidates[i] = (plan_candidate){.stack_id = ids[i], .frame = HEARTH_NONE};
  for (size_t i = 0; i < frames; i++) {
    r->places[i] = rank_of(ids, p->candidate_count, p->stack_ids[i]);
    p->candidates[r->places[i]].recursive |= p->w->builder->frames[p->w->frames.order[i]].recursive;
  }
  free(ids);
  return HEARTH_OK;
}

static void free_places(refining *r) {
  free(r->places);
  free(r->counts);
  free(r->met);
  free(r->looked_at);
  free(r->sorted);
}

/* ------------------------------------------------ candidates ------------------------------------------------ */

static void add_candidate(refining *r, uint32_t frame, uint64_t bytes, uint32_t depth) {
  plan_candidate *c = &r->p->candidates[r->places[frame]];
  c->bytes += bytes;
  c->depth = c->depth > depth ? c->depth : depth;
  c->frame = c->frame < frame ? c->frame : frame;
}

static uint64_t bytes_of(const plan_context *contexts, size_t count) {
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

/* All calls that contexts share from where they are known to be of one class tell them apart equally well, and the outer
 * ones run less often. */
static void add_shared_callers(refining *r, const plan_context *contexts, size_t count, uint32_t depth) {
  uint32_t frames[CHAIN_MAX], length = shared_callers(r, contexts, count, frames);
  uint64_t bytes = bytes_of(contexts, count);
  for (uint32_t i = 0; i < length; i++)
    add_candidate(r, frames[i], bytes, depth + i);
}

/* Contexts by place: a stable counting sort, as they are many and places few. */
static void sort_by_place(refining *r, plan_context *contexts, size_t count) {
  uint32_t met = 0, start = 0;
  for (size_t i = 0; i < count; i++)
    if (r->counts[contexts[i].place]++ == 0)
      r->met[met++] = contexts[i].place;
  if (met > 1) {
    qsort(r->met, met, sizeof *r->met, hearth_compare_u32);
    for (uint32_t i = 0; i < met; i++) {
      uint32_t own = r->counts[r->met[i]];
      r->counts[r->met[i]] = start;
      start += own;
    }
    memcpy(r->sorted, contexts, count * sizeof *contexts);
    for (size_t i = 0; i < count; i++)
      contexts[r->counts[r->sorted[i].place]++] = r->sorted[i];
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
    context->place = 0;
    if (context->node == HEARTH_NONE)
      continue;
    uint32_t frame = w->node_frames[context->node];
    context->node = w->parents[context->node];
    context->place = r->places[frame];
    add_candidate(r, frame, context->bytes, depth);
    more = true;
  }
  return more;
}

/* Contexts that have come the same way so far, and differ. */
static void refine(refining *r, plan_context *contexts, size_t count, uint32_t depth) {
  if (depth >= DEPTH_MAX || r->work < count)
    return;
  r->work -= count;
  if (!step_outwards(r, contexts, count, depth))
    return;
  sort_by_place(r, contexts, count);
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i; end < count && contexts[end].place == contexts[i].place; end++)
      ;
    if (differ(contexts + i, end - i))
      refine(r, contexts + i, end - i, depth + 1);
    else
      add_shared_callers(r, contexts + i, end - i, depth + 1);
  }
}

static int compare_by_bytes(const void *a, const void *b) {
  const plan_candidate *x = a, *y = b;
  return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes)
                              : (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

/* Those that contexts part at, and of them no more than can be weighed. A frame that folding left out of some stacks is
 * no site: its bit would be set where the profile says that it is not. */
static void keep_candidates(planner *p) {
  size_t kept = 0;
  for (size_t i = 1; i < p->candidate_count; i++)
    if (p->candidates[i].frame != HEARTH_NONE && !p->candidates[i].recursive)
      p->candidates[kept++] = p->candidates[i];
  p->candidate_count = kept;
  if (kept <= CANDIDATES_MAX)
    return;
  qsort(p->candidates, kept, sizeof *p->candidates, compare_by_bytes);
  p->candidate_count = CANDIDATES_MAX;
  qsort(p->candidates, CANDIDATES_MAX, sizeof *p->candidates, hearth_compare_u64);
}

/* Where thousands of contexts part, more would be of no help. They are in the order of their nodes: the spaced ones come
 * from everywhere. Returns their number. */
static uint32_t look_at(refining *r, const plan_leaf *leaf) {
  const plan_context *contexts = r->p->contexts + leaf->first_context;
  uint32_t count = leaf->context_count < REFINED_MAX ? leaf->context_count : REFINED_MAX;
  for (uint32_t i = 0; i < count; i++)
    r->looked_at[i] = contexts[(uint64_t)i * leaf->context_count / count];
  return count;
}

hearth_status hearth_plan_find_candidates(planner *p) {
  refining r = {.p = p, .work = WORK_MAX};
  hearth_status status = make_places(&r);
  for (size_t i = 0; status == HEARTH_OK && i < p->leaf_count; i++)
    if (differ(p->contexts + p->leaves[i].first_context, p->leaves[i].context_count))
      refine(&r, r.looked_at, look_at(&r, &p->leaves[i]), 0);
  free_places(&r);
  if (status == HEARTH_OK)
    keep_candidates(p);
  return status;
}
