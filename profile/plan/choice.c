/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fourth step of planning: sites and their bits. Greedy: the site with most gain for its cost comes next, and the leaves
 * that it changes are judged again (gains.c). Each site gets a bit of its own while there are enough; later ones share
 * a bit with a site where that loses nothing. Pruning removes bits and sites that are not worth it (pruning.c). */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "compare.h"
#include "planner.h"

#define UNSHARED_BITS 56u /* that sites get without being asked to share */

enum { FREE, CHOSEN, NO_BIT_LEFT };

/* ------------------------------------------------- choosing ------------------------------------------------- */

static const plan_opinion *opinion_of(const plan_leaf_state *leaf, uint32_t candidate) {
  return leaf->opinion_count
             ? bsearch(&candidate, leaf->opinions, leaf->opinion_count, sizeof *leaf->opinions, hearth_compare_u32)
             : NULL;
}

static bool wants(const choosing *c, const plan_opinion *opinion) {
  return opinion && (opinion->gain > 0 || (c->leading && opinion->lead > 0));
}

static bool heeds(const choosing *c, uint32_t leaf, uint32_t bit) { return c->leaves[leaf].heeded >> bit & 1; }

/* Do a leaf's groups go through another site that has the bit? */
static bool sees_another(const choosing *c, uint32_t leaf, uint32_t site, uint32_t bit) {
  for (uint32_t i = 0; i < c->chosen_count; i++)
    if (c->chosen[i] != site && c->bits[c->chosen[i]] == bit && plan_has(c->leaves[leaf].sees, c->chosen[i]))
      return true;
  return false;
}

/* The worth of a leaf: now, or once it heeds the bit and the site has that. */
static int64_t value_with(choosing *c, uint32_t leaf, uint32_t site, uint64_t bits) {
  const plan_leaf *l = &c->p->leaves[leaf];
  for (uint32_t i = 0; i < l->group_count; i++) {
    const plan_group *group = &c->p->groups[l->first_group + i];
    uint64_t word = c->words[group->set] | (plan_set_has(c->p, group->set, site) ? bits : 0);
    c->tallies[i] = (plan_tally){.bits = word & (c->leaves[leaf].heeded | bits), .groups = 1, .sums = group->sums};
  }
  uint32_t count = hearth_plan_merge_tallies(c->tallies, l->group_count);
  plan_spend(c, l->group_count);
  plan_spend_deciding(c, count);
  return hearth_plan_decide(c->p, c->tallies, count);
}

/* The worth of giving the site a bit that others have, too. Leaves that see both take one for the other: sites that
 * contexts of one place go through lose nothing by that. */
static int64_t worth_sharing(choosing *c, uint32_t site, uint32_t bit) {
  int64_t worth = 0;
  for (uint32_t i = 0; i < c->p->leaf_count; i++) {
    const plan_opinion *opinion = opinion_of(&c->leaves[i], site);
    bool wanted = wants(c, opinion), has_it = c->states[site] == CHOSEN;
    if (!wanted && (has_it || !heeds(c, i, bit) || !plan_has(c->leaves[i].sees, site)))
      continue;
    if (wanted && !sees_another(c, i, site, bit))
      worth += (int64_t)(c->leading ? opinion->lead : opinion->gain);
    else if (c->leading)
      return 0;
    else
      worth += value_with(c, i, site, UINT64_C(1) << bit) - value_with(c, i, site, 0);
  }
  return worth;
}

static uint64_t choice_score(const choosing *c, uint32_t i) { return c->leading ? c->leads[i] : c->gains[i]; }

/* The lowest bit that no site has. */
static uint8_t unused_bit(const choosing *c) {
  uint64_t used = 0;
  for (uint32_t i = 0; i < c->chosen_count; i++)
    used |= UINT64_C(1) << c->bits[c->chosen[i]];
  for (uint8_t bit = 0; bit < PLAN_WORD_BITS; bit++)
    if (!(used >> bit & 1))
      return bit;
  return PLAN_NO_BIT;
}

