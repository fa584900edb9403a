#include "coalesce.h"

#include <stdlib.h>

#define MOST_LOOK_AT 64 /* accesses that are compared with one */

/* --- neighbours --- */

/* By pointer, then by where they are in the function. */
static int compare(const void *left, const void *right) {
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
  qsort(order, accesses->count, sizeof *order, compare);
  for (size_t i = 0; i < accesses->count; i++)
    if (order[i]->weight)
      absorb_neighbours(order, i, accesses->count, granule);
  free(order);
}

/* --- loops --- */

static LLVMValueRef number(hearth_counters *c, int64_t value) { return LLVMConstInt(c->i64, (uint64_t)value, true); }

static void count_before_loop(hearth_access *access, const hearth_loop_access *loop, hearth_flow *flow,
                              hearth_counters *c) {
  LLVMValueRef start, trips;
  hearth_flow_expand(flow, loop, &start, &trips);
  LLVMBuilderRef b = c->builder;
  LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(loop->preheader));
  if (access->displacement)
    start = LLVMBuildAdd(b, start, number(c, access->displacement), "");
  LLVMValueRef weight = number(c, (int64_t)access->weight);
  if (loop->stride == 0)
    hearth_counters_add(c, start, access->weight == 1 ? trips : LLVMBuildMul(b, trips, weight, ""));
  else
    hearth_counters_add_strided(c, start, number(c, loop->stride), trips, weight);
  access->weight = 0;
}

void hearth_coalesce_loops(hearth_accesses *accesses, hearth_flow *flow, hearth_counters *counters) {
  for (size_t i = 0; i < accesses->count; i++) {
    hearth_access *access = &accesses->items[i];
    hearth_loop_access loop;
    if (hearth_flow_loop_access(flow, access->instruction, access->pointer, &loop))
      count_before_loop(access, &loop, flow, counters);
  }
}
