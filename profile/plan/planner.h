/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declarations that the steps of planning share: placements, pool ids, sites that contexts part at, groups, the choice. */
#ifndef HEARTH_PLANNER_H
#define HEARTH_PLANNER_H

#include <stdlib.h>

#include "compare.h"
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

/* Places of contexts of an allocation call: contexts that are neither cold nor dormant have the call's pool id, if it has one. */
enum { PLAN_WARM = 0, PLAN_COLD = 1, PLAN_PLACES = 2 };

static inline bool plan_lies_apart(hearth_placement placement) {
  return placement == HEARTH_CLASS_COLD || placement == HEARTH_PLACEMENT_DORMANT;
}

/* An allocation call whose contexts differ. */
typedef struct plan_leaf {
  uint64_t stack_id;
  uint32_t frame;
  uint32_t first_context, context_count; /* of the planner's */
  uint32_t first_group, group_count;
  uint64_t at_stake;     /* weight that is not of its most common place; known where leaves have to be left out */
  hearth_placement warm; /* placement of its contexts that do not lie apart */
  hearth_placement cold; /* of the others: cold if all of them are, else dormant */
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
  hearth_plan_call calls[HEARTH_PLAN_CALLS_MAX];
  bool has_dormant;
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

/* ------------------------------------------------ choice ------------------------------------------------ */

/* Declarations that the last steps of planning share: the state of the choice, and the tables that would follow from
 * it. */

#define PLAN_WORD_BITS 64u
#define PLAN_NO_BIT    UINT8_MAX
#define PLAN_WORK_MAX  UINT64_C(20000000) /* steps of choosing, and of pruning, of some nanoseconds each */

/* A candidate as one leaf sees it. */
typedef struct plan_opinion {
  uint32_t candidate;
  uint64_t gain; /* weight of the leaf that it would put right */
  uint64_t lead; /* cold weight that it would part from others, whether or not that is enough */
} plan_opinion;

typedef struct plan_leaf_state {
  uint64_t heeded; /* bits that tell its groups apart */
  uint64_t *sees;  /* bitmap of the candidates that its groups go through */
  plan_opinion *opinions;
  uint32_t opinion_count;
} plan_leaf_state;

/* The allocations of a leaf while certain of the bits that it heeds are set. */
typedef struct plan_tally {
  uint64_t bits;
  uint32_t groups;
  uint8_t place; /* that its entry has, once that is decided */
  plan_sums sums;
} plan_tally;

typedef struct choosing {
  planner *p;
  size_t bitmap_words;
  uint64_t least; /* weight that a site has to be worth */
  uint64_t work;  /* steps that may still be taken: the choice at that point is the plan */
  plan_leaf_state *leaves;
  uint64_t *words;         /* of each set: the bits of its sites */
  uint64_t *gains, *leads; /* of each candidate, in all leaves */
  uint8_t *states;         /* of each candidate */
  uint8_t *bits;           /* of each candidate; PLAN_NO_BIT unless it is chosen */
  uint32_t *chosen;        /* in the order they were chosen in */
  uint64_t *worth;         /* of each chosen one: weight that would be misplaced without it */
  uint32_t chosen_count;
  bool leading;           /* choose by leads, since no candidate is worth it by itself */
  plan_tally *tallies;    /* scratch: of one leaf, twice as many as groups */
  struct judging *judged; /* scratch: gains.c */
} choosing;

static inline bool plan_has(const uint64_t *bitmap, uint32_t i) { return bitmap[i / 64] >> i % 64 & 1; }
static inline void plan_put(uint64_t *bitmap, uint32_t i) { bitmap[i / 64] |= UINT64_C(1) << i % 64; }

static inline const uint32_t *plan_candidates_of(const planner *p, uint32_t set) {
  return p->members + p->sets[set].first;
}

static inline bool plan_set_has(const planner *p, uint32_t set, uint32_t candidate) {
  uint32_t count = p->sets[set].count;
  return p->sets[set].marks >> candidate % 64 & 1 &&
         bsearch(&candidate, plan_candidates_of(p, set), count, sizeof candidate, hearth_compare_u32) != NULL;
}

static inline void plan_spend(choosing *c, uint64_t steps) { c->work -= steps < c->work ? steps : c->work; }

/* planner.c: the places that allocations may conclude from the bits.
 *
 * Bits get lost: where a caller was edited, its file renamed, compiled without optimisation or by another plan, or where the
 * profile never saw it. Then an allocation sees fewer bits than its context has by the plan. Lost bits must never make a block
 * cold: contexts that have a cold entry's bits, and perhaps more, are all cold. What no bits tell of is not cold.
 *
 * The place of contexts with these of the bits that the call heeds, whose sums are `own`, where `above` are those of all that
 * have these bits and more. */
uint8_t hearth_plan_place(const planner *p, uint64_t bits, const plan_sums *own, const plan_sums *above);
/* Weight that is right when these contexts are taken to be of that place, less what the others cost. */
int64_t hearth_plan_value(const plan_sums *own, uint8_t place);
/* Decide the place of each of a leaf's tallies, which ascend by bits. Returns the value of all. */
int64_t hearth_plan_decide(const planner *p, plan_tally *tallies, uint32_t count);
/* A leaf's tallies, by ascending bits, into `ret`, which has room for all of its groups; returns their number. */
uint32_t hearth_plan_fill_tallies(const choosing *c, uint32_t leaf, plan_tally *ret);
/* Merge tallies with equal bits, and drop tallies without groups; returns how many are left. */
uint32_t hearth_plan_merge_tallies(plan_tally *tallies, uint32_t count);
/* Account for the steps of deciding `count` tallies: most pairs are passed over. */
static inline void plan_spend_deciding(choosing *c, uint32_t count) {
  plan_spend(c, count + (uint64_t)count * count / 8);
}

/* gains.c: renew a leaf's gains from the candidates. */
hearth_status hearth_plan_judge_start(choosing *c);
hearth_status hearth_plan_judge_leaf(choosing *c, uint32_t number);
void hearth_plan_judge_end(choosing *c);

/* pruning.c: leave out choices that are not worth it, as far as that can be found out in time. */
hearth_status hearth_plan_prune(choosing *c);

/* plan_section.c: the section's bytes, malloc'd. */
hearth_status hearth_plan_write_section(choosing *c, void **ret, size_t *ret_size);

#endif
