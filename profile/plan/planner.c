/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes the plan of a profile that is being written, in steps: the placement of each context (placements.c),
 * allocation calls with cold contexts and others, and the call sites that could tell these apart (candidates.c), groups of
 * contexts (site_groups.c), the choice of sites (choice.c), and the section (plan_section.c). */
#include "planner.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "option_size.h"

enum { DEFAULT_SITES = 256, DEFAULT_GAIN_PPM = 500 };

static hearth_status make_section(planner *p, packed_bytes *ret) {
  HEARTH_TRY(hearth_plan_place_contexts(p));
  if (p->is_empty)
    return HEARTH_OK;
  HEARTH_TRY(hearth_plan_find_leaves(p));
  HEARTH_TRY(hearth_plan_find_candidates(p));
  HEARTH_TRY(hearth_plan_make_groups(p));
  return hearth_plan_choose(p, (void **)&ret->data, &ret->size);
}

static void planner_release(planner *p) {
  free(p->stack_ids);
  free(p->may_be_site);
  free(p->leaf_frames);
  free(p->rows);
  free(p->placements);
  free(p->leaves);
  free(p->contexts);
  free(p->candidates);
  free(p->sets);
  free(p->members);
  free(p->groups);
}

static hearth_status make_plan(const writer *w, const void *state, packed_bytes *ret) {
  planner p = {.w = w, .err = w->err};
  HEARTH_TRY(hearth_options_take(&p.options, sizeof p.options, state, w->err));
  HEARTH_TRY(hearth_options_take(&p.classify, sizeof p.classify, p.options.classify, w->err));
  p.options.max_sites = p.options.max_sites ? p.options.max_sites : DEFAULT_SITES;
  p.options.min_gain_ppm = p.options.min_gain_ppm ? p.options.min_gain_ppm : DEFAULT_GAIN_PPM;
  hearth_status status = make_section(&p, ret);
  planner_release(&p);
  return status;
}

hearth_status hearth_builder_write_planned(hearth_builder *builder, const hearth_plan_options *options, void **ret_data,
                                           size_t *ret_size, hearth_error *err) {
  return hearth_writer_write(builder, make_plan, options, ret_data, ret_size, err);
}

hearth_status hearth_plan_make(hearth_profile *profile, const hearth_plan_options *options, void **ret_data,
                               size_t *ret_size, hearth_error *err) {
  hearth_profile_summary summary;
  HEARTH_TRY(hearth_profile_verify(profile, err));
  HEARTH_TRY(hearth_profile_get_summary(profile, &summary, err));
  hearth_builder *builder = hearth_builder_create(summary.id_scheme);
  if (!builder)
    return hearth_error_nomem(err);
  hearth_status status = hearth_builder_add_profile(builder, profile, err);
  if (status == HEARTH_OK)
    status = hearth_builder_write_planned(builder, options, ret_data, ret_size, err);
  hearth_builder_destroy(builder);
  return status;
}

/* The place that an allocation concludes from the set bits. */

/* A block that is wrongly taken for cold costs most: of a cold entry's bytes, and of all accesses of the profile, not more
 * may belong to contexts that are not. */
#define NOT_COLD_PERCENT    5u
#define NOT_COLD_ACCESS_PPM 1000u

static bool is_mostly_cold(const planner *p, const plan_sums *sums) {
  uint64_t sum = sums->bytes[PLAN_WARM] + sums->bytes[PLAN_COLD];
  return sum > 0 && sums->bytes[PLAN_WARM] <= plan_part_of(sum, NOT_COLD_PERCENT, 100) &&
         sums->accesses <= plan_part_of(p->total_accesses, NOT_COLD_ACCESS_PPM, 1000000);
}

int64_t hearth_plan_value(const plan_sums *own, uint8_t place) {
  int64_t warm = (int64_t)own->weights[PLAN_WARM], cold = (int64_t)own->weights[PLAN_COLD];
  return place == PLAN_COLD ? cold - warm : warm;
}

uint8_t hearth_plan_place(const planner *p, uint64_t bits, const plan_sums *own, const plan_sums *above) {
  plan_sums all = *own;
  plan_add_sums(&all, above);
  bool is_apart = bits && above->bytes[PLAN_WARM] == 0;
  return is_mostly_cold(p, own) && (is_apart || is_mostly_cold(p, &all)) ? PLAN_COLD : PLAN_WARM;
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
static bool planner_is_above(const plan_tally *t, const plan_tally *other) {
  return t->bits != other->bits && (other->bits & ~t->bits) == 0;
}

static plan_sums sums_above(const plan_tally *tallies, uint32_t count, uint32_t of) {
  plan_sums sums = {0};
  for (uint32_t i = of + 1; i < count; i++)
    if (planner_is_above(&tallies[i], &tallies[of]))
      plan_add_sums(&sums, &tallies[i].sums);
  return sums;
}

int64_t hearth_plan_decide(const planner *p, plan_tally *tallies, uint32_t count) {
  int64_t value = 0;
  for (uint32_t i = 0; i < count; i++) {
    plan_sums above = sums_above(tallies, count, i);
    tallies[i].place = hearth_plan_place(p, tallies[i].bits, &tallies[i].sums, &above);
  }
  for (uint32_t i = 0; i < count; i++) /* what is above a cold one is cold, or so little that it is passed over */
    for (uint32_t k = i + 1; tallies[i].place == PLAN_COLD && k < count; k++)
      if (planner_is_above(&tallies[k], &tallies[i]))
        tallies[k].place = PLAN_COLD;
  for (uint32_t i = 0; i < count; i++)
    value += hearth_plan_value(&tallies[i].sums, tallies[i].place);
  return value;
}
