/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth show --together`. */
#include <inttypes.h>

#include "amount.h"
#include "file.h"
#include "print.h"
#include "together_view.h"

static void print_totals(const hearth_together_view *v, FILE *stream) {
  const hearth_together_totals *t = &v->together.totals;
  fprintf(stream, "%" PRIu64 " window%s, %s long on average; %.0f of %.0f pages were looked at in each\n", t->windows,
          hearth_plural(t->windows), hearth_amount_time(hearth_together_per_window(v, t->window_ns)).c,
          hearth_together_per_window(v, t->sampled_pages), hearth_together_per_window(v, t->pages));
  if (t->lost_pairs)
    fprintf(stream, "%" PRIu64 " pair%s of contexts found no room\n", t->lost_pairs, hearth_plural(t->lost_pairs));
}

static hearth_status print_row(hearth_together_view *v, size_t i, FILE *stream, hearth_error *err) {
  const hearth_touched *t = &v->rows[i].touched;
  uint32_t node;
  fprintf(stream, "%5zu %11.1f %10.1f %6.1f%% %12.1f %6.2f%% %8.1f%%\n", i + 1, hearth_together_per_window(v, t->lines),
          hearth_together_per_window(v, t->pages), 100 * hearth_ratio((double)t->lines, 64 * (double)t->pages),
          hearth_together_per_window(v, t->live), 100 * hearth_ratio((double)t->blocks, (double)t->live),
          100 * hearth_together_per_window(v, t->windows));
  HEARTH_TRY(hearth_profile_get_context(v->profile, v->rows[i].context, &node, NULL, err));
  return hearth_print_stack(v->profile, &v->names, node, stream, err);
}

static hearth_status print_rows(hearth_together_view *v, FILE *stream, hearth_error *err) {
  fputs("\nContexts by the lines of 64 bytes that a window touches; how full the touched pages are; live blocks, and "
        "the\nshare of them that a window touches; windows that touch any\n"
        "    #       lines      pages    full         live   used  windows\n",
        stream);
  for (size_t i = 0; i < v->row_count; i++)
    HEARTH_TRY(print_row(v, i, stream, err));
  if (v->row_count < v->together.row_count)
    fprintf(stream, "  ... and %zu more\n", v->together.row_count - v->row_count);
  return HEARTH_OK;
}

static void print_number(const hearth_together_view *v, uint32_t context, FILE *stream) {
  if (v->positions[context] == HEARTH_NONE)
    fprintf(stream, " %5s", "-");
  else
    fprintf(stream, " %5" PRIu32, v->positions[context] + 1);
}

static void print_pairs(const hearth_together_view *v, FILE *stream) {
  fputs("\nPairs by the lines that a window touches of the one that has fewer; windows that touch both\n"
        "     #     #       lines  windows\n",
        stream);
  for (size_t i = 0; i < v->pair_count; i++) {
    const hearth_together_pair *pair = &v->pairs[i];
    print_number(v, pair->a, stream);
    print_number(v, pair->b, stream);
    fprintf(stream, " %11.1f %7.1f%%\n", hearth_together_per_window(v, pair->lines),
            100 * hearth_together_per_window(v, pair->windows));
  }
  if (v->pair_count < v->together.pair_count)
    fprintf(stream, "  ... and %zu more\n", v->together.pair_count - v->pair_count);
}

static hearth_status print(hearth_together_view *v, FILE *stream, hearth_error *err) {
  if (v->together.totals.windows == 0) {
    fputs("no windows: the runtime takes them of programs that are linked with it, at full counts, in format hearth, "
          "once\nthe heap has 4 MiB (HEARTH_OPTIONS=together=on)\n",
          stream);
    return HEARTH_OK;
  }
  print_totals(v, stream);
  HEARTH_TRY(print_rows(v, stream, err));
  if (v->together.pair_count > 0)
    print_pairs(v, stream);
  return HEARTH_OK;
}

hearth_status hearth_together_print_text(hearth_profile *profile, size_t most, FILE *stream, hearth_error *err) {
  hearth_together_view v;
  hearth_status status = hearth_together_view_init(&v, profile, most, err);
  if (status == HEARTH_OK)
    status = print(&v, stream, err);
  hearth_together_view_destroy(&v);
  return status == HEARTH_OK ? hearth_stream_flush(stream, err) : status;
}
