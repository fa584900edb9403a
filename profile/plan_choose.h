/* What the last steps of planning share: the state of the choice. */
#ifndef HEARTH_PLAN_CHOOSE_H
#define HEARTH_PLAN_CHOOSE_H

#include "plan_internal.h"

#define PLAN_WORD_BITS 64u

/* A candidate as one leaf sees it. */
typedef struct plan_opinion {
  uint32_t candidate;
  uint64_t gain; /* weight of the leaf that it would put right */
  uint64_t lead; /* weight of different classes that it would part from each other, whether or not that is enough */
} plan_opinion;

typedef struct plan_leaf_state {
  uint64_t *uses; /* bitmap over candidates: sites that its units are told apart by */
  uint64_t *sees; /* those that its units go through */
  plan_opinion *opinions;
  uint32_t opinion_count;
} plan_leaf_state;

typedef struct choosing {
  planner *p;
  size_t words;   /* of a bitmap */
  uint64_t least; /* weight that a site has to be worth */
  uint64_t work;  /* steps that may still be taken: what is chosen until then is the plan */
  plan_leaf_state *leaves;
  uint32_t *groups;        /* of each unit: units of a leaf that are told apart have different ones */
  uint64_t *gains, *leads; /* of each candidate, in all leaves */
  uint8_t *states;         /* of each candidate */
  uint32_t *bits;          /* of each chosen one */
  uint32_t *chosen;        /* in the order they were chosen in */
  uint64_t *worth;         /* of each chosen one: weight that would be misplaced without it */
  uint32_t chosen_count;
  bool leading;                   /* choose by leads, since no candidate is worth it by itself */
  bool *heeding;                  /* scratch: of each leaf, whether it uses or wants a site */
  plan_opinion *judged;           /* scratch: a leaf's opinion of each candidate */
  uint32_t *listed, listed_count; /* scratch: candidates that it has one of */
  uint32_t *order;                /* scratch: units of a leaf by group */
  struct {
    uint64_t weights[4];
    bool seen;
  } * inside;        /* scratch: of a group's units that go through each candidate */
  uint32_t *touched; /* scratch: candidates that are `seen` */
} choosing;

static inline bool plan_has(const uint64_t *bitmap, uint32_t i) { return bitmap[i / 64] >> i % 64 & 1; }
static inline void plan_put(uint64_t *bitmap, uint32_t i) { bitmap[i / 64] |= UINT64_C(1) << i % 64; }
static inline void plan_remove(uint64_t *bitmap, uint32_t i) { bitmap[i / 64] &= ~(UINT64_C(1) << i % 64); }

static inline const uint32_t *plan_candidates_of(const planner *p, const plan_unit *unit) {
  return p->members + p->sets[unit->set].first;
}

/* `count` + 1 items, zeroed. */
hearth_status plan_allocate(const choosing *c, void **ret, size_t count, size_t item_size);

/* plan_tables.c: leave out what is not worth it; the section's bytes, malloc'd. */
hearth_status plan_prune(choosing *c);
hearth_status plan_write_section(choosing *c, void **ret, size_t *ret_size);

#endif
