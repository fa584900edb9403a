/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The summary (listing.c), a table of functions, then functions with their contexts and stacks. Rows beyond
 * the limits are summed in a last line. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "file.h"
#include "hearth/classify.h"
#include "listing_rows.h"
#include "numbers.h"
#include "print.h"

static hearth_status listing_text_print_type(hearth_listing *r, uint64_t id, hearth_error *err) {
  const char *name;
  HEARTH_TRY(hearth_profile_type_name(r->profile, id, &name, err));
  if (*name) {
    fputs("   of type ", r->stream);
    hearth_print_name(name, 0, r->stream);
    fputc('\n', r->stream);
  } else if (id == HEARTH_MIB_MIXED) {
    fputs("   of several types\n", r->stream);
  }
  return HEARTH_OK;
}

static void print_live(const hearth_mib *m, FILE *out) {
  uint64_t bytes = hearth_live_bytes(m);
  fprintf(out, "%" PRIu64 " live at exit", m->LiveAtExit);
  if (bytes == 0)
    return;
  if (hearth_live_bytes_estimated(m))
    fprintf(out, " with about %s", hearth_amount_bytes(bytes).c);
  else
    fprintf(out, " with %s (%" PRIu64 " bytes)", hearth_amount_bytes(bytes).c, bytes);
}

/* Which of the conditions keeps blocks from being cold. */
static void print_why_not_cold(const hearth_listing *r, const hearth_mib *m) {
  const hearth_classifier *c = &r->selection.classifier;
  double moments = (double)m->UsedPageBytes + (double)m->IdlePageBytes;
  if (c->mode != HEARTH_CLASSIFY_AUTO || (moments <= 0 && m->Picks == 0))
    return;
  fprintf(r->stream, "   cold asks for %s of life", hearth_amount_time(2 * c->cold_min_lifetime_ns).c);
  if (moments > 0)
    fprintf(r->stream, ", pages unused for half of that at %.0f%% of the moments (here %.0f%%)",
            100 - fmin(100, 100 / (HEARTH_IDLE_MOMENTS * c->idle_scale)), 100 * (double)m->IdlePageBytes / moments);
  if (m->Picks > 0)
    fprintf(r->stream, ", rest in the last half of life for %d%% (here %.0f%%)", 100 - HEARTH_MOST_USED_LATE_PERCENT,
            100 * (double)m->LatePicks / (double)m->Picks);
  fputc('\n', r->stream);
}

/* Not every layout of profiles has all fields. */
static void print_use(const hearth_listing *r, const hearth_mib *m, hearth_class hotness) {
  double allocs = (double)m->AllocCount;
  const char *separator = "   ";
  if (hearth_listing_knows(r, HEARTH_COL_TotalLifetime)) {
    fprintf(r->stream, "%slives %s on average", separator,
            hearth_amount_time(hearth_ratio((double)m->TotalLifetime, allocs)).c);
    separator = ", ";
  }
  if (hearth_listing_knows(r, HEARTH_COL_LiveAtExit)) {
    fputs(separator, r->stream);
    print_live(m, r->stream);
    separator = ", ";
  }
  if (m->PeakBytes > 0) {
    fprintf(r->stream, "%s%" PRIu64 " at the peak with %s", separator, m->PeakBlocks,
            hearth_amount_bytes(m->PeakBytes).c);
    separator = ", ";
  }
  if (r->summary.accesses_counted) {
    fprintf(r->stream, "%s%.1f accesses per allocation", separator, hearth_ratio((double)m->TotalAccessCount, allocs));
    separator = ", ";
    if (hearth_listing_knows(r, HEARTH_COL_TotalPercentUtilized))
      fprintf(r->stream, ", %.0f%% of it used", hearth_ratio((double)m->TotalPercentUtilized, allocs));
  }
  if (*separator == ',')
    fputc('\n', r->stream);
  hearth_touch_rate rate = hearth_touch_rate_of(m);
  if (m->Looks > 0 && rate.per_second >= 0)
    fprintf(r->stream, "   %" PRIu64 " looks: a page is touched %.3g (+- %.2g) times a second\n",
            m->Looks + m->ShortLooks, rate.per_second, rate.error);
  if (hotness == HEARTH_CLASS_NOTCOLD && hearth_accesses_known(&r->summary))
    print_why_not_cold(r, m);
  if (hearth_classify(&r->selection.classifier, m) == HEARTH_CLASS_UNKNOWN)
    fputs("   accessed by code without counters: its pages are in use while its counters rest\n", r->stream);
}

static double factor_of(double doublings) { return exp2(HEARTH_VARIANCE_ERRORS * doublings); }

