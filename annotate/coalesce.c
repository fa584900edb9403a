#include "coalesce.h"

#include <stdlib.h>

#define GRANULE      64
#define HEADER       32 /* the runtime's blocks begin so far behind a granule's start */
#define MOST_LOOK_AT 64 /* accesses that are compared with one */

/* --- neighbours --- */

static int64_t granule_in_block(int64_t offset) {
  int64_t at = offset + HEADER;
  return (at < 0 ? at - (GRANULE - 1) : at) / GRANULE;
}

/* By pointer, then by where they are in the function. */
static int compare(const void *left, const void *right) {
  const hearth_access *a = *(hearth_access *const *)left, *b = *(hearth_access *const *)right;
  if (a->base != b->base)
    return (uintptr_t)a->base < (uintptr_t)b->base ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* For sure in one granule: within as many bytes as the lower one's address is a multiple of. */
static bool is_within_alignment(const hearth_access *a, const hearth_access *b) {
  const hearth_access *low = a->offset <= b->offset ? a : b, *high = low == a ? b : a;
  uint64_t alignment = low->alignment < GRANULE ? low->alignment : GRANULE;
  return high->offset == low->offset || (uint64_t)(high->offset - low->offset) < alignment;
}

/* Block totals are the same whichever of its granules an access is counted in. In BLOCK mode we take the pointer for a
 * block's start, which is right for the granules, too, where it is one. */
static bool share_counter(const hearth_access *a, const hearth_access *b, hearth_coalesce_mode mode) {
  return is_within_alignment(a, b) ||
         (mode == HEARTH_COALESCE_BLOCK && granule_in_block(a->offset) == granule_in_block(b->offset));
}

/* Whether either both happen, with nothing between them that could change whose they are, or none. */
static bool happen_together(const hearth_access *first, const hearth_access *second, hearth_flow *flow) {
  if (first->block == second->block)
    return first->interruptions == second->interruptions;
  return !first->interrupted_after && second->interruptions == 0 &&
         hearth_flow_runs_through(flow, first->block, second->block);
}

static void absorb_neighbours(hearth_access *const *order, size_t at, size_t count, hearth_flow *flow,
                              hearth_coalesce_mode mode) {
  hearth_access *first = order[at];
  for (size_t k = at + 1; k < count && k <= at + MOST_LOOK_AT && order[k]->base == first->base; k++)
    if (order[k]->weight && share_counter(first, order[k], mode) && happen_together(first, order[k], flow)) {
      first->weight += order[k]->weight;
      order[k]->weight = 0;
    }
}

void hearth_coalesce_neighbours(hearth_accesses *accesses, hearth_flow *flow, hearth_coalesce_mode mode) {
  hearth_access **order = malloc((accesses->count + 1) * sizeof *order);
  if (!order)
    return;
  for (size_t i = 0; i < accesses->count; i++)
    order[i] = &accesses->items[i];
  qsort(order, accesses->count, sizeof *order, compare);
  for (size_t i = 0; i < accesses->count; i++)
    if (order[i]->weight)
      absorb_neighbours(order, i, accesses->count, flow, mode);
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
