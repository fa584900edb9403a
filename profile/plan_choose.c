/* Third step of planning: the sites and their bits. */
#include <stdlib.h>
#include <string.h>

#include "plan_choose.h"

#define WORK_MAX UINT64_C(20000000) /* steps, of some nanoseconds each */

enum { FREE, CHOSEN, NO_BIT_LEFT };

hearth_status plan_allocate(const choosing *c, void **ret, size_t count, size_t item_size) {
  *ret = calloc(count + 1, item_size);
  return *ret ? HEARTH_OK : hearth_error_set(c->p->err, HEARTH_E_NOMEM, "out of memory planning");
}

/* -------------------------------------------------- gains --------------------------------------------------- */

/* Weight of different classes that is together, roughly: pairs of bytes, for each byte there is. A site may part such
 * pairs and still put nothing right by itself: of contexts AB, hot, AC and DB, cold, it takes both A and B to know the
 * first. */
static double mixed(const uint64_t weights[4]) {
  double sum = 0, squares = 0;
  for (int i = 0; i < 4; i++) {
    sum += (double)weights[i];
    squares += (double)weights[i] * (double)weights[i];
  }
  return (sum * sum - squares) / 2;
}

static uint64_t lead_of(const uint64_t all[4], const uint64_t inside[4], const uint64_t outside[4]) {
  double sum = 0, parted = mixed(all) - mixed(inside) - mixed(outside);
  for (int i = 0; i < 4; i++)
    sum += (double)all[i];
  return parted > 0 ? (uint64_t)(parted / sum) : 0;
}

static void add_opinion(choosing *c, uint32_t candidate, uint64_t gain, uint64_t lead) {
  plan_opinion *opinion = &c->judged[candidate];
  if (opinion->gain == 0 && opinion->lead == 0)
    c->listed[c->listed_count++] = candidate;
  opinion->candidate = candidate;
  opinion->gain += gain;
  opinion->lead += lead;
}

static void spend(choosing *c, uint64_t steps) { c->work -= steps < c->work ? steps : c->work; }

static inline void add_weights(uint64_t *restrict to, const uint64_t *restrict from) {
  for (int i = 0; i < 4; i++)
    to[i] += from[i];
}

/* What each candidate would put right among units that are not told apart yet. */
static void judge_group(choosing *c, const uint32_t *units, uint32_t count) {
  const planner *p = c->p;
  uint64_t all[4] = {0};
  uint32_t touched = 0;
  for (uint32_t i = 0; i < count; i++)
    add_weights(all, p->units[units[i]].sums.weights);
  if (plan_misplaced(all) == 0)
    return;
  for (uint32_t i = 0; i < count; i++) {
    const plan_unit *unit = &p->units[units[i]];
    const uint32_t *candidates = plan_candidates_of(p, unit), candidate_count = p->sets[unit->set].count;
    for (uint32_t k = 0; k < candidate_count; k++) {
      uint32_t candidate = candidates[k];
      if (!c->inside[candidate].seen) {
        memset(&c->inside[candidate], 0, sizeof c->inside[candidate]);
        c->inside[candidate].seen = true;
        c->touched[touched++] = candidate;
      }
      add_weights(c->inside[candidate].weights, unit->sums.weights);
    }
    spend(c, candidate_count);
  }
  while (touched > 0) {
    uint32_t candidate = c->touched[--touched];
    uint64_t outside[4];
    for (int i = 0; i < 4; i++)
      outside[i] = all[i] - c->inside[candidate].weights[i];
    uint64_t gain = plan_misplaced(all) - plan_misplaced(c->inside[candidate].weights) - plan_misplaced(outside),
             lead = lead_of(all, c->inside[candidate].weights, outside);
    if (gain || lead)
      add_opinion(c, candidate, gain, lead);
    c->inside[candidate].seen = false;
  }
}

/* The units of a leaf in `order`, those of one group together, by ascending group. Groups are less than twice as many as
 * units. */
