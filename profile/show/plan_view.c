/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Decision sites and tables, those with the most bytes first. */
#include "plan_view.h"

#include <stdlib.h>

static int compare(uint64_t bytes, uint64_t other_bytes, uint64_t id, uint64_t other_id) {
  return bytes != other_bytes ? (bytes < other_bytes) - (bytes > other_bytes) : (id > other_id) - (id < other_id);
}

static int compare_sites(const void *a, const void *b) {
  const hearth_plan_site *x = *(const hearth_plan_site *const *)a, *y = *(const hearth_plan_site *const *)b;
  return compare(x->bytes, y->bytes, x->stack_id, y->stack_id);
}

typedef struct weighed {
  const hearth_plan_table *table;
  uint64_t bytes;
} weighed;

static int compare_weighed(const void *a, const void *b) {
  const weighed *x = a, *y = b;
  return compare(x->bytes, y->bytes, x->table->stack_id, y->table->stack_id);
}

static uint64_t bytes_of(const hearth_plan_view *view, const hearth_plan_table *table) {
  uint32_t count;
  uint64_t sum = 0;
  const hearth_plan_entry *entries = hearth_plan_entries(&view->plan, table, &count);
  for (uint32_t i = 0; i < count; i++)
    sum += entries[i].bytes;
  return sum;
}

static void sort_tables(hearth_plan_view *view, weighed *scratch) {
  uint32_t count = view->plan.table_count;
  for (uint32_t i = 0; i < count; i++)
    scratch[i] = (weighed){&view->plan.tables[i], bytes_of(view, &view->plan.tables[i])};
  qsort(scratch, count, sizeof *scratch, compare_weighed);
  for (uint32_t i = 0; i < count; i++)
    view->tables[i] = scratch[i].table;
}

hearth_status hearth_plan_view_init(hearth_plan_view *view, hearth_profile *profile, hearth_error *err) {
  *view = (hearth_plan_view){.profile = profile};
  HEARTH_TRY(hearth_names_init(&view->names, profile, false, err));
  HEARTH_TRY(hearth_profile_get_plan(profile, &view->plan, err));
  view->sites = malloc((view->plan.site_count + (size_t)1) * sizeof *view->sites);
  view->tables = malloc((view->plan.table_count + (size_t)1) * sizeof *view->tables);
  weighed *scratch = malloc((view->plan.table_count + (size_t)1) * sizeof *scratch);
  if (!view->sites || !view->tables || !scratch) {
    free(scratch);
    return hearth_error_nomem(err);
  }
  for (uint32_t i = 0; i < view->plan.site_count; i++)
    view->sites[i] = &view->plan.sites[i];
  qsort(view->sites, view->plan.site_count, sizeof *view->sites, compare_sites);
  sort_tables(view, scratch);
  free(scratch);
  return HEARTH_OK;
}

void hearth_plan_view_destroy(hearth_plan_view *view) {
  hearth_names_destroy(&view->names);
  free(view->sites);
  free(view->tables);
}

uint64_t hearth_plan_table_bytes_left(const hearth_plan_view *view, const hearth_plan_table *table) {
  uint32_t count;
  uint64_t sum = 0;
  const hearth_plan_entry *entries = hearth_plan_entries(&view->plan, table, &count);
  for (uint32_t i = 0; i < count; i++)
    sum += entries[i].bytes - entries[i].right_bytes;
  return sum;
}
