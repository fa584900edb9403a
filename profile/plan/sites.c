/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Third step of planning: decision sites. A call site *proves* the contexts of an allocation call that go through it
 * cold if they are: then its bit alone says so, and bits that get lost make nothing cold. Greedy: the site that
 * proves most weight for its cost comes next, until there are no bits or no site is worth one; then sites that later
 * ones made needless go, and those of allocation calls that gain less than reading the word costs. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "planner.h"

#define STEPS_MAX UINT64_C(50000000) /* over callers: allocation calls that need more are left as they are */
#define GAIN_PPM  500                /* of the profile's bytes that a site has to put right, in weight */

/* A call site that may become a decision site. */
typedef struct candidate {
  uint64_t stack_id;
  uint64_t allocs;       /* in contexts that go through it */
  int64_t gain;          /* weight that it would prove, and no chosen site does, less that of others */
  plan_sums sums;        /* of the leaf that was looked at last */
  size_t first, end;     /* of its contexts, in `contexts_of` */
  uint32_t frame, depth; /* the first frame; callers between it and the allocation, at most */
  uint32_t leaf, walk;   /* that met it last */
  bool is_chosen;
} candidate;

/* A context's candidates that prove it: rows of `proofs`. */
typedef struct proven_context {
  size_t first, end;
  uint32_t chosen; /* of these */
} proven_context;

typedef struct choosing {
  planner *p;
  candidate *candidates; /* by stack id */
  size_t count;
  uint32_t *candidate_of; /* of each frame; HEARTH_NONE: it is none */
  proven_context *proven; /* of each context */
  uint32_t *proofs;       /* numbers of candidates */
  size_t proof_count, proof_room;
  uint32_t *contexts_of; /* by candidate: numbers of contexts */
  uint64_t least;        /* weight that a site has to be worth */
  uint64_t steps;        /* that may still be taken */
  uint32_t walk;         /* number of the present one */
  candidate *chosen[HEARTH_PLAN_SITES_MAX];
  uint32_t chosen_count;
} choosing;

/* ------------------------------------------------ candidates ------------------------------------------------ */

static hearth_status make_candidates(choosing *c) {
  const planner *p = c->p;
  const size_t frames = p->w->frames.count;
  uint64_t *ids;
  HEARTH_TRY(hearth_array_create(&ids, frames, sizeof *ids, p->err));
  for (size_t i = 0; i < frames; i++)
    if (p->may_be_site[i])
      ids[c->count++] = p->stack_ids[i];
  c->count = hearth_sort_distinct_u64(ids, c->count);
  hearth_status status = hearth_array_create(&c->candidates, c->count, sizeof *c->candidates, p->err);
  HEARTH_THEN(status, hearth_array_create(&c->candidate_of, frames, sizeof *c->candidate_of, p->err));
  for (size_t i = 0; status == HEARTH_OK && i < c->count; i++)
    c->candidates[i] = (candidate){.stack_id = ids[i], .frame = HEARTH_NONE, .leaf = HEARTH_NONE};
  for (uint32_t i = 0; status == HEARTH_OK && i < frames; i++) {
    const uint64_t *id =
        p->may_be_site[i] ? bsearch(&p->stack_ids[i], ids, c->count, sizeof *ids, hearth_compare_u64) : NULL;
    c->candidate_of[i] = id ? (uint32_t)(id - ids) : HEARTH_NONE;
    if (id && c->candidates[id - ids].frame == HEARTH_NONE)
      c->candidates[id - ids].frame = i;
  }
  free(ids);
  return status;
}

/* A walk over the candidates of a context's stack, each once, from the allocation outwards. */
typedef struct stack_walk {
  uint32_t node, depth;
} stack_walk;

static stack_walk begin_walk(choosing *c, const plan_context *context) {
  c->walk++;
  return (stack_walk){context->caller, 0};
}

/* HEARTH_NONE: there are no more, or no steps are left. */
static uint32_t next_candidate(choosing *c, stack_walk *walk) {
  const writer *w = c->p->w;
  while (walk->node != HEARTH_NONE && c->steps > 0) {
    uint32_t number = c->candidate_of[w->node_frames[walk->node]];
    c->steps--;
    walk->node = w->parents[walk->node];
    walk->depth++;
    if (number != HEARTH_NONE && c->candidates[number].walk != c->walk) {
      c->candidates[number].walk = c->walk;
      return number;
    }
  }
  return HEARTH_NONE;
}