static hearth_status sort_units(choosing *c, const plan_leaf *leaf) {
  uint32_t *ends;
  size_t groups = 2 * (size_t)leaf->unit_count;
  HEARTH_TRY(plan_allocate(c, (void **)&ends, groups, sizeof *ends));
  for (uint32_t i = 0; i < leaf->unit_count; i++)
    ends[c->groups[leaf->first_unit + i] + 1]++;
  for (size_t i = 1; i <= groups; i++)
    ends[i] += ends[i - 1];
  for (uint32_t i = 0; i < leaf->unit_count; i++)
    c->order[ends[c->groups[leaf->first_unit + i]]++] = leaf->first_unit + i;
  free(ends);
  return HEARTH_OK;
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

/* Forget opinions that say nothing; leads that are worth less than a site has to be do not count. */
static void drop_idle_opinions(choosing *c) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < c->listed_count; i++) {
    plan_opinion *judged = &c->judged[c->listed[i]];
    judged->lead = judged->lead < c->least ? 0 : judged->lead;
    if (judged->gain || judged->lead)
      c->listed[kept++] = c->listed[i];
    else
      *judged = (plan_opinion){0};
  }
  c->listed_count = kept;
}

/* By candidate. */
static hearth_status keep_opinions(choosing *c, plan_leaf_state *state) {
  drop_idle_opinions(c);
  HEARTH_TRY(plan_allocate(c, (void **)&state->opinions, c->listed_count, sizeof *state->opinions));
  qsort(c->listed, c->listed_count, sizeof *c->listed, plan_compare_numbers);
  for (uint32_t i = 0; i < c->listed_count; i++) {
    plan_opinion *judged = &c->judged[c->listed[i]];
    c->gains[judged->candidate] += judged->gain;
    c->leads[judged->candidate] += judged->lead;
    state->opinions[state->opinion_count++] = *judged;
    *judged = (plan_opinion){0};
  }
  c->listed_count = 0;
  return HEARTH_OK;
}

/* Renew what a leaf thinks of the candidates. */
static hearth_status judge_leaf(choosing *c, uint32_t number) {
  const plan_leaf *leaf = &c->p->leaves[number];
  forget_opinions(c, &c->leaves[number]);
  HEARTH_TRY(sort_units(c, leaf));
  for (uint32_t i = 0, end; i < leaf->unit_count; i = end) {
    for (end = i; end < leaf->unit_count && c->groups[c->order[end]] == c->groups[c->order[i]]; end++)
      ;
    judge_group(c, c->order + i, end - i);
  }
  return keep_opinions(c, &c->leaves[number]);
}

/* ------------------------------------------------- choosing ------------------------------------------------- */

static bool wants(const choosing *c, const plan_leaf_state *leaf, uint32_t candidate) {
  const plan_opinion *opinion = leaf->opinion_count ? bsearch(&candidate, leaf->opinions, leaf->opinion_count,
                                                              sizeof *leaf->opinions, plan_compare_numbers)
                                                    : NULL;
  return opinion && (opinion->gain > 0 || (c->leading && opinion->lead > 0));
}

/* Can two sites share a bit? Not if a leaf that is to heed one of them sees the other. */
static bool can_share(const choosing *c, uint32_t site, uint32_t other) {
  for (size_t i = 0; i < c->p->leaf_count; i++) {
    const plan_leaf_state *leaf = &c->leaves[i];
    if ((c->heeding[i] && plan_has(leaf->sees, other)) || (plan_has(leaf->uses, other) && plan_has(leaf->sees, site)))
      return false;
  }
  return true;
}

static bool bit_is_free(const choosing *c, uint32_t site, uint32_t bit) {
  for (uint32_t i = 0; i < c->chosen_count; i++)
    if (c->chosen[i] != site && c->bits[c->chosen[i]] == bit && !can_share(c, site, c->chosen[i]))
      return false;
  return true;
}

static bool bit_is_unused(const choosing *c, uint32_t bit) {
  for (uint32_t i = 0; i < c->chosen_count; i++)
    if (c->bits[c->chosen[i]] == bit)
      return false;
  return true;
}

