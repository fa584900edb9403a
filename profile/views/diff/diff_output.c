/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A comparison, printed in three ways: by context, a section for each kind of change; by function, file or the like,
 * what changed most; and as Markdown, for people who look at a change of the sources. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "comparison.h"
#include "file.h"
#include "groups.h"
#include "hearth/ids.h"
#include "print.h"

typedef struct change_text {
  char c[24];
} change_text;

/* "+12.3%". */
static change_text change_of(double a, double b) {
  change_text text;
  if (a == b)
    snprintf(text.c, sizeof text.c, "same");
  else if (a == 0)
    snprintf(text.c, sizeof text.c, "new");
  else if (b == 0)
    snprintf(text.c, sizeof text.c, "gone");
  else
    snprintf(text.c, sizeof text.c, "%+.1f%%", 100 * (b - a) / a);
  return text;
}

static hearth_amount_text bytes_of(double bytes) { return hearth_amount_bytes((uint64_t)(bytes + 0.5)); }

/* -------------------------------------------------- by context -------------------------------------------------- */

/* One section for each kind of change, heaviest contexts first. */

static void print_side(const hearth_diff *d, int number, FILE *out) {
  const hearth_diff_side *side = &d->sides[number];
  fprintf(out, "%c: %s: %llu run%s, %s and %.0f allocations per run%s\n", "AB"[number], side->name,
          (unsigned long long)side->summary.runs, hearth_plural(side->summary.runs),
          bytes_of(side->all.of[HEARTH_QUANTITY_BYTES]).c, side->all.of[HEARTH_QUANTITY_ALLOCS],
          hearth_accesses_known(&side->summary) ? "" : "; accesses not counted: no classes");
}

static void print_sides(const hearth_diff *d, FILE *out) {
  for (int side = 0; side < HEARTH_DIFF_SIDES; side++)
    print_side(d, side, out);
}

static void diff_print_class(const char *name, const hearth_diff_totals *a, const hearth_diff_totals *b, FILE *out) {
  double x = a->of[HEARTH_QUANTITY_BYTES], y = b->of[HEARTH_QUANTITY_BYTES];
  fprintf(out, "  %-8s %10.0f %10.0f %12s %12s %10s\n", name, a->of[HEARTH_MEASURE_CONTEXTS],
          b->of[HEARTH_MEASURE_CONTEXTS], bytes_of(x).c, bytes_of(y).c, change_of(x, y).c);
}

/* Where no run counted accesses, all contexts are of one class, which is not worth a word. */
static bool has_classes(const hearth_diff *d) {
  return hearth_accesses_known(&d->sides[HEARTH_DIFF_A].summary) ||
         hearth_accesses_known(&d->sides[HEARTH_DIFF_B].summary);
}

static void print_classes(const hearth_diff *d, FILE *out) {
  const hearth_diff_side *a = &d->sides[HEARTH_DIFF_A], *b = &d->sides[HEARTH_DIFF_B];
  fprintf(out, "\n  %-8s %10s %10s %12s %12s %10s\n", has_classes(d) ? "class" : "", "contexts A", "B", "bytes A", "B",
          "change");
  for (hearth_class c = HEARTH_CLASS_COLD; has_classes(d) && c < HEARTH_DIFF_CLASSES; c++)
    diff_print_class(hearth_class_name(c), &a->classes[c], &b->classes[c], out);
  const hearth_diff_totals *light_a = &a->classes[HEARTH_CLASS_UNKNOWN], *light_b = &b->classes[HEARTH_CLASS_UNKNOWN];
  if (light_a->of[HEARTH_MEASURE_CONTEXTS] + light_b->of[HEARTH_MEASURE_CONTEXTS] > 0)
    diff_print_class(hearth_class_name(HEARTH_CLASS_UNKNOWN), light_a, light_b, out);
  diff_print_class("all", &a->all, &b->all, out);
}

/* A count for each run need not be whole. */
static hearth_amount_text count_of(double value) {
  hearth_amount_text text;
  snprintf(text.c, sizeof text.c, value >= 1000 || value == floor(value) ? "%.0f" : "%.4g", value);
  return text;
}