static void sum_leaf(choosing *c, uint32_t number) {
  const plan_leaf *leaf = &c->p->leaves[number];
  for (uint32_t i = 0; i < leaf->context_count; i++) {
    const plan_context *context = &c->p->contexts[leaf->first_context + i];
    stack_walk walk = begin_walk(c, context);
    for (uint32_t k; (k = next_candidate(c, &walk)) != HEARTH_NONE;) {
      candidate *found = &c->candidates[k];
      if (found->leaf != number)
        found->sums = (plan_sums){0};
      found->leaf = number;
      found->allocs += context->allocs;
      found->depth = found->depth > walk.depth ? found->depth : walk.depth;
      plan_add_context(&found->sums, context);
    }
  }
}

static int64_t signed_weight(const planner *p, const plan_context *context) {
  int64_t weight = (int64_t)plan_context_weight(p, context);
  return context->is_cold ? weight : -weight;
}

static hearth_status list_proofs(choosing *c, uint32_t number) {
  const planner *p = c->p;
  const plan_leaf *leaf = &p->leaves[number];
  for (uint32_t i = leaf->first_context; i < leaf->first_context + leaf->context_count; i++) {
    stack_walk walk = begin_walk(c, &p->contexts[i]);
    c->proven[i].first = c->proof_count;
    for (uint32_t k; (k = next_candidate(c, &walk)) != HEARTH_NONE;) {
      candidate *found = &c->candidates[k];
      if (!plan_is_mostly_cold(p, &found->sums))
        continue;
      HEARTH_TRY(hearth_rows_reserve(&c->proofs, &c->proof_room, c->proof_count, 1, sizeof *c->proofs, p->err));
      c->proofs[c->proof_count++] = k;
      found->gain += signed_weight(p, &p->contexts[i]);
      found->end++;
    }
    c->proven[i].end = c->proof_count;
  }
  return HEARTH_OK;
}

/* Nothing is concluded from a part of a leaf's contexts: the rest may not be cold. */
static hearth_status find_proofs(choosing *c) {
  planner *p = c->p;
  for (uint32_t i = 0; i < p->leaf_count; i++) {
    if (p->leaves[i].is_cold)
      continue;
    uint64_t before = c->steps;
    sum_leaf(c, i);
    if (before / 2 < c->steps)
      HEARTH_TRY(list_proofs(c, i));
  }
  return HEARTH_OK;
}

/* Each candidate's contexts: a counting sort of the proofs. */
static hearth_status list_contexts(choosing *c) {
  size_t at = 0;
  HEARTH_TRY(hearth_array_create(&c->contexts_of, c->proof_count, sizeof *c->contexts_of, c->p->err));
  for (size_t i = 0; i < c->count; i++) {
    size_t own = c->candidates[i].end;
    c->candidates[i].first = c->candidates[i].end = at;
    at += own;
  }
  for (uint32_t i = 0; i < c->p->context_count; i++)
    for (size_t k = c->proven[i].first; k < c->proven[i].end; k++)
      c->contexts_of[c->candidates[c->proofs[k]].end++] = i;
  return HEARTH_OK;
}

/* -------------------------------------------------- choice -------------------------------------------------- */

static bool is_worth(const choosing *c, int64_t gain) { return gain > 0 && (uint64_t)gain >= c->least; }

/* How often a site runs is not known, only how many blocks are allocated while it is being called. Below a share of all
 * blocks that does not matter: bits are scarcer. */
static double cost_of(const choosing *c, const candidate *x) {
  return (double)x->allocs + (double)c->p->total_allocs / 64 + 1;
}

/* Weight that is put right for the cost. Among equals the outermost: it runs least often. */
static bool is_better(const choosing *c, const candidate *x, const candidate *y) {
  double left = (double)x->gain * cost_of(c, y), right = (double)y->gain * cost_of(c, x);
  return left != right ? left > right : x->depth > y->depth;
}

static candidate *best_candidate(const choosing *c) {
  candidate *best = NULL;
  for (size_t i = 0; i < c->count; i++)
    if (!c->candidates[i].is_chosen && is_worth(c, c->candidates[i].gain) &&
        (!best || is_better(c, &c->candidates[i], best)))
      best = &c->candidates[i];
  return best;
}

/* Other candidates gain nothing more by contexts that are proven now. */
static void choose_site(choosing *c, candidate *chosen) {
  chosen->is_chosen = true;
  c->chosen[c->chosen_count++] = chosen;
  for (size_t i = chosen->first; i < chosen->end; i++) {
    proven_context *proven = &c->proven[c->contexts_of[i]];
    int64_t weight = signed_weight(c->p, &c->p->contexts[c->contexts_of[i]]);
    for (size_t k = proven->first; proven->chosen == 0 && k < proven->end; k++)
      c->candidates[c->proofs[k]].gain -= weight;
    proven->chosen++;
  }
}

