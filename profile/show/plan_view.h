/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A plan as views print it: the most valuable choice first. */
#ifndef HEARTH_VIEW_PLAN_VIEW_H
#define HEARTH_VIEW_PLAN_VIEW_H

#include "hearth/plan.h"
#include "selection.h"

typedef struct hearth_plan_view {
  hearth_profile *profile;
  hearth_names names;
  hearth_plan plan;
  const hearth_plan_site **sites;   /* by bytes, the most first */
  const hearth_plan_table **tables; /* by bytes of their contexts */
} hearth_plan_view;

/* Destroy also after an error. */
hearth_status hearth_plan_view_init(hearth_plan_view *view, hearth_profile *profile, hearth_error *err);
void hearth_plan_view_destroy(hearth_plan_view *view);

/* Bytes that get another placement than theirs. */
uint64_t hearth_plan_table_bytes_left(const hearth_plan_view *view, const hearth_plan_table *table);

#endif
