/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* First step of planning: the contexts of each allocation call, their classes, and from these their placements. Cold
 * follows from the rules of classes only. Contexts that are light, also together, have no placement. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/ids.h"
#include "planner.h"

/* ------------------------------------------------ leaf frames ----------------------------------------------- */

static int compare_leaf_frames(const void *a, const void *b) {
  const plan_leaf_frame *x = a, *y = b;
  return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x->frame > y->frame) - (x->frame < y->frame);
}

static hearth_status find_stack_ids(planner *p) {
  const writer *w = p->w;
  const hearth_builder *b = w->builder;
  HEARTH_TRY(hearth_array_create(&p->stack_ids, w->frames.count, sizeof *p->stack_ids, p->err));
  for (uint32_t i = 0; i < w->frames.count; i++) {
    const builder_frame *f = &b->frames[w->frames.order[i]];
    if (f->line != HEARTH_LINE_UNKNOWN && f->column != 0)
      p->stack_ids[i] = hearth_stack_id(b->functions[f->function].id, f->line, f->column);
  }
  return HEARTH_OK;
}

/* The bit of a call that folding left out of some stacks would be set where the profile says that it is not. */
static hearth_status find_calls_for_sites(planner *p) {
  const writer *w = p->w;
  uint64_t *folded = NULL;
  size_t count = 0;
  HEARTH_TRY(hearth_array_create(&p->may_be_site, w->frames.count, sizeof *p->may_be_site, p->err));
  HEARTH_TRY(hearth_array_create(&folded, w->frames.count, sizeof *folded, p->err));
  for (uint32_t i = 0; i < w->frames.count; i++)
    if (w->builder->frames[w->frames.order[i]].recursive)
      folded[count++] = p->stack_ids[i];
  qsort(folded, count, sizeof *folded, hearth_compare_u64);
  for (uint32_t i = 0; i < w->frames.count; i++)
    p->may_be_site[i] =
        p->stack_ids[i] && !(count && bsearch(&p->stack_ids[i], folded, count, sizeof *folded, hearth_compare_u64));
  free(folded);
  return HEARTH_OK;
}

static hearth_status list_leaf_frames(planner *p) {
  const writer *w = p->w;
  HEARTH_TRY(hearth_array_create(&p->leaf_frames, w->frames.count, sizeof *p->leaf_frames, p->err));
  for (uint32_t i = 0; i < w->frames.count; i++)
    if (w->context_ends[i] > plan_first_row(p, i))
      p->leaf_frames[p->leaf_frame_count++] = (plan_leaf_frame){p->stack_ids[i], i};
  qsort(p->leaf_frames, p->leaf_frame_count, sizeof *p->leaf_frames, compare_leaf_frames);
  return HEARTH_OK;
}

size_t hearth_plan_end_of_leaf(const planner *p, size_t first) {
  size_t end = first + 1;
  while (p->leaf_frames[first].id && end < p->leaf_frame_count && p->leaf_frames[end].id == p->leaf_frames[first].id)
    end++;
  return end;
}

/* ------------------------------------------------- classes -------------------------------------------------- */

/* Classify the contexts of a frame; `light` sums up the light ones. */
static void classify_rows(planner *p, const hearth_classifier *classifier, uint32_t frame, hearth_mib *light) {
  const writer *w = p->w;
  for (uint32_t i = plan_first_row(p, frame); i < w->context_ends[frame]; i++) {
    hearth_mib mib = {0};
    uint32_t context = w->contexts.order[i];
    hearth_writer_get_classified(w, context, &mib);
    hearth_variance variance = hearth_writer_get_variance(w, context);
    bool is_uncertain = hearth_may_be_cold_or_not(classifier, &mib, &variance);
    hearth_class hotness = hearth_classify(classifier, &mib);
    p->rows[i] = (plan_row){.bytes = w->builder->mibs[context].TotalSize,
                            .allocs = w->builder->mibs[context].AllocCount,
                            .accesses = mib.TotalAccessCount,
                            .lifetime_ns = w->builder->mibs[context].TotalLifetime,
                            .hotness = is_uncertain ? HEARTH_CLASS_UNKNOWN : hotness,
                            .is_dormant = (hotness == HEARTH_CLASS_COLD || hotness == HEARTH_CLASS_NOTCOLD) &&
                                          hearth_is_dormant(classifier, &mib),
                            .is_light = !hearth_has_weight(classifier, &mib)};
    if (p->rows[i].is_light)
      hearth_mib_merge(light, &mib);
    p->total_bytes += p->rows[i].bytes;
    p->total_allocs += p->rows[i].allocs;
    p->total_accesses += p->rows[i].accesses;
  }
}

/* Light contexts of a call count if they are many. `light`: their sum. */
static void keep_many(planner *p, const hearth_classifier *classifier, uint32_t frame, const hearth_mib *light) {
  for (uint32_t i = plan_first_row(p, frame); i < p->w->context_ends[frame]; i++)
    p->rows[i].is_light &= !hearth_has_weight(classifier, light);
}

static void classify(planner *p) {
  hearth_classifier classifier = hearth_writer_classifier(p->w, &p->classify);
  for (size_t i = 0, end; i < p->leaf_frame_count; i = end) {
    hearth_mib light = {0};
    end = hearth_plan_end_of_leaf(p, i);
    for (size_t k = i; k < end; k++)
      classify_rows(p, &classifier, p->leaf_frames[k].frame, &light);
    for (size_t k = i; k < end; k++)
      keep_many(p, &classifier, p->leaf_frames[k].frame, &light);
  }
}