static hearth_status listing_text_print_variance(const hearth_listing *r, uint32_t context, hearth_error *err) {
  hearth_variance variance;
  HEARTH_TRY(hearth_profile_get_variance(r->profile, context, &variance, err));
  if (variance.runs == 0)
    return HEARTH_OK;
  hearth_variance_errors errors = hearth_variance_get_errors(&variance);
  fprintf(r->stream, "   in %" PRIu64 " of %" PRIu64 " runs", variance.runs, r->summary.runs);
  if (errors.runs > 0)
    fprintf(r->stream, "; within a factor of %.2f: density, %.2f: lifetime, %.2f: bytes", factor_of(errors.density),
            factor_of(errors.lifetime), factor_of(errors.bytes));
  fputc('\n', r->stream);
  return HEARTH_OK;
}

static hearth_status listing_text_print_context(hearth_listing *r, const hearth_listing_row *row, hearth_error *err) {
  uint32_t node;
  hearth_mib m;
  HEARTH_TRY(hearth_profile_get_context(r->profile, row->context, &node, &m, err));
  double allocs = (double)m.AllocCount;
  fputs("\n   ", r->stream);
  if (hearth_accesses_known(&r->summary))
    fprintf(r->stream, "%s%s: ", hearth_class_name(row->hotness), row->is_uncertain ? ", cold or not" : "");
  fprintf(r->stream, "%" PRIu64 " allocation%s, %s (%" PRIu64 " bytes), %.1f bytes on average\n", m.AllocCount,
          hearth_plural(m.AllocCount), hearth_amount_bytes(m.TotalSize).c, m.TotalSize,
          hearth_ratio((double)m.TotalSize, allocs));
  print_use(r, &m, row->hotness);
  HEARTH_TRY(listing_text_print_variance(r, row->context, err));
  HEARTH_TRY(listing_text_print_type(r, m.DataTypeId, err));
  return hearth_print_stack(r->profile, &r->names, node, r->stream, err);
}

static void print_unlisted(const hearth_listing *r, const char *indent, size_t n, const char *what,
                           const hearth_listing_totals *sum) {
  fprintf(r->stream, "\n%s... and %zu more %s%s with %s (%.1f%%) in %" PRIu64 " allocation%s (%s)\n", indent, n, what,
          hearth_plural(n), hearth_amount_bytes(sum->bytes).c, hearth_percent(sum->bytes, r->all.bytes), sum->allocs,
          hearth_plural(sum->allocs),
          !r->options.lines ? "--full prints all"
          : *indent         ? "--contexts=N prints more"
                            : "--top=N prints more");
}

/* -------------------------------------------------- table -------------------------------------------------- */

static void print_value(const hearth_listing *r, const hearth_listing_totals *sum) {
  fprintf(r->stream, " %12s %5.1f%%", hearth_amount_of(hearth_listing_quantity(&r->options), sum->sorted).c,
          hearth_percent(sum->sorted, r->all.sorted));
}

/* Types and sizes call nothing. */
static bool has_cumulative_column(const hearth_listing *r) { return !hearth_groups_lack_callees(r->options.by); }

static bool has_live_column(const hearth_listing *r) { return hearth_listing_knows(r, HEARTH_COL_LiveAtExit); }

static bool has_lives_column(const hearth_listing *r) { return hearth_listing_knows(r, HEARTH_COL_TotalLifetime); }

static void print_table_row(const hearth_listing *r, const hearth_group *g) {
  const hearth_listing_totals *sum = r->options.cumulative ? &g->cumulative : &g->flat;
  print_value(r, &g->flat);
  if (has_cumulative_column(r))
    print_value(r, &g->cumulative);
  fprintf(r->stream, " %13" PRIu64, sum->allocs);
  if (has_live_column(r))
    fprintf(r->stream, " %12s", hearth_amount_bytes(sum->live).c);
  if (has_lives_column(r))
    fprintf(r->stream, " %8s", hearth_amount_time(hearth_ratio((double)sum->lifetime_ns, (double)sum->allocs)).c);
  if (hearth_listing_knows_untouched(r))
    fprintf(r->stream, " %8.0f%%", hearth_percent(sum->untouched, sum->bytes));
  fputs("  ", r->stream);
  hearth_print_name(g->name, 0, r->stream);
  if (*g->path) {
    fputs("  ", r->stream);
    hearth_print_name(hearth_base_name(g->path), 0, r->stream);
  }
  fputc('\n', r->stream);
}

