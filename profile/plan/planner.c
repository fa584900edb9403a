/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes the plan of a profile that is being written, in steps: the placement of each context (placements.c, pool_ids.c),
 * allocation calls with cold contexts and others, and the call sites that could tell these apart (candidates.c), groups of
 * contexts (site_groups.c), the choice of sites (choice.c), and the section (plan_section.c). */
#include <stdlib.h>

#include "option_size.h"
#include "planner.h"

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

static void release(planner *p) {
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
  release(&p);
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