/* By class. Where accesses were counted, none but cold and dormant blocks get a hint by it: hot ones are to lie with
 * their neighbours. What may be cold or not is not taken for cold. */
static hearth_placement placement_of_context(const planner *p, const plan_row *row) {
  if (row->is_light)
    return HEARTH_CLASS_UNKNOWN;
  if (row->hotness == HEARTH_CLASS_COLD)
    return HEARTH_CLASS_COLD;
  if (row->is_dormant)
    return HEARTH_PLACEMENT_DORMANT;
  return row->hotness == HEARTH_CLASS_HOT && !hearth_writer_accesses_counted(p->w) ? HEARTH_CLASS_HOT
                                                                                   : HEARTH_CLASS_NOTCOLD;
}

static void place_by_class(planner *p) {
  p->is_empty = true;
  for (uint32_t i = 0; i < p->w->contexts.count; i++) {
    p->placements[i] = placement_of_context(p, &p->rows[i]);
    p->is_empty &= p->placements[i] == HEARTH_CLASS_UNKNOWN;
    p->has_dormant |= p->placements[i] == HEARTH_PLACEMENT_DORMANT;
  }
}

/* ------------------------------------------------- pool ids ------------------------------------------------- */

/* The allocation calls of most weight get pool ids, heaviest first. Contexts of one call that are not cold all have
 * its id. */

/* An allocation call with contexts that are not cold. */
typedef struct weighed_call {
  uint64_t stack_id;
  size_t first, end; /* its leaf frames */
  hearth_plan_call sums;
  uint64_t lifetime_ns; /* of all blocks */
  uint64_t hot_weight;
} weighed_call;

static bool has_pool(const planner *p, uint32_t row) {
  return p->placements[row] != HEARTH_CLASS_UNKNOWN && !plan_lies_apart(p->placements[row]);
}

static void weigh_row(const planner *p, uint32_t row, weighed_call *call) {
  const plan_row *r = &p->rows[row];
  uint64_t weight = plan_weight(p, r->bytes, r->accesses);
  call->sums.allocs += r->allocs;
  call->sums.bytes += r->bytes;
  call->sums.accesses += r->accesses;
  call->sums.weight += weight;
  call->sums.contexts++;
  call->lifetime_ns += r->lifetime_ns;
  call->hot_weight += r->hotness == HEARTH_CLASS_HOT ? weight : 0;
}

/* Blocks that a library allocates get no hint. */
static bool may_have_hint(const planner *p, uint32_t frame) {
  return p->stack_ids[frame] && !(p->w->builder->frames[p->w->frames.order[frame]].flags & HEARTH_FRAME_LIBRARY);
}

static weighed_call weigh_call(const planner *p, size_t first, size_t end) {
  weighed_call call = {
      .stack_id = p->leaf_frames[first].id, .first = first, .end = end, .sums.frame = p->leaf_frames[first].frame};
  for (size_t k = first; k < end; k++) {
    uint32_t frame = p->leaf_frames[k].frame;
    for (uint32_t i = plan_first_row(p, frame); may_have_hint(p, frame) && i < p->w->context_ends[frame]; i++)
      if (has_pool(p, i))
        weigh_row(p, i, &call);
  }
  return call;
}

static int compare_calls(const void *a, const void *b) {
  const weighed_call *x = a, *y = b;
  return x->sums.weight != y->sums.weight ? (x->sums.weight < y->sums.weight) - (x->sums.weight > y->sums.weight)
                                          : (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

static void give_id(planner *p, const weighed_call *call) {
  hearth_plan_call *row = &p->calls[p->call_count];
  *row = call->sums;
  row->lifetime_ns = row->allocs ? call->lifetime_ns / row->allocs : 0;
  row->hotness = call->hot_weight >= row->weight - call->hot_weight ? HEARTH_CLASS_HOT : HEARTH_CLASS_NOTCOLD;
  for (size_t k = call->first; k < call->end; k++) {
    uint32_t frame = p->leaf_frames[k].frame;
    for (uint32_t i = plan_first_row(p, frame); may_have_hint(p, frame) && i < p->w->context_ends[frame]; i++)
      if (has_pool(p, i))
        p->placements[i] = (hearth_placement)(HEARTH_PLACEMENT_POOL + p->call_count);
  }
  p->call_count++;
}

static hearth_status give_pool_ids(planner *p) {
  weighed_call *calls;
  size_t count = 0;
  HEARTH_TRY(hearth_array_create(&calls, p->leaf_frame_count, sizeof *calls, p->err));
  for (size_t i = 0, end; i < p->leaf_frame_count; i = end) {
    end = hearth_plan_end_of_leaf(p, i);
    calls[count] = weigh_call(p, i, end);
    count += calls[count].sums.contexts > 0;
  }
  qsort(calls, count, sizeof *calls, compare_calls);
  for (size_t i = 0; i < count && i < HEARTH_PLAN_CALLS_MAX; i++)
    give_id(p, &calls[i]);
  free(calls);
  return HEARTH_OK;
}

hearth_status hearth_plan_place_contexts(planner *p) {
  HEARTH_TRY(find_stack_ids(p));
  HEARTH_TRY(find_calls_for_sites(p));
  HEARTH_TRY(list_leaf_frames(p));
  HEARTH_TRY(hearth_array_create(&p->rows, p->w->contexts.count, sizeof *p->rows, p->err));
  HEARTH_TRY(hearth_array_create(&p->placements, p->w->contexts.count, 1, p->err));
  classify(p);
  place_by_class(p);
  return give_pool_ids(p);
}
