/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The gain of each candidate: the weight that it would put right in an allocation call. Groups that the chosen bits do
 * not tell apart are mixtures. For each mixture and candidate: the value of both parts, once groups that go through the
 * candidate have a bit more, less the value of the mixture. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "compare.h"
#include "planner.h"

#define NEW_BIT UINT64_C(1) /* stands for the bit that a candidate would get */

/* Groups of a leaf that are not told apart yet. */
typedef struct mixture {
  uint64_t bits;
  uint32_t first, end; /* in the order */
  plan_sums own, above;
  int64_t value;
} mixture;

/* The groups of a mixture that go through a candidate (own), with the groups that have its bits and more (above). */
typedef struct parted {
  plan_sums own, above;
  bool seen;
} parted;

typedef struct ordered_group {
  uint64_t bits;
  uint32_t group;
} ordered_group;

typedef struct judging {
  ordered_group *order; /* groups of a leaf by bits */
  mixture *mixtures;
  uint32_t mixture_count;
  parted *parted;    /* of each candidate */
  uint32_t *touched; /* candidates that are `seen` */
  plan_opinion *opinions;
  int64_t *gains;   /* of each candidate, in the leaf */
  uint32_t *listed; /* candidates that there is an opinion of */
  uint32_t listed_count;
  bool *is_listed;
} judging;

static int compare_ordered(const void *a, const void *b) {
  const ordered_group *x = a, *y = b;
  return x->bits != y->bits ? (x->bits > y->bits) - (x->bits < y->bits) : (x->group > y->group) - (x->group < y->group);
}

static bool gain_is_above(const mixture *g, const mixture *other) {
  return g->bits != other->bits && (other->bits & ~g->bits) == 0;
}

/* The leaf's mixtures, by ascending bits: those with another one's and more come behind it. */
static void make_mixtures(choosing *c, uint32_t number) {
  const planner *p = c->p;
  const plan_leaf *leaf = &p->leaves[number];
  judging *j = c->judged;
  for (uint32_t i = 0; i < leaf->group_count; i++) {
    uint32_t group = leaf->first_group + i;
    j->order[i] = (ordered_group){c->words[p->groups[group].set] & c->leaves[number].heeded, group};
  }
  qsort(j->order, leaf->group_count, sizeof *j->order, compare_ordered);
  j->mixture_count = 0;
  for (uint32_t i = 0; i < leaf->group_count; i++) {
    if (j->mixture_count == 0 || j->mixtures[j->mixture_count - 1].bits != j->order[i].bits)
      j->mixtures[j->mixture_count++] = (mixture){.bits = j->order[i].bits, .first = i};
    mixture *g = &j->mixtures[j->mixture_count - 1];
    g->end = i + 1;
    plan_add_sums(&g->own, &p->groups[j->order[i].group].sums);
  }
  for (uint32_t i = 0; i < j->mixture_count; i++) {
    mixture *g = &j->mixtures[i];
    for (uint32_t k = i + 1; k < j->mixture_count; k++)
      if (gain_is_above(&j->mixtures[k], g))
        plan_add_sums(&g->above, &j->mixtures[k].own);
    g->value = hearth_plan_value(&g->own, hearth_plan_place(p, g->bits, &g->own, &g->above));
  }
}

/* Sums of the mixture's groups by candidate. Those that the leaf heeds already would part nothing. */
static uint32_t part_own(choosing *c, uint32_t leaf, const mixture *g) {
  const planner *p = c->p;
  judging *j = c->judged;
  uint32_t touched = 0;
  for (uint32_t i = g->first; i < g->end; i++) {
    const plan_group *group = &p->groups[j->order[i].group];
    const uint32_t *candidates = plan_candidates_of(p, group->set), count = p->sets[group->set].count;
    for (uint32_t k = 0; k < count; k++) {
      uint32_t candidate = candidates[k];
      parted *parted = &j->parted[candidate];
      if (c->bits[candidate] != PLAN_NO_BIT && c->leaves[leaf].heeded >> c->bits[candidate] & 1)
        continue;
      if (!parted->seen) {
        memset(parted, 0, sizeof *parted);
        parted->seen = true;
        j->touched[touched++] = candidate;
      }
      plan_add_sums(&parted->own, &group->sums);
    }
    plan_spend(c, count);
  }
  return touched;
}

static void part_above(choosing *c, const mixture *g) {
  const planner *p = c->p;
  const judging *j = c->judged;
  for (uint32_t i = g->first; i < g->end; i++) {
    const plan_group *group = &p->groups[j->order[i].group];
    const uint32_t *candidates = plan_candidates_of(p, group->set), count = p->sets[group->set].count;
    for (uint32_t k = 0; k < count; k++)
      if (j->parted[candidates[k]].seen)
        plan_add_sums(&j->parted[candidates[k]].above, &group->sums);
    plan_spend(c, count);
  }
}

static plan_sums difference(const plan_sums *from, const plan_sums *less) {
  plan_sums sums = *from;
  for (int i = 0; i < PLAN_PLACES; i++) {
    sums.bytes[i] -= less->bytes[i];
    sums.weights[i] -= less->weights[i];
  }
  sums.accesses -= less->accesses;
  return sums;
}

/* Cold weight, times the part of the weight there that would no longer be in its way. A site may part such pairs and still put
 * nothing right by itself: of contexts AB, cold, AC and DB, hot, it takes both A and B to know the first. */
static uint64_t lead_of(const mixture *g, const parted *parted) {
  double warm = (double)(g->own.weights[PLAN_WARM] + g->above.weights[PLAN_WARM]),
         cold = (double)(g->own.weights[PLAN_COLD] + g->above.weights[PLAN_COLD]),
         others = warm - (double)(parted->own.weights[PLAN_WARM] + parted->above.weights[PLAN_WARM]);
  return warm + cold > 0 ? (uint64_t)((double)parted->own.weights[PLAN_COLD] * others / (warm + cold)) : 0;
}