/* "cold -> hot: ", or what it is on one side. */
static void print_entry_class(const hearth_diff *d, const hearth_diff_entry *e, int side, FILE *out) {
  if (!has_classes(d))
    return;
  fputs(hearth_class_name(e->hotness[side]), out);
  if (e->change == HEARTH_CHANGE_CLASS)
    fprintf(out, " -> %s", hearth_class_name(e->hotness[HEARTH_DIFF_B]));
  fputs(": ", out);
}

static void print_both(const hearth_diff_entry *e, const double allocs[HEARTH_DIFF_SIDES], FILE *out) {
  double a = e->bytes[HEARTH_DIFF_A], b = e->bytes[HEARTH_DIFF_B];
  fprintf(out, "%s -> %s (%s), %s -> %s allocations\n", bytes_of(a).c, bytes_of(b).c, change_of(a, b).c,
          count_of(allocs[HEARTH_DIFF_A]).c, count_of(allocs[HEARTH_DIFF_B]).c);
}

static hearth_status print_entry(hearth_diff *d, const hearth_diff_entry *e, FILE *out, hearth_error *err) {
  double allocs[HEARTH_DIFF_SIDES];
  uint32_t node;
  int side;
  for (int i = 0; i < HEARTH_DIFF_SIDES; i++) {
    hearth_mib mib;
    HEARTH_TRY(hearth_diff_mib(d, e, i, &mib, err));
    allocs[i] = hearth_diff_per_run(d, i, mib.AllocCount);
  }
  HEARTH_TRY(hearth_diff_stack(d, e, &side, &node, err));
  bool one_side = e->change == HEARTH_CHANGE_NEW || e->change == HEARTH_CHANGE_VANISHED;
  fputs("\n   ", out);
  print_entry_class(d, e, one_side ? side : HEARTH_DIFF_A, out);
  if (one_side)
    fprintf(out, "%s in %s allocation%s\n", bytes_of(e->bytes[side]).c, count_of(allocs[side]).c,
            allocs[side] == 1 ? "" : "s");
  else
    print_both(e, allocs, out);
  return hearth_print_stack(d->sides[side].profile, &d->sides[side].names, node, out, err);
}

static hearth_status print_change(hearth_diff *d, hearth_change change, size_t top, FILE *out, hearth_error *err) {
  static const char *const titles[] = {"changed class", "appeared", "vanished", "kept their class and changed size"};
  const char *title = !has_classes(d) && change == HEARTH_CHANGE_SIZE ? "changed size" : titles[change];
  uint32_t first = d->first[change], count = d->first[change + 1] - first;
  double a = d->sides[HEARTH_DIFF_A].changes[change].of[HEARTH_QUANTITY_BYTES];
  double b = d->sides[HEARTH_DIFF_B].changes[change].of[HEARTH_QUANTITY_BYTES];
  fprintf(out, "\n%u context%s %s", count, hearth_plural(count), title);
  if (count && change != HEARTH_CHANGE_NEW)
    fprintf(out, ": %s in A", bytes_of(a).c);
  if (count && change != HEARTH_CHANGE_VANISHED)
    fprintf(out, "%s %s in B", change == HEARTH_CHANGE_NEW ? ":" : ",", bytes_of(b).c);
  fputc('\n', out);
  for (uint32_t i = 0; i < count && i < top; i++)
    HEARTH_TRY(print_entry(d, &d->entries[first + i], out, err));
  if (count > top)
    fprintf(out, "\n   ... and %zu more (--full prints all)\n", count - top);
  return HEARTH_OK;
}

hearth_status hearth_diff_print_text(hearth_diff *d, size_t top, FILE *out, hearth_error *err) {
  print_sides(d, out);
  print_classes(d, out);
  for (hearth_change change = has_classes(d) ? 0 : HEARTH_CHANGE_NEW; change < HEARTH_CHANGE_NONE; change++)
    HEARTH_TRY(print_change(d, change, top, out, err));
  return hearth_stream_flush(out, err);
}

/* -------------------------------------------------- by group -------------------------------------------------- */

/* Both profiles' sums by function, caller, site, file, library, type or size. Groups are the same if name and file are,
 * so that a function that moved within its file is one. */

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

