/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declarations that the last steps of planning share: the state of the choice, and the tables that would follow from
 * it. */
#ifndef HEARTH_PLAN_CHOOSE_H
#define HEARTH_PLAN_CHOOSE_H

#include <stdlib.h>

#include "compare.h"
#include "planner.h"

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
