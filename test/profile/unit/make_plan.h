/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile with a new plan in place of the one it has, as `hearth merge` makes it. */
#ifndef HEARTH_MAKE_PLAN_H
#define HEARTH_MAKE_PLAN_H

#include "hearth/builder.h"
#include "hearth/plan.h"

/* Its bytes, malloc'd. `options` may be NULL. */
static inline hearth_status make_plan(hearth_profile *profile, const hearth_plan_options *options, void **ret_data,
                                      size_t *ret_size, hearth_error *err) {
  hearth_profile_summary summary;
  HEARTH_TRY(hearth_profile_check(profile, err));
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

#endif