/* One of its own while there are any: it costs less to set. */
static uint32_t find_bit(const choosing *c, uint32_t site) {
  for (size_t i = 0; i < c->p->leaf_count; i++)
    c->heeding[i] = plan_has(c->leaves[i].uses, site) || wants(c, &c->leaves[i], site);
  if (c->states[site] == CHOSEN) /* for more leaves than before */
    return bit_is_free(c, site, c->bits[site]) ? c->bits[site] : PLAN_WORD_BITS;
  for (uint32_t bit = 0; bit < PLAN_WORD_BITS; bit++)
    if (bit_is_unused(c, bit))
      return bit;
  for (uint32_t bit = 0; bit < PLAN_WORD_BITS; bit++)
    if (bit_is_free(c, site, bit))
      return bit;
  return PLAN_WORD_BITS;
}

static uint64_t score(const choosing *c, uint32_t i) { return c->leading ? c->leads[i] : c->gains[i]; }

/* How often a site runs is not known, only how many blocks are allocated while it is being called. Below a share of all
 * blocks that does not matter: bits are scarcer. A site that was chosen already costs nothing more. */
static double cost(const choosing *c, uint32_t i) {
  const planner *p = c->p;
  return (double)(c->states[i] == CHOSEN ? 0 : p->candidates[i].allocs) + (double)p->total_allocs / 64 + 1;
}

/* Weight that is put right for the cost. Among equals the outermost: it runs least often. */
static bool is_better(const choosing *c, uint32_t a, uint32_t b) {
  const plan_candidate *x = &c->p->candidates[a], *y = &c->p->candidates[b];
  double left = (double)score(c, a) * cost(c, b), right = (double)score(c, b) * cost(c, a);
  if (left != right)
    return left > right;
  return x->depth != y->depth ? x->depth > y->depth : a < b;
}

static uint32_t best_candidate(const choosing *c) {
  uint32_t best = HEARTH_NONE;
  for (uint32_t i = 0; i < c->p->candidate_count; i++) {
    if (c->states[i] == NO_BIT_LEFT || score(c, i) == 0 || score(c, i) < c->least)
      continue;
    if (c->states[i] == FREE && c->chosen_count >= c->p->options.max_sites)
      continue;
    if (best == HEARTH_NONE || is_better(c, i, best))
      best = i;
  }
  return best;
}

/* Units that go through the site become groups of their own. */
static void part_groups(choosing *c, uint32_t number, uint32_t site) {
  const plan_leaf *leaf = &c->p->leaves[number];
  uint32_t next = 0;
  for (uint32_t i = 0; i < leaf->unit_count; i++)
    next = c->groups[leaf->first_unit + i] >= next ? c->groups[leaf->first_unit + i] + 1 : next;
  for (uint32_t i = 0; i < leaf->unit_count; i++) {
    const plan_unit *unit = &c->p->units[leaf->first_unit + i];
    for (uint32_t k = 0; k < c->p->sets[unit->set].count; k++)
      if (plan_candidates_of(c->p, unit)[k] == site)
        c->groups[leaf->first_unit + i] += next;
  }
}

/* Group numbers stay small. */
static hearth_status renumber_groups(choosing *c, uint32_t number) {
  const plan_leaf *leaf = &c->p->leaves[number];
  HEARTH_TRY(sort_units(c, leaf));
  uint32_t group = 0, previous = 0;
  for (uint32_t i = 0; i < leaf->unit_count; i++) {
    uint32_t own = c->groups[c->order[i]];
    group += i > 0 && own != previous;
    previous = own;
    c->groups[c->order[i]] = group;
  }
  return HEARTH_OK;
}

