/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The class that an allocation concludes from the set bits. Tallies (groups with equal bits) are decided by value,
 * greatest first; a tally that is cold or hot gives its class to all that have its bits and more. */
#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "compare.h"

/* A block that is wrongly taken for cold costs most: of a cold entry's bytes, and of all accesses of the profile, not more
 * may belong to contexts that are not. */
#define NOT_COLD_PERCENT    5u
#define NOT_COLD_ACCESS_PPM 1000u
/* Cold blocks among hot ones keep these apart: beyond this part of the bytes the class of an entry is unknown. */
#define COLD_PERCENT 5u
/* Where bits that get lost would make others of one class, these are passed over up to this part of the bytes. */
#define OTHERS_PERCENT 5u

static uint64_t bytes_of(const plan_sums *sums) {
  return sums->bytes[0] + sums->bytes[1] + sums->bytes[2] + sums->bytes[3];
}

/* The class of most of these contexts. */
static hearth_class common_class(const planner *p, const plan_sums *sums) {
  uint64_t sum = bytes_of(sums);
  hearth_class common = HEARTH_CLASS_UNKNOWN;
  for (int i = HEARTH_CLASS_NOTCOLD; i <= HEARTH_CLASS_HOT; i++)
    if (sums->bytes[i] > sum - sums->bytes[i])
      common = (hearth_class)i;
  if (common == HEARTH_CLASS_HOT && sums->bytes[HEARTH_CLASS_COLD] > plan_part_of(sum, COLD_PERCENT, 100))
    common = HEARTH_CLASS_UNKNOWN;
  if (sum > 0 && sum - sums->bytes[HEARTH_CLASS_COLD] <= plan_part_of(sum, NOT_COLD_PERCENT, 100) &&
      sums->accesses <= plan_part_of(p->total_accesses, NOT_COLD_ACCESS_PPM, 1000000))
    common = HEARTH_CLASS_COLD;
  return common;
}

static bool is_pure(const planner *p, const plan_sums *sums, hearth_class hotness) {
  uint64_t all = bytes_of(sums);
  return all - sums->bytes[hotness] <= plan_part_of(all, OTHERS_PERCENT, 100) && common_class(p, sums) == hotness;
}

hearth_class hearth_plan_class(const planner *p, uint64_t bits, const plan_sums *own, const plan_sums *above) {
  hearth_class hotness = common_class(p, own);
  plan_sums all = *own;
  plan_add_sums(&all, above);
  bool is_apart = bits && bytes_of(above) == above->bytes[hotness];
  return is_apart || is_pure(p, &all, hotness) ? hotness : HEARTH_CLASS_UNKNOWN;
}

int64_t hearth_plan_value(const plan_sums *own, hearth_class hotness) {
  const uint64_t *w = own->weights;
  if (hotness == HEARTH_CLASS_UNKNOWN || hotness == HEARTH_CLASS_NOTCOLD) /* the ordinary allocator serves both */
    return (int64_t)(w[HEARTH_CLASS_UNKNOWN] + w[HEARTH_CLASS_NOTCOLD]);
  return (int64_t)(2 * w[hotness]) - (int64_t)(w[0] + w[1] + w[2] + w[3]);
}

/* ------------------------------------------------- tallies -------------------------------------------------- */

uint32_t hearth_plan_merge_tallies(plan_tally *tallies, uint32_t count) {
  uint32_t kept = 0;
  qsort(tallies, count, sizeof *tallies, hearth_compare_u64);
  for (uint32_t i = 0; i < count; i++) {
    if (tallies[i].groups == 0)
      continue;
    if (kept && tallies[kept - 1].bits == tallies[i].bits) {
      plan_add_sums(&tallies[kept - 1].sums, &tallies[i].sums);
      tallies[kept - 1].groups += tallies[i].groups;
    } else {
      tallies[kept++] = tallies[i];
    }
  }
  return kept;
}

uint32_t hearth_plan_fill_tallies(const choosing *c, uint32_t leaf, plan_tally *ret) {
  const plan_leaf *l = &c->p->leaves[leaf];
  for (uint32_t i = 0; i < l->group_count; i++) {
    const plan_group *group = &c->p->groups[l->first_group + i];
    ret[i] = (plan_tally){.bits = c->words[group->set] & c->leaves[leaf].heeded, .groups = 1, .sums = group->sums};
  }
  return hearth_plan_merge_tallies(ret, l->group_count);
}

/* ------------------------------------------------- classes -------------------------------------------------- */

static bool has_place(hearth_class hotness) { return hotness == HEARTH_CLASS_COLD || hotness == HEARTH_CLASS_HOT; }

/* Has it the bits of the other one, and more? Then it comes behind it. */
static bool is_above(const plan_tally *t, const plan_tally *other) {
  return t->bits != other->bits && (other->bits & ~t->bits) == 0;
}

static plan_sums sums_above(const plan_tally *tallies, uint32_t count, uint32_t of) {
  plan_sums sums = {0};
  for (uint32_t i = of + 1; i < count; i++)
    if (is_above(&tallies[i], &tallies[of]))
      plan_add_sums(&sums, &tallies[i].sums);
  return sums;
}

/* Is there one above that is of another class, and stays so? */
static bool is_contradicted(const plan_tally *tallies, uint32_t count, const plan_tally *t) {
  for (uint32_t i = 0; i < count; i++)
    if (tallies[i].is_settled && tallies[i].hotness != t->hotness && is_above(&tallies[i], t))
      return true;
  return false;
}

/* One that has a place gives it to all above. */
static void settle(plan_tally *tallies, uint32_t count, plan_tally *t) {
  if (has_place(t->hotness) && is_contradicted(tallies, count, t))
    t->hotness = HEARTH_CLASS_UNKNOWN;
  t->is_settled = true;
  for (uint32_t i = 0; has_place(t->hotness) && i < count; i++)
    if (is_above(&tallies[i], t)) {
      tallies[i].hotness = t->hotness;
      tallies[i].is_settled = true;
    }
}

/* The most valuable first. */
static int compare_by_value(const void *a, const void *b) {
  const plan_tally *x = a, *y = b;
  int64_t left = hearth_plan_value(&x->sums, x->hotness), right = hearth_plan_value(&y->sums, y->hotness);
  return left != right ? (left < right) - (left > right) : hearth_compare_u64(a, b);
}

int64_t hearth_plan_decide(const planner *p, plan_tally *tallies, uint32_t count) {
  int64_t value = 0;
  for (uint32_t i = 0; i < count; i++) {
    plan_sums above = sums_above(tallies, count, i);
    tallies[i].hotness = hearth_plan_class(p, tallies[i].bits, &tallies[i].sums, &above);
    tallies[i].is_settled = false;
  }
  qsort(tallies, count, sizeof *tallies, compare_by_value);
  for (uint32_t i = 0; i < count; i++)
    if (!tallies[i].is_settled)
      settle(tallies, count, &tallies[i]);
  qsort(tallies, count, sizeof *tallies, hearth_compare_u64);
  for (uint32_t i = 0; i < count; i++) {
    if (tallies[i].hotness == HEARTH_CLASS_NOTCOLD && is_contradicted(tallies, count, &tallies[i]))
      tallies[i].hotness = HEARTH_CLASS_UNKNOWN; /* which only states the fact and makes no other difference */
    value += hearth_plan_value(&tallies[i].sums, tallies[i].hotness);
  }
  return value;
}
