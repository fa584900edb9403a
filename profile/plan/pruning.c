/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fifth step of planning: choices that are not worth it are dropped, bits of each allocation call first, then sites in
 * the order of their choice. Later sites may have made earlier ones needless. The bits that are left are numbered anew,
 * the busiest first. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "compare.h"
#include "planner.h"

typedef struct pruning {
  choosing *c;
  plan_tally *tallies; /* of all leaves, each leaf's from its first group's place on */
  uint32_t *counts;    /* of each leaf */
  int64_t *values;     /* of each leaf */
} pruning;

static plan_tally *tallies_of(const pruning *p, uint32_t leaf) {
  return p->tallies + p->c->p->leaves[leaf].first_group;
}

/* Bits that none of its groups has are not heeded. */
static void renew(pruning *p, uint32_t leaf) {
  uint64_t bits = 0;
  p->counts[leaf] = hearth_plan_fill_tallies(p->c, leaf, tallies_of(p, leaf));
  p->values[leaf] = hearth_plan_decide(p->c->p, tallies_of(p, leaf), p->counts[leaf]);
  for (uint32_t i = 0; i < p->counts[leaf]; i++)
    bits |= tallies_of(p, leaf)[i].bits;
  p->c->leaves[leaf].heeded = bits;
}

/* -------------------------------------------------- bits ---------------------------------------------------- */

/* The worth of a leaf if it heeds these bits only. */
static int64_t value_heeding(pruning *p, uint32_t leaf, uint64_t bits) {
  plan_tally *scratch = p->c->tallies;
  plan_spend_deciding(p->c, p->counts[leaf]);
  memcpy(scratch, tallies_of(p, leaf), p->counts[leaf] * sizeof *scratch);
  for (uint32_t i = 0; i < p->counts[leaf]; i++)
    scratch[i].bits &= bits;
  return hearth_plan_decide(p->c->p, scratch, hearth_plan_merge_tallies(scratch, p->counts[leaf]));
}

static void heed(pruning *p, uint32_t leaf, uint64_t bits) {
  p->c->leaves[leaf].heeded = bits;
  renew(p, leaf);
}

/* An allocation that heeds bits reads the word: an access more, which weighs as others do. */
static int64_t weight_of_reading(const planner *p, uint32_t number) {
  const plan_leaf *leaf = &p->leaves[number];
  uint64_t allocs = 0;
  for (uint32_t i = 0; i < leaf->group_count; i++)
    allocs += p->groups[leaf->first_group + i].allocs;
  return (int64_t)plan_weight(p, 0, allocs);
}

/* Drop bits that put nothing right, and all if that is less than reading them costs. A small minority may gain by following the
 * majority. */
static void drop_bits(pruning *p, uint32_t leaf) {
  const choosing *c = p->c;
  if (value_heeding(p, leaf, 0) + weight_of_reading(c->p, leaf) >= p->values[leaf])
    heed(p, leaf, 0);
  for (uint32_t i = 0; i < c->chosen_count && c->work > 0; i++) {
    uint64_t bit = UINT64_C(1) << c->bits[c->chosen[i]], heeded = c->leaves[leaf].heeded;
    if (heeded & bit && value_heeding(p, leaf, heeded & ~bit) >= p->values[leaf])
      heed(p, leaf, heeded & ~bit);
  }
}

/* -------------------------------------------------- sites --------------------------------------------------- */

/* The bits of a set but for the site's, unless another one in it has that, too. */
static uint64_t word_without(const choosing *c, uint32_t set, uint32_t site) {
  uint64_t word = 0;
  const uint32_t *members = plan_candidates_of(c->p, set);
  for (uint32_t i = 0; i < c->p->sets[set].count; i++)
    if (members[i] != site && c->bits[members[i]] != PLAN_NO_BIT)
      word |= UINT64_C(1) << c->bits[members[i]];
  return word;
}

static void pruning_take_away(plan_tally *from, const plan_group *group) {
  for (int i = 0; i < PLAN_PLACES; i++) {
    from->sums.bytes[i] -= group->sums.bytes[i];
    from->sums.weights[i] -= group->sums.weights[i];
  }
  from->sums.accesses -= group->sums.accesses;
  from->groups--;
}

/* The worth of a leaf if the site is none. */
static int64_t value_without(pruning *p, uint32_t leaf, uint32_t site) {
  choosing *c = p->c;
  const plan_leaf *l = &c->p->leaves[leaf];
  plan_tally *scratch = c->tallies;
  uint32_t all = p->counts[leaf], count = all;
  uint64_t heeded = c->leaves[leaf].heeded;
  plan_spend(c, l->group_count);
  plan_spend_deciding(c, all);
  memcpy(scratch, tallies_of(p, leaf), all * sizeof *scratch);
  for (uint32_t i = 0; i < l->group_count; i++) {
    const plan_group *group = &c->p->groups[l->first_group + i];
    if (!plan_set_has(c->p, group->set, site))
      continue;
    uint64_t with = c->words[group->set] & heeded, without = word_without(c, group->set, site) & heeded;
    if (with == without)
      continue;
    pruning_take_away(bsearch(&with, scratch, all, sizeof *scratch, hearth_compare_u64), group);
    scratch[count++] = (plan_tally){.bits = without, .groups = 1, .sums = group->sums};
  }
  return count == all ? p->values[leaf] : hearth_plan_decide(c->p, scratch, hearth_plan_merge_tallies(scratch, count));
}