/* With a sign. */
static void group_print_change(double change, int width, FILE *out) {
  char text[sizeof(hearth_amount_text) + 1];
  snprintf(text, sizeof text, "%c%s", change < 0 ? '-' : '+', bytes_of(fabs(change)).c);
  fprintf(out, "%*s", width, text);
}

static void group_print_row(const hearth_diff *d, const group_row *row, FILE *out) {
  const hearth_listing_totals *a = &row->flat[HEARTH_DIFF_A], *b = &row->flat[HEARTH_DIFF_B];
  fprintf(out, "  %12s %12s ", bytes_of(hearth_diff_per_run(d, HEARTH_DIFF_A, a->bytes)).c,
          bytes_of(hearth_diff_per_run(d, HEARTH_DIFF_B, b->bytes)).c);
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
    print_sides(d, out);
    group_print_rows(d, &rows, kind, top, out);
    status = hearth_stream_flush(out, err);
  }
  destroy(&rows);
  return status;
}

/* -------------------------------------------------- Markdown -------------------------------------------------- */

/* Totals, then the contexts that grew most, new ones among them, and, folded, those that shrank. Tables of GitHub's
 * flavour of Markdown, which GitLab and Gitea read, too. */

enum { STACK_FRAMES = 3 }; /* a cell has no room for more */

/* Names come from a file: nothing in them ends the cell or its code. */
static void print_code(const char *name, FILE *out) {
  fputc('`', out);
  for (; *name; name++)
    if (*name == '|')
      fputs("\\|", out);
    else
      fputc(*name == '`' || (unsigned char)*name < ' ' ? '?' : *name, out);
  fputc('`', out);
}

static void print_amount(hearth_quantity quantity, double value, FILE *out) {
  fprintf(out, " %s |", hearth_amount_of(quantity, (uint64_t)(value + 0.5)).c);
}

static void print_total(const char *name, hearth_quantity quantity, const hearth_diff_totals *a,
                        const hearth_diff_totals *b, FILE *out) {
  fprintf(out, "| %s |", name);
  print_amount(quantity, a->of[quantity], out);
  print_amount(quantity, b->of[quantity], out);
  fprintf(out, " %s |\n", change_of(a->of[quantity], b->of[quantity]).c);
}

static void mark_totals(const hearth_diff *d, FILE *out) {
  const hearth_diff_side *a = &d->sides[HEARTH_DIFF_A], *b = &d->sides[HEARTH_DIFF_B];
  fputs("| heap, per run | ", out);
  print_code(hearth_base_name(a->name), out);
  fputs(" | ", out);
  print_code(hearth_base_name(b->name), out);
  fputs(" | change |\n|---|--:|--:|--:|\n", out);
  print_total("bytes", HEARTH_QUANTITY_BYTES, &a->all, &b->all, out);
  print_total("allocations", HEARTH_QUANTITY_ALLOCS, &a->all, &b->all, out);
  print_total("live at exit", HEARTH_QUANTITY_LIVE, &a->all, &b->all, out);
  if (!hearth_accesses_known(&a->summary) || !hearth_accesses_known(&b->summary))
    return;
  print_total("cold bytes", HEARTH_QUANTITY_BYTES, &a->classes[HEARTH_CLASS_COLD], &b->classes[HEARTH_CLASS_COLD], out);
  print_total("hot bytes", HEARTH_QUANTITY_BYTES, &a->classes[HEARTH_CLASS_HOT], &b->classes[HEARTH_CLASS_HOT], out);
}

/* The innermost functions that are no wrappers. */
static hearth_status mark_stack(hearth_diff_side *side, uint32_t node, FILE *out, hearth_error *err) {
  for (int printed = 0; node != HEARTH_NONE && printed < STACK_FRAMES;) {
    uint32_t frame;
    hearth_place place;
    hearth_role role;
    HEARTH_TRY(hearth_profile_get_stack(side->profile, node, &frame, &node, err));
    HEARTH_TRY(hearth_place_get(side->profile, &side->names, frame, &place, err));
    HEARTH_TRY(hearth_names_role(&side->names, place.frame.function, &role, err));
    if (role != HEARTH_ROLE_OWNER && node != HEARTH_NONE)
      continue;
    fputs(printed++ ? " < " : "", out);
    print_code(place.function.name, out);
    if (*place.function.path && place.frame.line != HEARTH_LINE_UNKNOWN && place.function.info.start_line) {
      fputc(' ', out);
      hearth_print_name(hearth_base_name(place.function.path), 0, out);
      fprintf(out, ":%u", place.line);
    }
  }
  return HEARTH_OK;
}

