/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The place that an allocation concludes from the set bits. */
#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "compare.h"

/* A block that is wrongly taken for cold costs most: of a cold entry's bytes, and of all accesses of the profile, not more
 * may belong to contexts that are not. */
#define NOT_COLD_PERCENT    5u
#define NOT_COLD_ACCESS_PPM 1000u
/* Others that have the same bits once theirs are lost are passed over up to this part of the bytes. */
#define OTHERS_PERCENT 5u
/* A cold block in a pool costs this part of what one of the pool gains there: it is in the way. */
#define COLD_IN_POOL_PART 16

static uint64_t sum_of(const uint64_t numbers[PLAN_PLACES]) {
  uint64_t sum = 0;
  for (int i = 0; i < PLAN_PLACES; i++)
    sum += numbers[i];
  return sum;
}

static bool is_mostly_cold(const planner *p, const plan_sums *sums) {
  uint64_t sum = sum_of(sums->bytes);
  return sum > 0 && sum - sums->bytes[PLAN_COLD] <= plan_part_of(sum, NOT_COLD_PERCENT, 100) &&
         sums->accesses <= plan_part_of(p->total_accesses, NOT_COLD_ACCESS_PPM, 1000000);
}

int64_t hearth_plan_value(const plan_sums *own, uint8_t place) {
  const uint64_t *w = own->weights;
  if (place == PLAN_COLD)
    return (int64_t)(2 * w[PLAN_COLD]) - (int64_t)sum_of(w);
  return (int64_t)w[place] - (place == PLAN_NO_PLACE ? 0 : (int64_t)(w[PLAN_COLD] / COLD_IN_POOL_PART));
}

/* The place that is worth most to these contexts, but for the cold one. */
static uint8_t best_warm_place(const plan_sums *sums) {
  uint8_t best = PLAN_NO_PLACE;
  for (uint8_t i = PLAN_WARM; i < PLAN_PLACES; i++)
    if (hearth_plan_value(sums, i) > hearth_plan_value(sums, best))
      best = i;
  return best;
}

/* But for so few bytes that they are passed over. */
static bool is_of_one_place(const plan_sums *sums, uint8_t place) {
  uint64_t bytes = sum_of(sums->bytes);
  return bytes - sums->bytes[place] <= plan_part_of(bytes, OTHERS_PERCENT, 100);
}

uint8_t hearth_plan_place(const planner *p, uint64_t bits, uint64_t heeded, const plan_sums *own,
                          const plan_sums *above) {
  plan_sums all = *own;
  plan_add_sums(&all, above);
  bool is_apart = bits && sum_of(above->bytes) == above->bytes[PLAN_COLD];
  bool is_pure = is_of_one_place(&all, PLAN_COLD) && is_mostly_cold(p, &all);
  if (is_mostly_cold(p, own) && (is_apart || is_pure))
    return PLAN_COLD;
  uint8_t warm = best_warm_place(own);
  return bits || !heeded || is_of_one_place(&all, warm) ? warm : PLAN_NO_PLACE;
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

int64_t hearth_plan_decide(const planner *p, plan_tally *tallies, uint32_t count, uint64_t heeded) {
  int64_t value = 0;
  for (uint32_t i = 0; i < count; i++) {
    plan_sums above = sums_above(tallies, count, i);
    tallies[i].place = hearth_plan_place(p, tallies[i].bits, heeded, &tallies[i].sums, &above);
  }
  for (uint32_t i = 0; i < count; i++) /* what is above a cold one is cold, or so little that it is passed over */
    for (uint32_t k = i + 1; tallies[i].place == PLAN_COLD && k < count; k++)
      if (is_above(&tallies[k], &tallies[i]))
        tallies[k].place = PLAN_COLD;
  for (uint32_t i = 0; i < count; i++)
    value += hearth_plan_value(&tallies[i].sums, tallies[i].place);
  return value;
}