/* Weight that is right because of a chosen site alone. */
static int64_t loss_without(const choosing *c, const candidate *chosen) {
  int64_t loss = 0;
  for (size_t i = chosen->first; i < chosen->end; i++)
    if (c->proven[c->contexts_of[i]].chosen == 1)
      loss += signed_weight(c->p, &c->p->contexts[c->contexts_of[i]]);
  return loss;
}

/* Does the leaf heed no bits, or more than they cost? An allocation that heeds bits reads the word: an access more,
 * which weighs as others do. */
static bool is_worth_reading(const choosing *c, const plan_leaf *leaf) {
  int64_t gain = 0;
  uint64_t allocs = 0;
  bool heeds = false;
  for (uint32_t i = leaf->first_context; i < leaf->first_context + leaf->context_count; i++) {
    bool is_proven = c->proven[i].chosen > 0;
    heeds |= is_proven;
    gain += is_proven ? signed_weight(c->p, &c->p->contexts[i]) : 0;
    allocs += c->p->contexts[i].allocs;
  }
  return !heeds || gain > (int64_t)plan_weight(c->p, 0, allocs);
}

/* Leaves that gain less by bits than reading them costs heed none. Returns their number. */
static uint32_t drop_leaves(choosing *c) {
  uint32_t dropped = 0;
  for (size_t i = 0; i < c->p->leaf_count; i++) {
    const plan_leaf *leaf = &c->p->leaves[i];
    if (is_worth_reading(c, leaf))
      continue;
    memset(c->proven + leaf->first_context, 0, leaf->context_count * sizeof *c->proven);
    dropped++;
  }
  return dropped;
}

/* Sites that later ones, or leaves that heed none, have made needless. Returns their number. */
static uint32_t drop_sites(choosing *c) {
  uint32_t kept = 0, before = c->chosen_count;
  for (uint32_t i = 0; i < before; i++) {
    candidate *chosen = c->chosen[i];
    if (is_worth(c, loss_without(c, chosen))) {
      c->chosen[kept++] = chosen;
      continue;
    }
    for (size_t k = chosen->first; k < chosen->end; k++)
      c->proven[c->contexts_of[k]].chosen -= c->proven[c->contexts_of[k]].chosen > 0;
  }
  c->chosen_count = kept;
  return before - kept;
}

static void choose_all(choosing *c) {
  for (candidate *best; c->chosen_count < HEARTH_PLAN_SITES_MAX && (best = best_candidate(c));)
    choose_site(c, best);
  uint32_t dropped;
  do {
    dropped = drop_leaves(c);
    dropped += drop_sites(c);
  } while (dropped > 0);
}

static int compare_by_allocs(const void *a, const void *b) {
  const candidate *x = *(candidate *const *)a, *y = *(candidate *const *)b;
  return x->allocs != y->allocs ? (x->allocs < y->allocs) - (x->allocs > y->allocs)
                                : (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

/* The busiest sites get the lowest bits, which take fewer bytes of code. */
static void give_bits(choosing *c) {
  planner *p = c->p;
  qsort(c->chosen, c->chosen_count, sizeof *c->chosen, compare_by_allocs);
  for (uint32_t i = 0; i < c->chosen_count; i++) {
    const candidate *chosen = c->chosen[i];
    p->sites[i] = (hearth_plan_site){.stack_id = chosen->stack_id,
                                     .bytes = (uint64_t)loss_without(c, chosen),
                                     .allocs = chosen->allocs,
                                     .frame = chosen->frame,
                                     .bit = (uint8_t)i};
    for (size_t k = chosen->first; k < chosen->end; k++)
      if (c->proven[c->contexts_of[k]].chosen > 0)
        p->contexts[c->contexts_of[k]].bits |= UINT64_C(1) << i;
  }
  p->site_count = c->chosen_count;
  qsort(p->sites, p->site_count, sizeof *p->sites, hearth_compare_u64);
}

hearth_status hearth_plan_choose_sites(planner *p) {
  choosing c = {.p = p, .least = plan_part_of(p->total_bytes, GAIN_PPM, 1000000), .steps = STEPS_MAX};
  hearth_status status = make_candidates(&c);
  HEARTH_THEN(status, hearth_array_create(&c.proven, p->context_count, sizeof *c.proven, p->err));
  HEARTH_THEN(status, find_proofs(&c));
  HEARTH_THEN(status, list_contexts(&c));
  if (status == HEARTH_OK) {
    choose_all(&c);
    give_bits(&c);
  }
  HEARTH_FREE(c.candidates, c.candidate_of, c.proven, c.proofs, c.contexts_of);
  return status;
}