/* The first that costs nothing, or the best one that is worth it. */
static uint8_t bit_to_share(choosing *c, uint32_t site, bool *ret_costs_nothing) {
  uint8_t best = PLAN_NO_BIT;
  int64_t most = c->least ? (int64_t)c->least - 1 : 0, all = (int64_t)choice_score(c, site);
  for (uint8_t bit = 0; bit < PLAN_WORD_BITS && most < all && c->work > 0; bit++) {
    int64_t worth = worth_sharing(c, site, bit);
    if (worth > most) {
      most = worth;
      best = bit;
    }
  }
  *ret_costs_nothing = best != PLAN_NO_BIT && most >= all;
  return best;
}

/* One of its own costs less to set. The last ones are for sites that can share none. */
static uint8_t find_bit(choosing *c, uint32_t site) {
  uint8_t own = unused_bit(c);
  bool costs_nothing;
  if (c->states[site] == CHOSEN) /* for more leaves than before */
    return worth_sharing(c, site, c->bits[site]) > 0 ? c->bits[site] : PLAN_NO_BIT;
  if (own < UNSHARED_BITS)
    return own;
  uint8_t shared = bit_to_share(c, site, &costs_nothing);
  return costs_nothing || own == PLAN_NO_BIT ? shared : own;
}

/* How often a site runs is not known, only how many blocks are allocated while it is being called. Below a share of all
 * blocks that does not matter: bits are scarcer. A site that was chosen already costs nothing more. */
static double cost(const choosing *c, uint32_t i) {
  const planner *p = c->p;
  return (double)(c->states[i] == CHOSEN ? 0 : p->candidates[i].allocs) + (double)p->total_allocs / 64 + 1;
}

/* Weight that is put right for the cost. Among equals the outermost: it runs least often. */
static bool is_better(const choosing *c, uint32_t a, uint32_t b) {
  const plan_candidate *x = &c->p->candidates[a], *y = &c->p->candidates[b];
  double left = (double)choice_score(c, a) * cost(c, b), right = (double)choice_score(c, b) * cost(c, a);
  if (left != right)
    return left > right;
  return x->depth != y->depth ? x->depth > y->depth : a < b;
}

static uint32_t best_candidate(const choosing *c) {
  uint32_t best = HEARTH_NONE;
  for (uint32_t i = 0; i < c->p->candidate_count; i++) {
    if (c->states[i] == NO_BIT_LEFT || choice_score(c, i) == 0 || choice_score(c, i) < c->least)
      continue;
    if (c->states[i] == FREE && c->chosen_count >= c->p->options.max_sites)
      continue;
    if (best == HEARTH_NONE || is_better(c, i, best))
      best = i;
  }
  return best;
}

static void set_bit(choosing *c, uint32_t site, uint8_t bit) {
  c->states[site] = CHOSEN;
  c->bits[site] = bit;
  c->chosen[c->chosen_count++] = site;
  for (uint32_t i = 0; i < c->p->set_count; i++)
    if (plan_set_has(c->p, i, site))
      c->words[i] |= UINT64_C(1) << bit;
}

static hearth_status choice_take(choosing *c, uint32_t site, uint8_t bit) {
  if (c->states[site] == FREE)
    set_bit(c, site, bit);
  for (uint32_t i = 0; i < c->p->leaf_count; i++) {
    bool wanted = wants(c, opinion_of(&c->leaves[i], site));
    if (wanted)
      c->leaves[i].heeded |= UINT64_C(1) << bit;
    if (wanted || (heeds(c, i, bit) && plan_has(c->leaves[i].sees, site)))
      HEARTH_TRY(hearth_plan_judge_leaf(c, i));
  }
  return HEARTH_OK;
}

/* The site to choose next: the best that is worth it by itself, else one that may make others so. */
static uint32_t next_site(choosing *c) {
  c->leading = false;
  uint32_t site = best_candidate(c);
  if (site != HEARTH_NONE)
    return site;
  c->leading = true;
  return best_candidate(c);
}

