/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Contexts are collected in one pass, sorted by function and key, and grouped; groups are sorted in the end. */
#include <stdlib.h>

#include "array.h"
#include "hearth/status.h"
#include "listing_rows.h"
#include "selection.h"

bool hearth_listing_knows(const hearth_listing *r, enum hearth_mib_column field) { return r->recorded >> field & 1; }

bool hearth_listing_knows_untouched(const hearth_listing *r) {
  return hearth_untouched_is_known(&r->summary) && hearth_listing_knows(r, HEARTH_COL_TotalPercentUtilized);
}

static double sort_key(const hearth_listing *r, const hearth_listing_totals *sum) {
  if (r->options.sort != HEARTH_SORT_LIFETIME)
    return (double)sum->sorted;
  return sum->allocs ? (double)sum->lifetime_ns / (double)sum->allocs : 0;
}

static int compare_keys(double x, double y) { return (x < y) - (x > y); }

static int listing_compare_rows(const void *a, const void *b) {
  const hearth_listing_row *x = a, *y = b;
  if (x->group != y->group)
    return x->group < y->group ? -1 : 1;
  int order = compare_keys(x->key, y->key);
  return order ? order : x->context < y->context ? -1 : 1;
}

static int listing_compare_groups(const void *a, const void *b) {
  const hearth_listing_group *x = a, *y = b;
  int order = compare_keys(x->key, y->key);
  return order ? order : x->group < y->group ? -1 : 1;
}

const hearth_group *hearth_listing_group_of(const hearth_listing *r, size_t number) {
  return &r->all_groups.items[r->groups[number].group];
}

const char *hearth_group_kind_name(hearth_group_kind kind) {
  static const char *const names[] = {"function", "caller", "site", "file", "library", "type", "size"};
  return names[kind];
}

bool hearth_group_kind_find(const char *name, hearth_group_kind *ret) {
  for (hearth_group_kind kind = 0; kind < HEARTH_GROUP_KINDS; kind++)
    if (strcmp(hearth_group_kind_name(kind), name) == 0) {
      *ret = kind;
      return true;
    }
  return false;
}

static void note_recorded(hearth_listing *r, const hearth_mib *mib) {
  for (unsigned i = 0; i < HEARTH_MIB_COLUMNS; i++)
    r->recorded |= (uint64_t)(mib->v[i] != 0) << i;
}

static hearth_status collect_context(hearth_listing *r, uint32_t context, hearth_error *err) {
  hearth_selected s;
  HEARTH_TRY(hearth_selection_get(&r->selection, context, &s, err));
  note_recorded(r, &s.mib);
  r->live_estimated |= s.live_estimated;
  hearth_listing_row row = {.context = context,
                            .hotness = s.hotness,
                            .is_uncertain = s.is_uncertain,
                            .sum = {.contexts = 1,
                                    .allocs = s.mib.AllocCount,
                                    .bytes = s.mib.TotalSize,
                                    .live = hearth_quantity_of(HEARTH_QUANTITY_LIVE, &s.mib),
                                    .library_bytes = s.in_library ? s.mib.TotalSize : 0,
                                    .accesses = s.mib.TotalAccessCount,
                                    .untouched = s.in_library ? 0 : hearth_untouched_bytes(&s.mib),
                                    .lifetime_ns = s.mib.TotalLifetime,
                                    .used_page_bytes = s.mib.UsedPageBytes,
                                    .idle_page_bytes = s.mib.IdlePageBytes,
                                    .byte_seconds = hearth_quantity_of(HEARTH_QUANTITY_BYTE_SECONDS, &s.mib),
                                    .short_lived = s.short_lived ? s.mib.AllocCount : 0,
                                    .sorted = hearth_listing_value(&r->options, &s)}};
  hearth_listing_add_totals(&r->classes[row.hotness], &row.sum);
  if (row.is_uncertain)
    hearth_listing_add_totals(&r->uncertain, &row.sum);
  hearth_listing_add_totals(&r->all, &row.sum);
  if (!s.wanted)
    return HEARTH_OK;
  row.key = sort_key(r, &row.sum);
  HEARTH_TRY(hearth_groups_add(&r->all_groups, &s, &row.sum, &row.group, err));
  hearth_listing_add_totals(&r->shown, &row.sum);
  r->rows[r->row_count++] = row;
  return HEARTH_OK;
}

/* Rows are sorted by group, so that each group's are together. */
static void sort_groups(hearth_listing *r) {
  qsort(r->rows, r->row_count, sizeof *r->rows, listing_compare_rows);
  size_t row = 0;
  for (uint32_t i = 0; i < r->all_groups.count; i++) {
    const hearth_group *group = &r->all_groups.items[i];
    const hearth_listing_totals *sum = r->options.cumulative ? &group->cumulative : &group->flat;
    r->groups[i] = (hearth_listing_group){.group = i, .first = row, .key = sort_key(r, sum)};
    row += group->flat.contexts;
  }
  r->group_count = r->all_groups.count;
  qsort(r->groups, r->group_count, sizeof *r->groups, listing_compare_groups);
}

static hearth_status listing_collect(hearth_listing *r, hearth_error *err) {
  uint32_t contexts = hearth_profile_context_count(r->profile);
  HEARTH_TRY(hearth_array_create(&r->rows, contexts, sizeof *r->rows, err));
  for (uint32_t i = 0; i < contexts; i++)
    HEARTH_TRY(collect_context(r, i, err));
  if (r->options.sort == HEARTH_QUANTITY_PEAK && !hearth_listing_knows(r, HEARTH_COL_PeakBlocks))
    return hearth_error_set(err, HEARTH_E_NOT_FOUND, "%s: does not know what was live at the peak: record anew",
                            r->name);
  HEARTH_TRY(hearth_array_create(&r->groups, r->all_groups.count, sizeof *r->groups, err));
  sort_groups(r);
  return HEARTH_OK;
}

hearth_status hearth_listing_init(hearth_listing *r, hearth_profile *profile, const char *name,
                                  const hearth_listing_options *options, FILE *stream, hearth_error *err) {
  *r = (hearth_listing){.profile = profile, .name = name, .stream = stream};
  HEARTH_TRY(hearth_options_take(&r->options, sizeof r->options, options, err));
  HEARTH_TRY(hearth_options_take(&r->view, sizeof r->view, r->options.view, err));
  HEARTH_TRY(hearth_profile_get_summary(profile, &r->summary, err));
  HEARTH_TRY(hearth_profile_get_run_facts(profile, &r->facts, err));
  HEARTH_TRY(hearth_names_init(&r->names, profile, &r->view, err));
  HEARTH_TRY(hearth_selection_init(&r->selection, profile, &r->view, err));
  HEARTH_TRY(hearth_groups_init(&r->all_groups, &r->names, r->options.by, err));
  return listing_collect(r, err);
}

void hearth_listing_destroy(hearth_listing *r) {
  hearth_selection_destroy(&r->selection);
  hearth_groups_destroy(&r->all_groups);
  hearth_groups_destroy(&r->callers);
  hearth_names_destroy(&r->names);
  free(r->rows);
  free(r->groups);
}