static hearth_status mark_entry(hearth_diff *d, const hearth_diff_entry *e, FILE *out, hearth_error *err) {
  int side;
  uint32_t node;
  fputc('|', out);
  for (int i = 0; i < HEARTH_DIFF_SIDES; i++)
    print_amount(HEARTH_QUANTITY_BYTES, e->bytes[i], out);
  fprintf(out, " %s |", change_of(e->bytes[HEARTH_DIFF_A], e->bytes[HEARTH_DIFF_B]).c);
  for (int i = 0; i < HEARTH_DIFF_SIDES; i++) {
    hearth_mib mib;
    HEARTH_TRY(hearth_diff_mib(d, e, i, &mib, err));
    print_amount(HEARTH_QUANTITY_ALLOCS, hearth_diff_per_run(d, i, mib.AllocCount), out);
  }
  fputc(' ', out);
  HEARTH_TRY(hearth_diff_stack(d, e, &side, &node, err));
  HEARTH_TRY(mark_stack(&d->sides[side], node, out, err));
  fputs(" |\n", out);
  return HEARTH_OK;
}

static double growth(const hearth_diff_entry *e) { return e->bytes[HEARTH_DIFF_B] - e->bytes[HEARTH_DIFF_A]; }

static int compare_growth(const void *a, const void *b) {
  const hearth_diff_entry *x = *(const hearth_diff_entry *const *)a, *y = *(const hearth_diff_entry *const *)b;
  double one = growth(x), other = growth(y);
  return one != other ? (one < other ? 1 : -1) : (x > y) - (x < y);
}

/* Entries `count` from `first` on, one after the other in this direction; none: nothing is printed. */
static hearth_status mark_entries(hearth_diff *d, const hearth_diff_entry *const *first, int step, size_t count,
                                  size_t top, FILE *out, hearth_error *err) {
  const char *what = step > 0 ? "grew" : "shrank";
  if (count == 0)
    return HEARTH_OK;
  fprintf(out, "\n<details%s><summary>%zu context%s %s</summary>\n\n", step > 0 ? " open" : "", count,
          hearth_plural(count), what);
  fputs("| bytes | | change | allocations | | where |\n|--:|--:|--:|--:|--:|---|\n", out);
  for (size_t i = 0; i < count && i < top; i++, first += step)
    HEARTH_TRY(mark_entry(d, *first, out, err));
  if (count > top)
    fprintf(out, "\n... and %zu more\n", count - top);
  fputs("\n</details>\n", out);
  return HEARTH_OK;
}

static hearth_status print_sorted(hearth_diff *d, const hearth_diff_entry **sorted, size_t top, FILE *out,
                                  hearth_error *err) {
  size_t count = d->first[HEARTH_CHANGE_NONE], grew = 0, shrank = 0;
  for (size_t i = 0; i < count; i++) {
    sorted[i] = &d->entries[i];
    grew += growth(sorted[i]) > 0;
    shrank += growth(sorted[i]) < 0;
  }
  qsort(sorted, count, sizeof *sorted, compare_growth);
  mark_totals(d, out);
  if (grew + shrank == 0)
    fputs("\nNo context changed its bytes.\n", out);
  HEARTH_TRY(mark_entries(d, sorted, 1, grew, top, out, err));
  return mark_entries(d, sorted + count - (count > 0), -1, shrank, top, out, err);
}

hearth_status hearth_diff_print_markdown(hearth_diff *d, size_t top, FILE *out, hearth_error *err) {
  const hearth_diff_entry **sorted = calloc((size_t)d->entry_count + 1, sizeof *sorted);
  HEARTH_TRY(hearth_check_memory(sorted, err));
  hearth_status status = print_sorted(d, sorted, top, out, err);
  free(sorted);
  return status == HEARTH_OK ? hearth_stream_flush(out, err) : status;
}
