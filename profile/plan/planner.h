/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declarations that the steps of planning share: sites that contexts part at, groups of contexts, the choice. */
#ifndef HEARTH_PLAN_INTERNAL_H
#define HEARTH_PLAN_INTERNAL_H

#include "hearth/plan.h"
#include "writer.h"

/* An allocation call whose contexts differ, or a function without source. */
typedef struct plan_leaf {
  uint64_t stack_id; /* or id of the function */
  uint32_t frame;
  uint32_t first_context, context_count; /* of the planner's */
  uint32_t first_group, group_count;
  uint64_t at_stake; /* weight that is not of its most common class; known where leaves have to be left out */
} plan_leaf;

typedef struct plan_context {
  uint32_t node;   /* of the caller that is looked at next, or HEARTH_NONE */
  uint32_t caller; /* of the allocation call; a node or HEARTH_NONE */
  uint32_t place;  /* scratch: of the frame that was looked at last */
  hearth_class hotness;
  uint64_t bytes, allocs, accesses;
  bool is_light; /* !hearth_has_weight() */
} plan_context;

/* A call site that may become a decision site. */
typedef struct plan_candidate {
  uint64_t stack_id;
  uint64_t bytes;  /* of the contexts that part there */
  uint64_t allocs; /* in contexts that go through it */
  uint32_t frame;
  uint32_t depth; /* callers between it and the allocation, at most */
  bool recursive; /* folding left it out of a stack */
} plan_candidate;

/* Sums over contexts. Their weight says how much depends on them. It is their bytes or, where that is more, the part of
 * all bytes that equals their share of all accesses. A site that keeps some busy bytes out of the cold ones is worth
 * more than these. */
typedef struct plan_sums {
  uint64_t bytes[4], weights[4]; /* by class */
  uint64_t accesses;             /* of contexts that are not cold */
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
  uint64_t *stack_ids; /* of each frame; 0: unknown */
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

static inline void plan_add_context(const planner *p, plan_sums *sums, const plan_context *context) {
  double share = p->total_accesses ? (double)context->accesses / (double)p->total_accesses : 0;
  uint64_t due = (uint64_t)(share * (double)p->total_bytes);
  sums->bytes[context->hotness] += context->bytes;
  sums->weights[context->hotness] += context->bytes > due ? context->bytes : due;
  sums->accesses += context->hotness == HEARTH_CLASS_COLD ? 0 : context->accesses;
}

static inline void plan_add_sums(plan_sums *to, const plan_sums *from) {
  for (int i = 0; i < 4; i++) {
    to->bytes[i] += from->bytes[i];
    to->weights[i] += from->weights[i];
  }
  to->accesses += from->accesses;
}

/* `parts` of `of` parts of a number, rounded down. */
static inline uint64_t plan_part_of(uint64_t number, uint64_t parts, uint64_t of) {
  return number / of * parts + number % of * parts / of;
}

/* Is it a function without source? Its frame has no stack id. */
static inline bool plan_is_library_call(const planner *p, const plan_leaf *leaf) {
  return p->stack_ids[leaf->frame] == 0;
}

/* candidates.c: leaves, contexts, candidates. */
hearth_status hearth_plan_find_leaves(planner *p);
hearth_status hearth_plan_find_candidates(planner *p);
/* groups.c: sets and groups. */
hearth_status hearth_plan_make_groups(planner *p);
/* choice.c: the section's bytes, malloc'd. */
hearth_status hearth_plan_choose(planner *p, void **ret_section, size_t *ret_size);

#endif
