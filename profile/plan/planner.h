/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declarations that the steps of planning share:
 *
 *   rows of CONTEXTS --placements.c--> placements, pool ids
 *     --planner.c--> allocation calls with cold contexts and others
 *     --sites.c--> call sites that only cold contexts go through --planner.c--> bytes */
#ifndef HEARTH_PLANNER_H
#define HEARTH_PLANNER_H

#include <stdlib.h>

#include "array.h"
#include "hearth/plan.h"
#include "writer.h"

/* A row of CONTEXTS. */
typedef struct plan_row {
  uint64_t bytes, allocs, accesses, lifetime_ns; /* sums */
  hearth_class hotness;
  bool is_dormant;
  bool is_light; /* of no weight, nor all light ones of its allocation call together: it decides nothing */
} plan_row;

/* A frame that contexts end at. */
typedef struct plan_leaf_frame {
  uint64_t id; /* of its allocation call: a stack id; 0: it has no name */
  uint32_t frame;
} plan_leaf_frame;

static inline bool plan_lies_apart(hearth_placement placement) {
  return placement == HEARTH_CLASS_COLD || placement == HEARTH_PLACEMENT_DORMANT;
}

/* A context of an allocation call whose contexts differ. */
typedef struct plan_context {
  uint64_t bytes, allocs, accesses;
  uint64_t bits;   /* of the sites that prove it cold */
  uint32_t caller; /* of the allocation call; a node or HEARTH_NONE */
  bool is_cold;    /* it lies apart */
} plan_context;

/* An allocation call whose contexts differ. */
typedef struct plan_leaf {
  uint64_t stack_id;
  uint32_t frame;
  uint32_t first_context, context_count; /* of the planner's */
  uint64_t at_stake;     /* weight that is not of its most common place; known where leaves have to be left out */
  bool is_cold;          /* as a whole: others are so little that they are passed over */
  hearth_placement warm; /* placement of its contexts that do not lie apart */
  hearth_placement cold; /* of the others: cold if all of them are, else dormant */
} plan_leaf;

/* Sums over contexts. */
typedef struct plan_sums {
  uint64_t cold_bytes, warm_bytes, warm_accesses;
} plan_sums;

/* Rows of frames, nodes and contexts are those of the profile that is written. */
typedef struct planner {
  const writer *w;
  hearth_plan_options options;
  hearth_classify_options classify;
  hearth_error *err;
  uint64_t total_bytes, total_allocs, total_accesses;
  uint64_t *stack_ids;          /* of each frame; 0: unknown */
  bool *may_be_site;            /* of each frame: its place is known, and folding left that out of no stack */
  plan_leaf_frame *leaf_frames; /* by id, then frame */
  size_t leaf_frame_count;
  plan_row *rows;
  hearth_placement *placements; /* of each row */
  bool is_empty;                /* all placements are 0 */
  hearth_plan_call calls[HEARTH_PLAN_CALLS_MAX];
  bool has_dormant;
  uint32_t call_count;
  plan_leaf *leaves;
  size_t leaf_count, leaf_room;
  plan_context *contexts;
  size_t context_count, context_room;
  hearth_plan_site sites[HEARTH_PLAN_SITES_MAX]; /* by stack id */
  uint32_t site_count;
} planner;

/* The weight of contexts: their bytes or, where that is more, the part of all bytes that equals their share of all
 * accesses. A site that keeps some busy bytes out of the cold ones is worth more than these. */
static inline uint64_t plan_weight(const planner *p, uint64_t bytes, uint64_t accesses) {
  double share = p->total_accesses ? (double)accesses / (double)p->total_accesses : 0;
  double due = share * (double)p->total_bytes;
  uint64_t weight = due < 0x1p62 ? hearth_merge_MAX(bytes, (uint64_t)due) : UINT64_MAX;
  return weight < UINT64_C(1) << 62 ? weight : UINT64_C(1) << 62; /* so that it has a sign, too */
}

static inline uint64_t plan_context_weight(const planner *p, const plan_context *context) {
  return plan_weight(p, context->bytes, context->accesses);
}

static inline void plan_add_context(plan_sums *sums, const plan_context *context) {
  sums->cold_bytes = hearth_merge_SUM(sums->cold_bytes, context->is_cold ? context->bytes : 0);
  sums->warm_bytes = hearth_merge_SUM(sums->warm_bytes, context->is_cold ? 0 : context->bytes);
  sums->warm_accesses = hearth_merge_SUM(sums->warm_accesses, context->is_cold ? 0 : context->accesses);
}

/* `parts` of `of` parts of a number, rounded down. */
static inline uint64_t plan_part_of(uint64_t number, uint64_t parts, uint64_t of) {
  return number / of * parts + number % of * parts / of;
}

/* May contexts be taken for cold together? A block that is wrongly taken for cold costs most: of their bytes a
 * twentieth, and of all accesses of the profile a thousandth, may be of others at most. */
static inline bool plan_is_mostly_cold(const planner *p, const plan_sums *sums) {
  return sums->cold_bytes > 0 && sums->warm_bytes <= plan_part_of(sums->cold_bytes + sums->warm_bytes, 5, 100) &&
         sums->warm_accesses <= plan_part_of(p->total_accesses, 1000, 1000000);
}

/* The contexts that end at a frame are rows from this one on, up to `context_ends` of it. */
static inline uint32_t plan_first_row(const planner *p, uint32_t frame) {
  return frame ? p->w->context_ends[frame - 1] : 0;
}

/* placements.c: rows, leaf frames, placements, pool ids. */
hearth_status hearth_plan_place_contexts(planner *p);
/* The leaf frame behind those of the same allocation call. */
size_t hearth_plan_end_of_leaf(const planner *p, size_t first);
/* sites.c: sites, and the bits of the leaves' contexts. */
hearth_status hearth_plan_choose_sites(planner *p);

#endif