static void print_table_head(const hearth_listing *r) {
  fprintf(r->stream, "\n %12s %5s ", hearth_listing_quantity_name(&r->options), "");
  if (has_cumulative_column(r))
    fprintf(r->stream, " %18s ", "with all it calls");
  fprintf(r->stream, "%13s", "allocations");
  if (has_live_column(r))
    fprintf(r->stream, " %12s", "live at exit");
  if (has_lives_column(r))
    fprintf(r->stream, " %8s", "lives");
  if (hearth_listing_knows_untouched(r))
    fprintf(r->stream, " %9s", "untouched");
  fprintf(r->stream, "  %s\n", hearth_group_kind_name(r->options.by));
}

enum { LEAST_NAMELESS = 10 }; /* per cent of what is shown */

static void print_nameless(const hearth_listing *r) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < r->all_groups.count; i++)
    if (hearth_is_address_name(r->all_groups.items[i].name))
      bytes = hearth_merge_SUM(bytes, r->all_groups.items[i].flat.bytes);
  if (bytes > 0 && hearth_percent(bytes, r->shown.bytes) >= LEAST_NAMELESS)
    fprintf(r->stream,
            "  functions without names, FILE+0xBEGIN, have %.1f%% of the bytes: 'hearth index' names them by debug "
            "packages\n"
            "  (PACKAGE-dbgsym; of libraries with --debug-dir=/usr/lib/debug) or debuginfod servers (DEBUGINFOD_URLS; "
            "of\n"
            "  libraries given by --binary). If one passes allocations on for its callers:\n"
            "  --wrapper=FILE+0xBEGIN\n",
            hearth_percent(bytes, r->shown.bytes));
}

/* Groups without a value are not worth a line. */
static void listing_text_print_table(const hearth_listing *r) {
  size_t printed = 0, more = 0;
  hearth_listing_totals rest = {0};
  print_table_head(r);
  for (size_t i = 0; i < r->group_count; i++) {
    const hearth_group *g = hearth_listing_group_of(r, i);
    const hearth_listing_totals *sum = r->options.cumulative ? &g->cumulative : &g->flat;
    if (sum->contexts == 0 || sum->sorted == 0)
      continue;
    if (printed++ < r->options.groups) {
      print_table_row(r, g);
    } else {
      hearth_listing_add_totals(&rest, &g->flat);
      more++;
    }
  }
  if (more > 0) {
    print_value(r, &rest);
    fprintf(r->stream, "  ... in %zu more (--full prints all)\n", more);
  }
  if (r->options.by == HEARTH_BY_TYPE && hearth_profile_type_count(r->profile) == 0)
    fputs("  types are known of programs that are compiled for profiling (HEARTH=instrument hearth-cc)\n", r->stream);
  print_nameless(r);
}

/* -------------------------------------------------- contexts -------------------------------------------------- */

/* A function's callers, by their share of its allocations. */
static hearth_status print_callers(hearth_listing *r, const hearth_group *owner, const hearth_listing_row *rows,
                                   hearth_error *err) {
  enum { MOST_CALLERS = 3 };
  const char *separator = "   called by ";
  hearth_groups *callers = &r->callers;
  if (!callers->names)
    HEARTH_TRY(hearth_groups_init(callers, &r->names, HEARTH_BY_CALLER, err));
  for (size_t i = 0; i < callers->count; i++)
    callers->items[i].flat.sorted = 0;
  for (size_t i = 0; i < owner->flat.contexts; i++) {
    hearth_selected context;
    uint32_t group;
    HEARTH_TRY(hearth_selection_get(&r->selection, rows[i].context, &context, err));
    HEARTH_TRY(hearth_groups_add(callers, &context, &rows[i].sum, &group, err));
  }
  for (unsigned n = 0; n < MOST_CALLERS; n++) {
    hearth_group *most = NULL;
    for (size_t i = 0; i < callers->count; i++)
      if (!most || callers->items[i].flat.sorted > most->flat.sorted)
        most = &callers->items[i];
    if (!most || most->flat.sorted == 0)
      break;
    fputs(separator, r->stream);
    hearth_print_name(most->name, 0, r->stream);
    fprintf(r->stream, " %.1f%%", hearth_percent(most->flat.sorted, owner->flat.sorted));
    most->flat.sorted = 0;
    separator = ", ";
  }
  fputs(*separator == ',' ? "\n" : "", r->stream);
  return HEARTH_OK;
}

static void print_group_title(hearth_listing *r, size_t number, const hearth_group *g) {
  fprintf(r->stream, "\n%zu. ", number);
  hearth_print_name(g->name, 0, r->stream);
  if (r->options.by == HEARTH_BY_FUNCTION || r->options.by == HEARTH_BY_CALLER) {
    fprintf(r->stream, " (");
    hearth_print_name(*g->path ? g->path : "unknown file", 0, r->stream);
    fputc(')', r->stream);
  }
  fprintf(r->stream, ": %s", hearth_amount_bytes(g->flat.bytes).c);
  if (r->options.sort != HEARTH_QUANTITY_BYTES)
    fprintf(r->stream, " (%s: %s)", hearth_listing_quantity_name(&r->options),
            hearth_amount_of(hearth_listing_quantity(&r->options), g->flat.sorted).c);
  fprintf(r->stream, " in %" PRIu64 " context%s, %" PRIu64 " allocation%s\n", g->flat.contexts,
          hearth_plural(g->flat.contexts), g->flat.allocs, hearth_plural(g->flat.allocs));
}

