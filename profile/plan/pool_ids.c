/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The allocation calls of most weight get pool ids, heaviest first. Contexts of one call that are not cold all have its id.
 *
 * The blocks of a call die young if most were freed by the end, and a block lived for a shorter time than a byte does on
 * average. By Little's law, that is the time in which the program allocates as many bytes as live on average. */
#include <stdlib.h>

#include "array.h"
#include "planner.h"

/* An allocation call with contexts that are not cold. */
typedef struct weighed_call {
  uint64_t stack_id;
  size_t first, end; /* its leaf frames */
  hearth_plan_call sums;
  uint64_t lifetime_ns, live_at_exit; /* of all blocks */
  uint64_t hot_weight;
} weighed_call;

static bool has_pool(const planner *p, uint32_t row) { return p->placements[row] >= HEARTH_CLASS_NOTCOLD; }

static void weigh_row(const planner *p, uint32_t row, weighed_call *call) {
  const plan_row *r = &p->rows[row];
  uint64_t weight = plan_weight(p, r->bytes, r->accesses);
  call->sums.allocs += r->allocs;
  call->sums.bytes += r->bytes;
  call->sums.accesses += r->accesses;
  call->sums.weight += weight;
  call->sums.contexts++;
  call->lifetime_ns += r->lifetime_ns;
  call->live_at_exit += r->live_at_exit;
  call->hot_weight += r->hotness == HEARTH_CLASS_HOT ? weight : 0;
}

/* Blocks that a library allocates get no hint. */
static bool may_have_hint(const planner *p, uint32_t frame) {
  return p->stack_ids[frame] && !(p->w->builder->frames[p->w->frames.order[frame]].flags & HEARTH_FRAME_LIBRARY);
}

static weighed_call weigh(const planner *p, size_t first, size_t end) {
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

/* The mean life of a byte, in ns. */
static double life_of_a_byte(const planner *p) {
  double bytes = 0, lives = 0;
  for (uint32_t i = 0; i < p->w->contexts.count; i++) {
    const plan_row *row = &p->rows[i];
    bytes += (double)row->bytes;
    lives += row->allocs ? (double)row->bytes * ((double)row->lifetime_ns / (double)row->allocs) : 0;
  }
  return bytes > 0 ? lives / bytes : 0;
}

static void give_id(planner *p, const weighed_call *call, double life) {
  hearth_plan_call *row = &p->calls[p->call_count];
  double mean = call->sums.allocs ? (double)call->lifetime_ns / (double)call->sums.allocs : 0;
  *row = call->sums;
  row->lifetime_ns = (uint64_t)mean;
  row->hotness = call->hot_weight >= row->weight - call->hot_weight ? HEARTH_CLASS_HOT : HEARTH_CLASS_NOTCOLD;
  row->dies_young = call->live_at_exit < row->allocs - call->live_at_exit && mean < life;
  for (size_t k = call->first; k < call->end; k++) {
    uint32_t frame = p->leaf_frames[k].frame;
    for (uint32_t i = plan_first_row(p, frame); may_have_hint(p, frame) && i < p->w->context_ends[frame]; i++)
      if (has_pool(p, i))
        p->placements[i] = (hearth_placement)(HEARTH_PLACEMENT_POOL + p->call_count);
  }
  p->call_count++;
}

hearth_status hearth_plan_give_pool_ids(planner *p) {
  weighed_call *calls;
  size_t count = 0;
  HEARTH_TRY(hearth_array_create(&calls, p->leaf_frame_count, sizeof *calls, p->err));
  for (size_t i = 0, end; i < p->leaf_frame_count; i = end) {
    end = hearth_plan_end_of_leaf(p, i);
    calls[count] = weigh(p, i, end);
    count += calls[count].sums.contexts > 0;
  }
  qsort(calls, count, sizeof *calls, compare_calls);
  double life = life_of_a_byte(p);
  for (size_t i = 0; i < count && i < HEARTH_POOLS_MAX; i++)
    give_id(p, &calls[i], life);
  free(calls);
  return HEARTH_OK;
}
