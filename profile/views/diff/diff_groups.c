/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth diff --by`: both profiles' sums by function, caller, site, file, library, type or size. Groups are the
 * same if name and file are, so that a function that moved within its file is one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "comparison.h"
#include "file.h"
#include "groups.h"
#include "print.h"

typedef struct group_row {
  const char *name, *path;
  hearth_listing_totals flat[HEARTH_DIFF_SIDES], cumulative[HEARTH_DIFF_SIDES];
  double change; /* of bytes, per run */
} group_row;

typedef struct group_rows {
  hearth_groups groups[HEARTH_DIFF_SIDES];
  group_row *rows; /* those that changed most first */
  size_t count;
} group_rows;

static hearth_status sum_side(hearth_diff *d, int number, hearth_group_kind kind, hearth_groups *groups,
                              hearth_error *err) {
  hearth_diff_side *side = &d->sides[number];
  HEARTH_TRY(hearth_groups_init(groups, &side->names, kind, err));
  for (uint32_t i = 0; i < hearth_profile_context_count(side->profile); i++) {
    hearth_selected s;
    uint32_t group;
    HEARTH_TRY(hearth_selection_get(&side->selection, i, &s, err));
    const hearth_listing_totals sum = {.contexts = 1,
                                       .allocs = s.mib.AllocCount,
                                       .bytes = s.mib.TotalSize,
                                       .live = hearth_quantity_of(HEARTH_QUANTITY_LIVE, &s.mib)};
    if (s.wanted)
      HEARTH_TRY(hearth_groups_add(groups, &s, &sum, &group, err));
  }
  return HEARTH_OK;
}

static int compare_names(const void *x, const void *y) {
  const group_row *a = x, *b = y;
  int order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->path, b->path);
}

static int compare_changes(const void *x, const void *y) {
  const group_row *a = x, *b = y;
  double v = fabs(a->change), w = fabs(b->change);
  return v != w ? (v > w ? -1 : 1) : compare_names(x, y);
}

static void take_side(const hearth_groups *groups, int side, group_rows *to) {
  for (size_t i = 0; i < groups->count; i++) {
    const hearth_group *g = &groups->items[i];
    group_row *row = &to->rows[to->count++];
    *row = (group_row){.name = g->name, .path = g->path};
    row->flat[side] = g->flat;
    row->cumulative[side] = g->cumulative;
  }
}

/* Rows of one group are neighbours then, at most one of each side. */
static void join(const hearth_diff *d, group_rows *r) {
  size_t kept = 0;
  qsort(r->rows, r->count, sizeof *r->rows, compare_names);
  for (size_t i = 0; i < r->count; i++) {
    if (kept == 0 || compare_names(&r->rows[kept - 1], &r->rows[i]) != 0) {
      r->rows[kept++] = r->rows[i];
      continue;
    }
    for (int side = 0; side < HEARTH_DIFF_SIDES; side++) {
      hearth_listing_add_totals(&r->rows[kept - 1].flat[side], &r->rows[i].flat[side]);
      hearth_listing_add_totals(&r->rows[kept - 1].cumulative[side], &r->rows[i].cumulative[side]);
    }
  }
  r->count = kept;
  for (size_t i = 0; i < kept; i++)
    r->rows[i].change = hearth_diff_per_run(d, HEARTH_DIFF_B, r->rows[i].flat[HEARTH_DIFF_B].bytes) -
                        hearth_diff_per_run(d, HEARTH_DIFF_A, r->rows[i].flat[HEARTH_DIFF_A].bytes);
  qsort(r->rows, kept, sizeof *r->rows, compare_changes);
}

static hearth_status sum_up(hearth_diff *d, hearth_group_kind kind, group_rows *ret, hearth_error *err) {
  for (int side = 0; side < HEARTH_DIFF_SIDES; side++)
    HEARTH_TRY(sum_side(d, side, kind, &ret->groups[side], err));
  ret->rows = calloc(ret->groups[HEARTH_DIFF_A].count + ret->groups[HEARTH_DIFF_B].count + 1, sizeof *ret->rows);
  HEARTH_TRY(hearth_check_memory(ret->rows, err));
  for (int side = 0; side < HEARTH_DIFF_SIDES; side++)
    take_side(&ret->groups[side], side, ret);
  join(d, ret);
  return HEARTH_OK;
}

static void destroy(group_rows *r) {
  for (int side = 0; side < HEARTH_DIFF_SIDES; side++)
    hearth_groups_destroy(&r->groups[side]);
  free(r->rows);
}

static hearth_amount_text group_bytes_of(const hearth_diff *d, int side, const hearth_listing_totals *t) {
  return hearth_amount_bytes((uint64_t)(hearth_diff_per_run(d, side, t->bytes) + 0.5));
}

/* With a sign. */
static void group_print_change(double change, int width, FILE *out) {
  char text[sizeof(hearth_amount_text) + 1];
  snprintf(text, sizeof text, "%c%s", change < 0 ? '-' : '+', hearth_amount_bytes((uint64_t)(fabs(change) + 0.5)).c);
  fprintf(out, "%*s", width, text);
}

static void group_print_row(const hearth_diff *d, const group_row *row, FILE *out) {
  const hearth_listing_totals *a = &row->flat[HEARTH_DIFF_A], *b = &row->flat[HEARTH_DIFF_B];
  fprintf(out, "  %12s %12s ", group_bytes_of(d, HEARTH_DIFF_A, a).c, group_bytes_of(d, HEARTH_DIFF_B, b).c);
  group_print_change(row->change, 12, out);
  group_print_change(hearth_diff_per_run(d, HEARTH_DIFF_B, row->cumulative[HEARTH_DIFF_B].bytes) -
                         hearth_diff_per_run(d, HEARTH_DIFF_A, row->cumulative[HEARTH_DIFF_A].bytes),
                     19, out);
  fprintf(out, " %+12.0f  ",
          hearth_diff_per_run(d, HEARTH_DIFF_B, b->allocs) - hearth_diff_per_run(d, HEARTH_DIFF_A, a->allocs));
  hearth_print_name(row->name, 0, out);
  if (*row->path) {
    fputs("  ", out);
    hearth_print_name(hearth_base_name(row->path), 0, out);
  }
  fputc('\n', out);
}

static void group_print_rows(const hearth_diff *d, const group_rows *r, hearth_group_kind kind, size_t top, FILE *out) {
  size_t changed = 0;
  fprintf(out, "\n  %12s %12s %12s %18s %12s  %s\n", "bytes A", "B", "change", "with all it calls", "allocations",
          hearth_group_kind_name(kind));
  for (size_t i = 0; i < r->count; i++)
    if (r->rows[i].change != 0 && changed++ < top)
      group_print_row(d, &r->rows[i], out);
  if (changed == 0)
    fprintf(out, "  nothing changed\n");
  if (changed > top)
    fprintf(out, "  ... and %zu more (--full prints all)\n", changed - top);
}

hearth_status hearth_diff_print_groups(hearth_diff *d, hearth_group_kind kind, size_t top, FILE *out,
                                       hearth_error *err) {
  group_rows rows = {0};
  hearth_status status = sum_up(d, kind, &rows, err);
  if (status == HEARTH_OK) {
    hearth_diff_print_sides(d, out);
    group_print_rows(d, &rows, kind, top, out);
    status = hearth_stream_flush(out, err);
  }
  destroy(&rows);
  return status;
}
