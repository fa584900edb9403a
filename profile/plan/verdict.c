/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The place that an allocation concludes from the set bits. Tallies (groups with equal bits) are decided by value,
 * greatest first; a tally that has a place gives it to all that have its bits and more. */
#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "compare.h"

/* A block that is wrongly taken for cold costs most: of a cold entry's bytes, and of all accesses of the profile, not more
 * may belong to contexts that are not. */
#define NOT_COLD_PERCENT    5u
#define NOT_COLD_ACCESS_PPM 1000u
/* Cold blocks among warm ones keep these apart: beyond this part of the bytes an entry has no place. */
#define COLD_PERCENT 5u
/* Where bits that get lost would make others of one place, these are passed over up to this part of the bytes. */
#define OTHERS_PERCENT 5u

static uint64_t sum_of(const uint64_t numbers[PLAN_PLACES]) {
  uint64_t sum = 0;
  for (int i = 0; i < PLAN_PLACES; i++)
    sum += numbers[i];
  return sum;
}

/* The place of most of these contexts. */
static uint8_t common_place(const planner *p, const plan_sums *sums) {
  uint64_t sum = sum_of(sums->bytes);
  uint8_t common = PLAN_NO_PLACE;
  for (uint8_t i = PLAN_WARM; i < PLAN_PLACES; i++)
    if (sums->bytes[i] > sum - sums->bytes[i])
      common = i;
  if (common != PLAN_NO_PLACE && sums->bytes[PLAN_COLD] > plan_part_of(sum, COLD_PERCENT, 100))
    common = PLAN_NO_PLACE;
  if (sum > 0 && sum - sums->bytes[PLAN_COLD] <= plan_part_of(sum, NOT_COLD_PERCENT, 100) &&
      sums->accesses <= plan_part_of(p->total_accesses, NOT_COLD_ACCESS_PPM, 1000000))
    common = PLAN_COLD;
  return common;
}

static bool is_pure(const planner *p, const plan_sums *sums, uint8_t place) {
  uint64_t all = sum_of(sums->bytes);
  return all - sums->bytes[place] <= plan_part_of(all, OTHERS_PERCENT, 100) && common_place(p, sums) == place;
}

uint8_t hearth_plan_place(const planner *p, uint64_t bits, const plan_sums *own, const plan_sums *above) {
  uint8_t place = common_place(p, own);
  plan_sums all = *own;
  plan_add_sums(&all, above);
  bool is_apart = bits && sum_of(above->bytes) == above->bytes[place];
  return is_apart || is_pure(p, &all, place) ? place : PLAN_NO_PLACE;
}

int64_t hearth_plan_value(const plan_sums *own, uint8_t place) {
  const uint64_t *w = own->weights;
  return place == PLAN_NO_PLACE ? (int64_t)w[PLAN_NO_PLACE] : (int64_t)(2 * w[place]) - (int64_t)sum_of(w);
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

/* ------------------------------------------------- places --------------------------------------------------- */

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

/* Is there one above that is of another place, and stays so? */
static bool is_contradicted(const plan_tally *tallies, uint32_t count, const plan_tally *t) {
  for (uint32_t i = 0; i < count; i++)
    if (tallies[i].is_settled && tallies[i].place != t->place && is_above(&tallies[i], t))
      return true;
  return false;
}

/* One that has a place gives it to all above. */
static void settle(plan_tally *tallies, uint32_t count, plan_tally *t) {
  if (t->place != PLAN_NO_PLACE && is_contradicted(tallies, count, t))
    t->place = PLAN_NO_PLACE;
  t->is_settled = true;
  for (uint32_t i = 0; t->place != PLAN_NO_PLACE && i < count; i++)
    if (is_above(&tallies[i], t)) {
      tallies[i].place = t->place;
      tallies[i].is_settled = true;
    }
}

/* The most valuable first. */
static int compare_by_value(const void *a, const void *b) {
  const plan_tally *x = a, *y = b;
  int64_t left = hearth_plan_value(&x->sums, x->place), right = hearth_plan_value(&y->sums, y->place);
  return left != right ? (left < right) - (left > right) : hearth_compare_u64(a, b);
}

int64_t hearth_plan_decide(const planner *p, plan_tally *tallies, uint32_t count) {
  int64_t value = 0;
  for (uint32_t i = 0; i < count; i++) {
    plan_sums above = sums_above(tallies, count, i);
    tallies[i].place = hearth_plan_place(p, tallies[i].bits, &tallies[i].sums, &above);
    tallies[i].is_settled = false;
  }
  qsort(tallies, count, sizeof *tallies, compare_by_value);
  for (uint32_t i = 0; i < count; i++)
    if (!tallies[i].is_settled)
      settle(tallies, count, &tallies[i]);
  qsort(tallies, count, sizeof *tallies, hearth_compare_u64);
  for (uint32_t i = 0; i < count; i++)
    value += hearth_plan_value(&tallies[i].sums, tallies[i].place);
  return value;
}
