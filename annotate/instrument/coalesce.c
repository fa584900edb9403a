/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Neighbours: accesses are sorted by object; each absorbs those behind it, at most MOST_LOOK_AT, that share its
 * counter, basic block and stretch between interruptions. Loops: scalar evolution gives the address of the first
 * iteration, the stride and the number of iterations; one update before the loop counts them all. */

#include "instrument.h"

#include <stdlib.h>

#include "array.h"

#define MOST_LOOK_AT 64 /* accesses that are compared with one */

/* --- neighbours --- */

/* By pointer, then by where they are in the function. */
static int compare_accesses(const void *left, const void *right) {
  const hearth_access *a = *(hearth_access *const *)left, *b = *(hearth_access *const *)right;
  if (a->object != b->object)
    return (uintptr_t)a->object < (uintptr_t)b->object ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* For sure in one granule: within as many bytes as the lower one's address is a multiple of. */
static bool is_within_alignment(const hearth_access *a, const hearth_access *b, unsigned granule) {
  if (a->base != b->base)
    return false;
  const hearth_access *low = a->offset <= b->offset ? a : b, *high = low == a ? b : a;
  uint64_t alignment = low->alignment < granule ? low->alignment : granule;
  return high->offset == low->offset || (uint64_t)(high->offset - low->offset) < alignment;
}

/* Block totals are the same whichever of its granules an access is counted in. */
static bool share_counter(const hearth_access *a, const hearth_access *b, unsigned granule) {
  return a->place == b->place || is_within_alignment(a, b, granule);
}

/* With nothing between them that could change whose they are, or that only one of them happens. */
static bool happen_together(const hearth_access *first, const hearth_access *second) {
  return first->block == second->block && first->interruptions == second->interruptions;
}

static void absorb_neighbours(hearth_access *const *order, size_t at, size_t count, unsigned granule) {
  hearth_access *first = order[at];
  for (size_t k = at + 1; k < count && k <= at + MOST_LOOK_AT && order[k]->object == first->object; k++)
    if (order[k]->weight && share_counter(first, order[k], granule) && happen_together(first, order[k])) {
      first->weight += order[k]->weight;
      order[k]->weight = 0;
    }
}

void hearth_coalesce_neighbours(hearth_accesses *accesses, unsigned granule) {
  hearth_access **order = malloc((accesses->count + 1) * sizeof *order);
  if (!order)
    return;
  for (size_t i = 0; i < accesses->count; i++)
    order[i] = &accesses->items[i];
  qsort(order, accesses->count, sizeof *order, compare_accesses);
  for (size_t i = 0; i < accesses->count; i++)
    if (order[i]->weight)
      absorb_neighbours(order, i, accesses->count, granule);
  free(order);
}

/* --- loops --- */

static LLVMValueRef walk_number(hearth_counters *c, int64_t value) {
  return LLVMConstInt(c->i64, (uint64_t)value, true);
}

static LLVMValueRef times(hearth_counters *c, LLVMValueRef value, uint64_t factor) {
  return factor == 1 ? value : LLVMBuildMul(c->builder, value, walk_number(c, (int64_t)factor), "");
}

/* Accesses of the loop, through the same object: the count of one can be added to the other. */
static hearth_walk *find_walk(hearth_accesses *accesses, const hearth_access *access, LLVMBasicBlockRef preheader) {
  size_t least = accesses->n_walks > MOST_LOOK_AT ? accesses->n_walks - MOST_LOOK_AT : 0;
  for (size_t i = accesses->n_walks; accesses->by_block && i-- > least;)
    if (accesses->walks[i].preheader == preheader && accesses->walks[i].object == access->object)
      return &accesses->walks[i];
  return NULL;
}

static hearth_walk *add_walk(hearth_accesses *accesses) {
  if (!hearth_array_grow(&accesses->walks, &accesses->walks_capacity, accesses->n_walks, sizeof *accesses->walks))
    return NULL;
  accesses->walks[accesses->n_walks] = (hearth_walk){0};
  return &accesses->walks[accesses->n_walks++];
}

/* The moving one says more about the accessed granules. */
static void count_before_loop(hearth_accesses *accesses, hearth_access *access, const hearth_loop_access *loop,
                              hearth_flow *flow, hearth_counters *c) {
  hearth_walk *walk = find_walk(accesses, access, loop->preheader);
  if (!walk && !(walk = add_walk(accesses)))
    return; /* it is counted as others are */
  if (!walk->start || (walk->stride == 0 && loop->stride != 0)) {
    LLVMValueRef start, trips;
    hearth_flow_expand(flow, loop, &start, &trips);
    LLVMPositionBuilderBefore(c->builder, LLVMGetBasicBlockTerminator(loop->preheader));
    if (access->displacement)
      start = LLVMBuildAdd(c->builder, start, walk_number(c, access->displacement), "");
    *walk = (hearth_walk){.preheader = loop->preheader,
                          .object = access->object,
                          .start = start,
                          .trips = trips,
                          .stride = loop->stride,
                          .weight = walk->weight};
  }
  walk->weight += access->weight;
  access->weight = 0;
}

void hearth_coalesce_loops(hearth_accesses *accesses, hearth_flow *flow, hearth_counters *counters) {
  for (size_t i = 0; i < accesses->count; i++) {
    hearth_access *access = &accesses->items[i];
    hearth_loop_access loop;
    if (access->weight && hearth_flow_loop_access(flow, access->instruction, access->pointer, &loop))
      count_before_loop(accesses, access, &loop, flow, counters);
  }
}

/* The first and the last access, in one granule: as most are of loops that run once or twice. Or, if blocks matter only, in
 * neighbours: all but the last are counted with the first. */
static LLVMValueRef is_short(hearth_counters *c, const hearth_walk *walk, LLVMValueRef steps, LLVMValueRef last,
                             bool by_block) {
  LLVMValueRef granule = walk_number(c, hearth_counters_granule(c));
  if (!by_block)
    return LLVMBuildICmp(c->builder, LLVMIntULT, LLVMBuildXor(c->builder, walk->start, last, ""), granule, "");
  uint64_t stride = walk->stride < 0 ? 0 - (uint64_t)walk->stride : (uint64_t)walk->stride;
  uint64_t most = (HEARTH_LINE - 1) / stride;
  return LLVMBuildICmp(c->builder, LLVMIntULE, steps, walk_number(c, (int64_t)most), "");
}

static void count_short_walk(const hearth_walk *walk, LLVMValueRef steps, LLVMValueRef last, bool by_block,
                             hearth_counters *c) {
  if (!by_block) {
    hearth_counters_add_few(c, walk->start, times(c, walk->trips, walk->weight));
    return;
  }
  hearth_counters_add_few(c, walk->start, times(c, steps, walk->weight));
  hearth_counters_add_few(c, last, walk_number(c, (int64_t)walk->weight));
}

static void count_walk(const hearth_walk *walk, bool by_block, hearth_counters *c) {
  LLVMBuilderRef b = c->builder;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(walk->preheader), within, elsewhere;
  LLVMPositionBuilderBefore(b, end);
  if (walk->stride == 0) {
    hearth_counters_add(c, walk->start, times(c, walk->trips, walk->weight));
    return;
  }
  if (!c->histogram) { /* else short ones, too, would be calls, or as long */
    LLVMValueRef steps = LLVMBuildSub(b, walk->trips, walk_number(c, 1), "");
    LLVMValueRef last = LLVMBuildAdd(b, walk->start, LLVMBuildMul(b, steps, walk_number(c, walk->stride), ""), "");
    hearth_flow_branch(is_short(c, walk, steps, last, by_block), end, &within, &elsewhere);
    LLVMPositionBuilderBefore(b, within);
    count_short_walk(walk, steps, last, by_block, c);
    LLVMPositionBuilderBefore(b, elsewhere);
  }
  hearth_counters_add_strided(c, walk->start, walk_number(c, walk->stride), walk->trips,
                              walk_number(c, (int64_t)walk->weight));
}

void hearth_coalesce_walks(const hearth_accesses *accesses, hearth_counters *counters) {
  for (size_t i = 0; i < accesses->n_walks; i++)
    count_walk(&accesses->walks[i], accesses->by_block, counters);
}
