/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declarations that the steps of planning share: placements, sites that contexts part at, groups of contexts, the choice. */
#ifndef HEARTH_PLAN_INTERNAL_H
#define HEARTH_PLAN_INTERNAL_H

#include "cost_model.h"
#include "hearth/plan.h"
#include "writer.h"

/* A row of CONTEXTS. */
typedef struct plan_row {
  uint64_t bytes, allocs, accesses;
  hearth_class hotness;
  bool is_light; /* of no weight, nor all light ones of its allocation call together: it decides nothing */
} plan_row;

/* A frame that contexts end at. */
typedef struct plan_leaf_frame {
  uint64_t id; /* of its allocation call: a stack id; 0: it has no name */
  uint32_t frame;
} plan_leaf_frame;

typedef struct plan_layout {
  enum hearth_layout kind;
  hearth_placement *placements; /* of each row of CONTEXTS */
  hearth_plan_layout predicted[HEARTH_LAYOUTS];
  uint32_t predicted_count;
  bool is_empty; /* all placements are 0 */
  uint32_t pool_count;
  hearth_plan_pool pools[HEARTH_POOLS_MAX];
} plan_layout;

/* The placements of one allocation call have numbers of their own, its places: 0 is none (as without a profile), 1 cold, the
 * others are those that most of its weight has. Contexts of further ones count as of place 0. */
enum { PLAN_NO_PLACE = 0, PLAN_COLD = 1, PLAN_WARM = 2, PLAN_PLACES = 8 };

/* An allocation call whose contexts differ. */
typedef struct plan_leaf {
  uint64_t stack_id;
  uint32_t frame;
  uint32_t first_context, context_count; /* of the planner's */
  uint32_t first_group, group_count;
  uint64_t at_stake; /* weight that is not of its most common place; known where leaves have to be left out */
  hearth_placement placements[PLAN_PLACES]; /* of each place */
} plan_leaf;

typedef struct plan_context {
  uint32_t node;   /* of the caller that is looked at next, or HEARTH_NONE */
  uint32_t caller; /* of the allocation call; a node or HEARTH_NONE */
  uint32_t spot;   /* scratch: of the frame that was looked at last */
  uint8_t place;
  hearth_placement placement;
  uint64_t bytes, allocs, accesses;
} plan_context;

/* A call site that may become a decision site. */
typedef struct plan_candidate {
  uint64_t stack_id;
  uint64_t bytes;  /* of the contexts that part there */
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
  plan_subject *subjects; /* by call */
  uint32_t subject_count;
  uint32_t *subject_of_row; /* HEARTH_NONE: it has none */
  plan_time time;
  plan_layout layout;
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

static inline bool plan_is_cold(const plan_subject *subject) { return subject->hotness == HEARTH_CLASS_COLD; }

static inline void plan_add_context(const planner *p, plan_sums *sums, const plan_context *context) {
  double share = p->total_accesses ? (double)context->accesses / (double)p->total_accesses : 0;
  uint64_t due = (uint64_t)(share * (double)p->total_bytes);
  sums->bytes[context->place] += context->bytes;
  sums->weights[context->place] += context->bytes > due ? context->bytes : due;
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

/* placements.c: rows, leaf frames, the layout. */
hearth_status hearth_plan_place_contexts(planner *p);
/* The leaf frame behind those of the same allocation call. */
size_t hearth_plan_end_of_leaf(const planner *p, size_t first);
/* subjects.c, scenes.c, layouts.c: subjects; their scenes; the layout. */
hearth_status hearth_plan_make_subjects(planner *p);
hearth_status hearth_plan_make_scenes(planner *p);
hearth_status hearth_plan_find_layout(planner *p);

/* clusters.c: subjects that are not cold in at most HEARTH_POOLS_MAX clusters. `ret`: the number of each subject's. */
typedef struct plan_clustering {
  bool by_call; /* subjects of one allocation call are together */
  bool has_huge_pages;
  plan_prices prices;
  double least_price; /* clusters stay apart if joining them costs that */
} plan_clustering;
hearth_status hearth_plan_make_clusters(planner *p, const plan_clustering *how, uint8_t *ret, uint32_t *ret_count);
/* candidates.c: leaves, contexts, candidates. */
hearth_status hearth_plan_find_leaves(planner *p);
hearth_status hearth_plan_find_candidates(planner *p);
/* site_groups.c: sets and groups. */
hearth_status hearth_plan_make_groups(planner *p);
/* choice.c: the section's bytes, malloc'd. */
hearth_status hearth_plan_choose(planner *p, void **ret_section, size_t *ret_size);

#endif