static hearth_status listing_text_print_group(hearth_listing *r, size_t number, size_t row, hearth_error *err) {
  const hearth_group *g = hearth_listing_group_of(r, row);
  const hearth_listing_row *rows = &r->rows[r->groups[row].first];
  hearth_listing_totals unlisted = {0};
  print_group_title(r, number, g);
  if (r->options.by == HEARTH_BY_FUNCTION)
    HEARTH_TRY(print_callers(r, g, rows, err));
  for (size_t i = 0; i < g->flat.contexts; i++) {
    if (i < r->options.contexts)
      HEARTH_TRY(listing_text_print_context(r, &rows[i], err));
    else
      hearth_listing_add_totals(&unlisted, &rows[i].sum);
  }
  if (unlisted.contexts)
    print_unlisted(r, "   ", unlisted.contexts, "context", &unlisted);
  return HEARTH_OK;
}

static hearth_status listing_text_print_groups(hearth_listing *r, hearth_error *err) {
  hearth_listing_totals unlisted = {0};
  size_t number = 0;
  for (size_t i = 0; i < r->group_count; i++) {
    const hearth_group *g = hearth_listing_group_of(r, i);
    if (g->flat.contexts == 0)
      continue;
    if (number++ < r->detailed)
      HEARTH_TRY(listing_text_print_group(r, number, i, err));
    else
      hearth_listing_add_totals(&unlisted, &g->flat);
  }
  if (number > r->detailed)
    print_unlisted(r, "", number - r->detailed, hearth_group_kind_name(r->options.by), &unlisted);
  return HEARTH_OK;
}

static hearth_status print_whole_listing(hearth_listing *r, hearth_error *err) {
  HEARTH_TRY(hearth_listing_print_summary(r, err));
  if (r->shown.contexts != r->all.contexts)
    fprintf(r->stream, "\n%" PRIu64 " of %" PRIu64 " contexts, with %s, pass the filters.\n", r->shown.contexts,
            r->all.contexts, hearth_amount_bytes(r->shown.bytes).c);
  listing_text_print_table(r);
  if (r->options.contexts == 0)
    return HEARTH_OK;
  HEARTH_TRY(listing_text_print_groups(r, err));
  if (r->options.lines > 0)
    fprintf(r->stream, "\nWhat to change about it: hearth advise %s\n", r->name);
  return HEARTH_OK;
}

/* Is it printed, in that many lines? If not, it has less to print next time: one context of each function, and those of
 * fewer functions. */
static hearth_status print_attempt(hearth_listing *r, bool *ret_printed, hearth_error *err) {
  char *text = NULL;
  size_t size, lines = 0;
  FILE *stream = r->stream;
  r->stream = open_memstream(&text, &size);
  hearth_status status = r->stream ? print_whole_listing(r, err) : hearth_error_nomem(err);
  if (r->stream && fclose(r->stream) != 0 && status == HEARTH_OK)
    status = hearth_error_nomem(err);
  r->stream = stream;
  for (size_t i = 0; status == HEARTH_OK && i < size; i++)
    lines += text[i] == '\n';
  *ret_printed = status == HEARTH_OK && (lines <= r->options.lines || r->options.contexts == 0 || r->detailed == 0);
  if (*ret_printed)
    fwrite(text, 1, size, stream);
  else if (r->options.contexts > 1)
    r->options.contexts = 1;
  else
    r->detailed--;
  free(text);
  return status;
}

static hearth_status listing_text_print_listing(hearth_listing *r, hearth_error *err) {
  bool printed = r->options.lines == 0;
  r->detailed = r->options.groups;
  if (printed)
    HEARTH_TRY(print_whole_listing(r, err));
  while (!printed)
    HEARTH_TRY(print_attempt(r, &printed, err));
  return hearth_stream_flush(r->stream, err);
}

hearth_status hearth_listing_print_text(hearth_profile *profile, const char *name,
                                        const hearth_listing_options *options, FILE *stream, hearth_error *err) {
  hearth_listing r;
  hearth_status status = hearth_listing_init(&r, profile, name, options, stream, err);
  if (status == HEARTH_OK)
    status = listing_text_print_listing(&r, err);
  hearth_listing_destroy(&r);
  return status;
}