static void add_opinion(judging *j, uint32_t candidate, int64_t gain, uint64_t lead) {
  if (!j->is_listed[candidate]) {
    j->is_listed[candidate] = true;
    j->listed[j->listed_count++] = candidate;
  }
  j->gains[candidate] += gain;
  j->opinions[candidate].candidate = candidate;
  j->opinions[candidate].lead += lead;
}

/* Is all of the mixture right? */
static bool is_right(const mixture *g) {
  return g->value == (int64_t)(g->own.weights[PLAN_WARM] + g->own.weights[PLAN_COLD]);
}

/* The weight that each candidate would put right. Groups that go through it are then apart from all that do not; the
 * others still are below all that have their bits. */
static void judge_mixture(choosing *c, uint32_t leaf, uint32_t number) {
  judging *j = c->judged;
  const mixture *g = &j->mixtures[number];
  if (is_right(g))
    return;
  uint32_t touched = part_own(c, leaf, g);
  for (uint32_t i = number + 1; i < j->mixture_count; i++)
    if (gain_is_above(&j->mixtures[i], g))
      part_above(c, &j->mixtures[i]);
  while (touched > 0) {
    uint32_t candidate = j->touched[--touched];
    parted *inside = &j->parted[candidate];
    plan_sums outside = difference(&g->own, &inside->own), above = g->above;
    plan_add_sums(&above, &inside->own);
    uint8_t apart = hearth_plan_place(c->p, NEW_BIT, &inside->own, &inside->above),
            rest = hearth_plan_place(c->p, g->bits, &outside, &above);
    int64_t gain = hearth_plan_value(&inside->own, apart) + hearth_plan_value(&outside, rest) - g->value;
    uint64_t lead = lead_of(g, inside);
    if (gain || lead)
      add_opinion(j, candidate, gain, lead);
    inside->seen = false;
  }
}

static void forget_opinions(choosing *c, plan_leaf_state *state) {
  for (uint32_t i = 0; i < state->opinion_count; i++) {
    c->gains[state->opinions[i].candidate] -= state->opinions[i].gain;
    c->leads[state->opinions[i].candidate] -= state->opinions[i].lead;
  }
  state->opinion_count = 0;
  free(state->opinions);
  state->opinions = NULL;
}

/* By candidate. Leads that are worth less than a site has to be do not count. */
static hearth_status keep_opinions(choosing *c, plan_leaf_state *state) {
  judging *j = c->judged;
  HEARTH_TRY(hearth_array_create(&state->opinions, j->listed_count, sizeof *state->opinions, c->p->err));
  qsort(j->listed, j->listed_count, sizeof *j->listed, hearth_compare_u32);
  for (uint32_t i = 0; i < j->listed_count; i++) {
    uint32_t candidate = j->listed[i];
    plan_opinion opinion = j->opinions[candidate];
    opinion.gain = j->gains[candidate] > 0 ? (uint64_t)j->gains[candidate] : 0;
    opinion.lead = opinion.lead < c->least ? 0 : opinion.lead;
    if (opinion.gain || opinion.lead)
      state->opinions[state->opinion_count++] = opinion;
    c->gains[candidate] += opinion.gain;
    c->leads[candidate] += opinion.lead;
    j->opinions[candidate] = (plan_opinion){0};
    j->gains[candidate] = 0;
    j->is_listed[candidate] = false;
  }
  j->listed_count = 0;
  return HEARTH_OK;
}

hearth_status hearth_plan_judge_leaf(choosing *c, uint32_t number) {
  forget_opinions(c, &c->leaves[number]);
  make_mixtures(c, number);
  for (uint32_t i = 0; i < c->judged->mixture_count; i++)
    judge_mixture(c, number, i);
  return keep_opinions(c, &c->leaves[number]);
}

hearth_status hearth_plan_judge_start(choosing *c) {
  size_t groups = c->p->group_count, candidates = c->p->candidate_count;
  HEARTH_TRY(hearth_array_create(&c->judged, 1, sizeof *c->judged, c->p->err));
  judging *j = c->judged;
  HEARTH_TRY(hearth_array_create(&j->order, groups, sizeof *j->order, c->p->err));
  HEARTH_TRY(hearth_array_create(&j->mixtures, groups, sizeof *j->mixtures, c->p->err));
  HEARTH_TRY(hearth_array_create(&j->parted, candidates, sizeof *j->parted, c->p->err));
  HEARTH_TRY(hearth_array_create(&j->touched, candidates, sizeof *j->touched, c->p->err));
  HEARTH_TRY(hearth_array_create(&j->opinions, candidates, sizeof *j->opinions, c->p->err));
  HEARTH_TRY(hearth_array_create(&j->gains, candidates, sizeof *j->gains, c->p->err));
  HEARTH_TRY(hearth_array_create(&j->listed, candidates, sizeof *j->listed, c->p->err));
  return hearth_array_create(&j->is_listed, candidates, sizeof *j->is_listed, c->p->err);
}

void hearth_plan_judge_end(choosing *c) {
  judging *j = c->judged;
  for (uint32_t i = 0; c->leaves && i < c->p->leaf_count; i++)
    free(c->leaves[i].opinions);
  if (!j)
    return;
  free(j->order);
  free(j->mixtures);
  free(j->parted);
  free(j->touched);
  free(j->opinions);
  free(j->gains);
  free(j->listed);
  free(j->is_listed);
  free(j);
}
