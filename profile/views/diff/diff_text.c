/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One section for each kind of change, heaviest contexts first. */
#include <math.h>
#include <stdlib.h>

#include "comparison.h"
#include "file.h"
#include "print.h"

typedef struct change_text {
  char c[24];
} change_text;

/* "+12.3%". */
static change_text diff_text_change_of(double a, double b) {
  change_text text;
  if (a == b)
    snprintf(text.c, sizeof text.c, "same");
  else if (a == 0)
    snprintf(text.c, sizeof text.c, "new");
  else
    snprintf(text.c, sizeof text.c, "%+.1f%%", 100 * (b - a) / a);
  return text;
}

static hearth_amount_text diff_text_bytes_of(double bytes) { return hearth_amount_bytes((uint64_t)(bytes + 0.5)); }

static void print_side(const hearth_diff *d, int number, FILE *out) {
  const hearth_diff_side *side = &d->sides[number];
  fprintf(out, "%c: %s: %llu run%s, %s and %.0f allocations per run%s\n", "AB"[number], side->name,
          (unsigned long long)side->summary.runs, hearth_plural(side->summary.runs),
          diff_text_bytes_of(side->all.of[HEARTH_QUANTITY_BYTES]).c, side->all.of[HEARTH_QUANTITY_ALLOCS],
          hearth_accesses_known(&side->summary) ? "" : "; accesses not counted: no classes");
}

void hearth_diff_print_sides(const hearth_diff *d, FILE *out) {
  for (int side = 0; side < HEARTH_DIFF_SIDES; side++)
    print_side(d, side, out);
}

static void diff_text_print_row(const char *name, const hearth_diff_totals *a, const hearth_diff_totals *b, FILE *out) {
  double x = a->of[HEARTH_QUANTITY_BYTES], y = b->of[HEARTH_QUANTITY_BYTES];
  fprintf(out, "  %-8s %10.0f %10.0f %12s %12s %10s\n", name, a->of[HEARTH_MEASURE_CONTEXTS],
          b->of[HEARTH_MEASURE_CONTEXTS], diff_text_bytes_of(x).c, diff_text_bytes_of(y).c,
          diff_text_change_of(x, y).c);
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
    diff_text_print_row(hearth_class_name(c), &a->classes[c], &b->classes[c], out);
  const hearth_diff_totals *light_a = &a->classes[HEARTH_CLASS_UNKNOWN], *light_b = &b->classes[HEARTH_CLASS_UNKNOWN];
  if (light_a->of[HEARTH_MEASURE_CONTEXTS] + light_b->of[HEARTH_MEASURE_CONTEXTS] > 0)
    diff_text_print_row(hearth_class_name(HEARTH_CLASS_UNKNOWN), light_a, light_b, out);
  diff_text_print_row("all", &a->all, &b->all, out);
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
  fprintf(out, "%s -> %s (%s), %s -> %s allocations\n", diff_text_bytes_of(a).c, diff_text_bytes_of(b).c,
          diff_text_change_of(a, b).c, count_of(allocs[HEARTH_DIFF_A]).c, count_of(allocs[HEARTH_DIFF_B]).c);
}

static hearth_status diff_text_print_entry(hearth_diff *d, const hearth_diff_entry *e, FILE *out, hearth_error *err) {
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
    fprintf(out, "%s in %s allocation%s\n", diff_text_bytes_of(e->bytes[side]).c, count_of(allocs[side]).c,
            allocs[side] == 1 ? "" : "s");
  else
    print_both(e, allocs, out);
  return hearth_print_stack(d->sides[side].profile, &d->sides[side].names, node, out, err);
}

static hearth_status diff_text_print_change(hearth_diff *d, hearth_change change, size_t top, FILE *out,
                                            hearth_error *err) {
  static const char *const titles[] = {"changed class", "appeared", "vanished", "kept their class and changed size"};
  const char *title = !has_classes(d) && change == HEARTH_CHANGE_SIZE ? "changed size" : titles[change];
  uint32_t first = d->first[change], count = d->first[change + 1] - first;
  double a = d->sides[HEARTH_DIFF_A].changes[change].of[HEARTH_QUANTITY_BYTES];
  double b = d->sides[HEARTH_DIFF_B].changes[change].of[HEARTH_QUANTITY_BYTES];
  fprintf(out, "\n%u context%s %s", count, hearth_plural(count), title);
  if (count && change != HEARTH_CHANGE_NEW)
    fprintf(out, ": %s in A", diff_text_bytes_of(a).c);
  if (count && change != HEARTH_CHANGE_VANISHED)
    fprintf(out, "%s %s in B", change == HEARTH_CHANGE_NEW ? ":" : ",", diff_text_bytes_of(b).c);
  fputc('\n', out);
  for (uint32_t i = 0; i < count && i < top; i++)
    HEARTH_TRY(diff_text_print_entry(d, &d->entries[first + i], out, err));
  if (count > top)
    fprintf(out, "\n   ... and %zu more (--full prints all)\n", count - top);
  return HEARTH_OK;
}

hearth_status hearth_diff_print_text(hearth_diff *d, size_t top, FILE *out, hearth_error *err) {
  hearth_diff_print_sides(d, out);
  print_classes(d, out);
  for (hearth_change change = has_classes(d) ? 0 : HEARTH_CHANGE_NEW; change < HEARTH_CHANGE_NONE; change++)
    HEARTH_TRY(diff_text_print_change(d, change, top, out, err));
  return hearth_stream_flush(out, err);
}