static hearth_status choice_choose(choosing *c) {
  for (uint32_t i = 0; i < c->p->leaf_count; i++)
    HEARTH_TRY(hearth_plan_judge_leaf(c, i));
  for (uint32_t site; c->work > 0 && (site = next_site(c)) != HEARTH_NONE;) {
    uint8_t bit = find_bit(c, site);
    plan_spend(c, c->p->candidate_count + (uint64_t)c->p->leaf_count * (c->chosen_count + 1));
    if (bit != PLAN_NO_BIT)
      HEARTH_TRY(choice_take(c, site, bit));
    else
      c->states[site] = NO_BIT_LEFT;
  }
  return HEARTH_OK;
}

static hearth_status find_sites_seen(choosing *c, uint32_t number) {
  const planner *p = c->p;
  plan_leaf_state *leaf = &c->leaves[number];
  HEARTH_TRY(hearth_array_create(&leaf->sees, c->bitmap_words, sizeof *leaf->sees, c->p->err));
  for (uint32_t i = 0; i < p->leaves[number].group_count; i++) {
    const plan_group *group = &p->groups[p->leaves[number].first_group + i];
    for (uint32_t k = 0; k < p->sets[group->set].count; k++)
      plan_put(leaf->sees, plan_candidates_of(p, group->set)[k]);
  }
  return HEARTH_OK;
}

static hearth_status choice_prepare(choosing *c) {
  const planner *p = c->p;
  c->least = plan_part_of(p->total_bytes, p->options.min_gain_ppm, 1000000);
  c->bitmap_words = (p->candidate_count + 63) / 64;
  c->work = PLAN_WORK_MAX;
  HEARTH_TRY(hearth_array_create(&c->leaves, p->leaf_count, sizeof *c->leaves, c->p->err));
  HEARTH_TRY(hearth_array_create(&c->words, p->set_count, sizeof *c->words, c->p->err));
  HEARTH_TRY(hearth_array_create(&c->gains, p->candidate_count, sizeof *c->gains, c->p->err));
  HEARTH_TRY(hearth_array_create(&c->leads, p->candidate_count, sizeof *c->leads, c->p->err));
  HEARTH_TRY(hearth_array_create(&c->states, p->candidate_count, sizeof *c->states, c->p->err));
  HEARTH_TRY(hearth_array_create(&c->bits, p->candidate_count, sizeof *c->bits, c->p->err));
  HEARTH_TRY(hearth_array_create(&c->chosen, p->candidate_count, sizeof *c->chosen, c->p->err));
  HEARTH_TRY(hearth_array_create(&c->worth, p->candidate_count, sizeof *c->worth, c->p->err));
  HEARTH_TRY(hearth_array_create(&c->tallies, 2 * p->group_count, sizeof *c->tallies, c->p->err));
  HEARTH_TRY(hearth_plan_judge_start(c));
  memset(c->bits, PLAN_NO_BIT, p->candidate_count);
  for (uint32_t i = 0; i < p->leaf_count; i++)
    HEARTH_TRY(find_sites_seen(c, i));
  return HEARTH_OK;
}

static void choice_release(choosing *c) {
  hearth_plan_judge_end(c);
  for (uint32_t i = 0; c->leaves && i < c->p->leaf_count; i++)
    free(c->leaves[i].sees);
  free(c->leaves);
  free(c->words);
  free(c->gains);
  free(c->leads);
  free(c->states);
  free(c->bits);
  free(c->chosen);
  free(c->worth);
  free(c->tallies);
}

hearth_status hearth_plan_choose(planner *p, void **ret_section, size_t *ret_size) {
  choosing c = {.p = p};
  *ret_section = NULL;
  hearth_status status = choice_prepare(&c);
  if (status == HEARTH_OK)
    status = choice_choose(&c);
  if (status == HEARTH_OK)
    status = hearth_plan_prune(&c);
  if (status == HEARTH_OK)
    status = hearth_plan_write_section(&c, ret_section, ret_size);
  choice_release(&c);
  return status;
}
