/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declarations that the steps of planning share: placements, pool ids, sites that contexts part at, groups, the choice. */
#ifndef HEARTH_PLAN_INTERNAL_H
#define HEARTH_PLAN_INTERNAL_H

#include "hearth/plan.h"
#include "writer.h"

/* A row of CONTEXTS. */
typedef struct plan_row {
  uint64_t bytes, allocs, accesses, lifetime_ns; /* sums */
  hearth_class hotness;
  bool is_light; /* of no weight, nor all light ones of its allocation call together: it decides nothing */
} plan_row;

/* A frame that contexts end at. */
typedef struct plan_leaf_frame {
  uint64_t id; /* of its allocation call: a stack id; 0: it has no name */
  uint32_t frame;
} plan_leaf_frame;

/* Places of contexts of an allocation call: contexts that are not cold have the call's pool id, if it has one. */
enum { PLAN_WARM = 0, PLAN_COLD = 1, PLAN_PLACES = 2 };

/* An allocation call whose contexts differ. */
typedef struct plan_leaf {
  uint64_t stack_id;
  uint32_t frame;
  uint32_t first_context, context_count; /* of the planner's */
  uint32_t first_group, group_count;
  uint64_t at_stake;     /* weight that is not of its most common place; known where leaves have to be left out */
  hearth_placement warm; /* placement of its contexts that are not cold */
} plan_leaf;

typedef struct plan_context {
  uint32_t node;   /* of the caller that is looked at next, or HEARTH_NONE */
  uint32_t caller; /* of the allocation call; a node or HEARTH_NONE */
  uint32_t spot;   /* scratch: of the frame that was looked at last */
  uint8_t place;
  uint64_t bytes, allocs, accesses;
} plan_context;

/* A call site that may become a decision site. */
typedef struct plan_candidate {
  uint64_t stack_id;
  uint64_t bytes;  /* of the cold contexts that part there */
  uint64_t allocs; /* in contexts that go through it */
  uint32_t frame;
  uint32_t depth; /* callers between it and the allocation, at most */
} plan_candidate;

/* Sums over contexts. Their weight says how much depends on them. It is their bytes or, where that is more, the part of
 * all bytes that equals their share of all accesses. A site that keeps some busy bytes out of the cold ones is worth
 * more than these. */
typedef struct plan_sums {
  uint64_t bytes[PLAN_PLACES], weights[PLAN_PLACES]; /* by place */
  uint64_t accesses;                                 /* of contexts that are not cold */
} plan_sums;

/* Contexts of one leaf that go through the same candidates. */
typedef struct plan_group {
  uint32_t leaf, set;
  plan_sums sums;
  uint64_t allocs;
} plan_group;

/* A set of candidates: ascending numbers in the planner's pool. */
typedef struct plan_set {
  uint64_t marks; /* a bit for each member; members with numbers above 63 share them */
  uint32_t first, count;
} plan_set;

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
  hearth_plan_call calls[HEARTH_POOLS_MAX];
  uint32_t call_count;
  plan_leaf *leaves;
  size_t leaf_count, leaf_room;
  plan_context *contexts;
  size_t context_count, context_room;
  plan_candidate *candidates; /* by stack id */
  size_t candidate_count;
  plan_set *sets; /* set 0 is empty */
  size_t set_count, set_room;
  uint32_t *members; /* of all sets */
  size_t member_count, member_room;
  plan_group *groups; /* by leaf, then set */
  size_t group_count, group_room;
} planner;

static inline uint64_t plan_weight(const planner *p, uint64_t bytes, uint64_t accesses) {
  double share = p->total_accesses ? (double)accesses / (double)p->total_accesses : 0;
  uint64_t due = (uint64_t)(share * (double)p->total_bytes);
  return bytes > due ? bytes : due;
}

static inline void plan_add_context(const planner *p, plan_sums *sums, const plan_context *context) {
  sums->bytes[context->place] += context->bytes;
  sums->weights[context->place] += plan_weight(p, context->bytes, context->accesses);
  sums->accesses += context->place == PLAN_COLD ? 0 : context->accesses;
}

static inline void plan_add_sums(plan_sums *to, const plan_sums *from) {
  for (int i = 0; i < PLAN_PLACES; i++) {
    to->bytes[i] += from->bytes[i];
    to->weights[i] += from->weights[i];
  }
  to->accesses += from->accesses;
}

/* `parts` of `of` parts of a number, rounded down. */
static inline uint64_t plan_part_of(uint64_t number, uint64_t parts, uint64_t of) {
  return number / of * parts + number % of * parts / of;
}

/* The contexts that end at a frame are rows from this one on, up to `context_ends` of it. */
static inline uint32_t plan_first_row(const planner *p, uint32_t frame) {
  return frame ? p->w->context_ends[frame - 1] : 0;
}

/* placements.c: rows, leaf frames, placements. */
hearth_status hearth_plan_place_contexts(planner *p);
/* The leaf frame behind those of the same allocation call. */
size_t hearth_plan_end_of_leaf(const planner *p, size_t first);
/* placements.c: ids for the allocation calls of most weight, in the placements of their contexts that are not cold. E_NOMEM. */
hearth_status hearth_plan_give_pool_ids(planner *p);
/* candidates.c: leaves, contexts, candidates. */
hearth_status hearth_plan_find_leaves(planner *p);
hearth_status hearth_plan_find_candidates(planner *p);
/* site_groups.c: sets and groups. */
hearth_status hearth_plan_make_groups(planner *p);
/* choice.c: the section's bytes, malloc'd. */
hearth_status hearth_plan_choose(planner *p, void **ret_section, size_t *ret_size);

#endif
