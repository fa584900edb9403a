/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The comparison as a comment on a change of the sources: totals, then the contexts that grew most, new ones among
 * them, and, folded, those that shrank. Tables of GitHub's flavour of Markdown, which GitLab and Gitea read, too. */
#include <stdlib.h>

#include "array.h"
#include "comparison.h"
#include "file.h"
#include "hearth/ids.h"
#include "print.h"

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

static void mark_change(double a, double b, FILE *out) {
  if (a == b)
    fputs("same", out);
  else if (a == 0)
    fputs("**new**", out);
  else if (b == 0)
    fputs("gone", out);
  else
    fprintf(out, "%+.1f %%", 100 * (b - a) / a);
}

static void print_amount(hearth_quantity quantity, double value, FILE *out) {
  fprintf(out, " %s |", hearth_amount_of(quantity, (uint64_t)(value + 0.5)).c);
}

static void print_total(const char *name, hearth_quantity quantity, const hearth_diff_totals *a,
                        const hearth_diff_totals *b, FILE *out) {
  fprintf(out, "| %s |", name);
  print_amount(quantity, a->of[quantity], out);
  print_amount(quantity, b->of[quantity], out);
  fputc(' ', out);
  mark_change(a->of[quantity], b->of[quantity], out);
  fputs(" |\n", out);
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
static hearth_status diff_markdown_mark_stack(hearth_diff_side *side, uint32_t node, FILE *out, hearth_error *err) {
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
  fputc(' ', out);
  mark_change(e->bytes[HEARTH_DIFF_A], e->bytes[HEARTH_DIFF_B], out);
  fputs(" |", out);
  for (int i = 0; i < HEARTH_DIFF_SIDES; i++) {
    hearth_mib mib;
    HEARTH_TRY(hearth_diff_mib(d, e, i, &mib, err));
    print_amount(HEARTH_QUANTITY_ALLOCS, hearth_diff_per_run(d, i, mib.AllocCount), out);
  }
  fputc(' ', out);
  HEARTH_TRY(hearth_diff_stack(d, e, &side, &node, err));
  HEARTH_TRY(diff_markdown_mark_stack(&d->sides[side], node, out, err));
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