static hearth_status take(choosing *c, uint32_t site, uint32_t bit) {
  if (c->states[site] == FREE) {
    c->states[site] = CHOSEN;
    c->bits[site] = bit;
    c->chosen[c->chosen_count++] = site;
  }
  for (uint32_t i = 0; i < c->p->leaf_count; i++) {
    if (!wants(c, &c->leaves[i], site))
      continue;
    plan_put(c->leaves[i].uses, site);
    part_groups(c, i, site);
    HEARTH_TRY(renumber_groups(c, i));
    HEARTH_TRY(judge_leaf(c, i));
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

static hearth_status choose(choosing *c) {
  for (uint32_t i = 0; i < c->p->leaf_count; i++)
    HEARTH_TRY(judge_leaf(c, i));
  for (uint32_t site; c->work > 0 && (site = next_site(c)) != HEARTH_NONE;) {
    uint32_t bit = find_bit(c, site);
    spend(c, c->p->candidate_count + (uint64_t)c->p->leaf_count * (c->chosen_count + 1));
    if (bit < PLAN_WORD_BITS)
      HEARTH_TRY(take(c, site, bit));
    else
      c->states[site] = NO_BIT_LEFT;
  }
  return HEARTH_OK;
}

static hearth_status prepare(choosing *c) {
  const planner *p = c->p;
  c->least = plan_part_of(p->total_bytes, p->options.min_gain_ppm, 1000000);
  c->words = (p->candidate_count + 63) / 64;
  c->work = WORK_MAX;
  HEARTH_TRY(plan_allocate(c, (void **)&c->leaves, p->leaf_count, sizeof *c->leaves));
  HEARTH_TRY(plan_allocate(c, (void **)&c->groups, p->unit_count, sizeof *c->groups));
  HEARTH_TRY(plan_allocate(c, (void **)&c->order, p->unit_count, sizeof *c->order));
  HEARTH_TRY(plan_allocate(c, (void **)&c->gains, p->candidate_count, sizeof *c->gains));
  HEARTH_TRY(plan_allocate(c, (void **)&c->leads, p->candidate_count, sizeof *c->leads));
  HEARTH_TRY(plan_allocate(c, (void **)&c->states, p->candidate_count, sizeof *c->states));
  HEARTH_TRY(plan_allocate(c, (void **)&c->bits, p->candidate_count, sizeof *c->bits));
  HEARTH_TRY(plan_allocate(c, (void **)&c->chosen, p->candidate_count, sizeof *c->chosen));
  HEARTH_TRY(plan_allocate(c, (void **)&c->worth, p->candidate_count, sizeof *c->worth));
  HEARTH_TRY(plan_allocate(c, (void **)&c->heeding, p->leaf_count, sizeof *c->heeding));
  HEARTH_TRY(plan_allocate(c, (void **)&c->judged, p->candidate_count, sizeof *c->judged));
  HEARTH_TRY(plan_allocate(c, (void **)&c->listed, p->candidate_count, sizeof *c->listed));
  HEARTH_TRY(plan_allocate(c, (void **)&c->inside, p->candidate_count, sizeof *c->inside));
  HEARTH_TRY(plan_allocate(c, (void **)&c->touched, p->candidate_count, sizeof *c->touched));
  for (uint32_t i = 0; i < p->leaf_count; i++) {
    HEARTH_TRY(plan_allocate(c, (void **)&c->leaves[i].uses, c->words, sizeof(uint64_t)));
    HEARTH_TRY(plan_allocate(c, (void **)&c->leaves[i].sees, c->words, sizeof(uint64_t)));
    for (uint32_t k = 0; k < p->leaves[i].unit_count; k++) {
      const plan_unit *unit = &p->units[p->leaves[i].first_unit + k];
      for (uint32_t m = 0; m < p->sets[unit->set].count; m++)
        plan_put(c->leaves[i].sees, plan_candidates_of(p, unit)[m]);
    }
  }
  return HEARTH_OK;
}

static void release(choosing *c) {
  for (uint32_t i = 0; c->leaves && i < c->p->leaf_count; i++) {
    free(c->leaves[i].uses);
    free(c->leaves[i].sees);
    free(c->leaves[i].opinions);
  }
  free(c->leaves);
  free(c->groups);
  free(c->order);
  free(c->gains);
  free(c->leads);
  free(c->states);
  free(c->bits);
  free(c->chosen);
  free(c->worth);
  free(c->heeding);
  free(c->judged);
  free(c->listed);
  free(c->inside);
  free(c->touched);
}

hearth_status plan_choose(planner *p, void **ret_section, size_t *ret_size) {
  choosing c = {.p = p};
  *ret_section = NULL;
  hearth_status status = prepare(&c);
  if (status == HEARTH_OK)
    status = choose(&c);
  if (status == HEARTH_OK)
    status = plan_prune(&c);
  if (status == HEARTH_OK)
    status = plan_write_section(&c, ret_section, ret_size);
  release(&c);
  return status;
}