static bool is_used_by(const pruning *p, uint32_t leaf, uint32_t site) {
  const plan_leaf_state *state = &p->c->leaves[leaf];
  return state->heeded >> p->c->bits[site] & 1 && plan_has(state->sees, site);
}

/* A site that there is no time to look at counts as worth its cost. */
static uint64_t loss_without(pruning *p, uint32_t site) {
  int64_t sum = 0;
  if (p->c->work == 0)
    return p->c->least ? p->c->least : 1;
  for (uint32_t i = 0; i < p->c->p->leaf_count; i++)
    if (is_used_by(p, i, site))
      sum += p->values[i] - value_without(p, i, site);
  return sum > 0 ? (uint64_t)sum : 0;
}

static void remove_site(pruning *p, uint32_t site) {
  choosing *c = p->c;
  for (uint32_t i = 0; i < c->p->set_count; i++)
    if (plan_set_has(c->p, i, site))
      c->words[i] = word_without(c, i, site);
  for (uint32_t i = 0; i < c->p->leaf_count; i++)
    if (is_used_by(p, i, site))
      renew(p, i);
  c->bits[site] = PLAN_NO_BIT;
}

static void drop_sites(pruning *p) {
  choosing *c = p->c;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < c->chosen_count; i++) {
    c->worth[kept] = loss_without(p, c->chosen[i]);
    if (c->worth[kept] > 0 && c->worth[kept] >= c->least)
      c->chosen[kept++] = c->chosen[i];
    else
      remove_site(p, c->chosen[i]);
  }
  c->chosen_count = kept;
}

/* Twice: without the sites that are gone, bits may be worth less than reading them costs. */
static void pruning_prune(pruning *p) {
  choosing *c = p->c;
  c->work = PLAN_WORK_MAX;
  for (uint32_t i = 0; i < c->p->leaf_count; i++)
    renew(p, i);
  for (int round = 0; round < 2; round++) {
    for (uint32_t i = 0; i < c->p->leaf_count; i++)
      drop_bits(p, i);
    drop_sites(p);
  }
}

/* -------------------------------------------------- numbers ------------------------------------------------- */

typedef struct plan_bit_use {
  uint64_t allocs; /* of the sites that have the bit */
  uint32_t bit;
} plan_bit_use;

static int compare_by_allocs(const void *a, const void *b) {
  const plan_bit_use *x = a, *y = b;
  return x->allocs != y->allocs ? (x->allocs < y->allocs) - (x->allocs > y->allocs)
                                : (x->bit > y->bit) - (x->bit < y->bit);
}

static uint64_t permuted(uint64_t bits, const uint8_t rank[PLAN_WORD_BITS]) {
  uint64_t result = 0;
  for (uint32_t i = 0; i < PLAN_WORD_BITS; i++)
    result |= (bits >> i & 1) << rank[i];
  return result;
}

/* The busiest get the lowest numbers, which take fewer bytes of code. */
static void renumber_bits(choosing *c) {
  plan_bit_use uses[PLAN_WORD_BITS] = {{0}};
  uint8_t rank[PLAN_WORD_BITS];
  for (uint32_t i = 0; i < PLAN_WORD_BITS; i++)
    uses[i].bit = i;
  for (uint32_t i = 0; i < c->chosen_count; i++)
    uses[c->bits[c->chosen[i]]].allocs += 1 + c->p->candidates[c->chosen[i]].allocs;
  qsort(uses, PLAN_WORD_BITS, sizeof *uses, compare_by_allocs);
  for (uint32_t i = 0; i < PLAN_WORD_BITS; i++)
    rank[uses[i].bit] = (uint8_t)i;
  for (uint32_t i = 0; i < c->chosen_count; i++)
    c->bits[c->chosen[i]] = rank[c->bits[c->chosen[i]]];
  for (uint32_t i = 0; i < c->p->set_count; i++)
    c->words[i] = permuted(c->words[i], rank);
  for (uint32_t i = 0; i < c->p->leaf_count; i++)
    c->leaves[i].heeded = permuted(c->leaves[i].heeded, rank);
}

hearth_status hearth_plan_prune(choosing *c) {
  pruning p = {.c = c};
  hearth_status status = hearth_array_create(&p.tallies, c->p->group_count, sizeof *p.tallies, c->p->err);
  if (status == HEARTH_OK)
    status = hearth_array_create(&p.counts, c->p->leaf_count, sizeof *p.counts, c->p->err);
  if (status == HEARTH_OK)
    status = hearth_array_create(&p.values, c->p->leaf_count, sizeof *p.values, c->p->err);
  if (status == HEARTH_OK) {
    pruning_prune(&p);
    renumber_bits(c);
  }
  free(p.tallies);
  free(p.counts);
  free(p.values);
  return status;
}
