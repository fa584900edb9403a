/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A summary, a table of functions, then functions with their contexts and stacks. Rows beyond the limits are summed in a last line. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "file.h"
#include "hearth/history.h"
#include "hearth/other_heaps.h"
#include "hearth/plan.h"
#include "hearth/touch_rate.h"
#include "listing_rows.h"
#include "live_bytes.h"
#include "print.h"

enum { MOST_LIBRARIES = 3 }; /* to name: programs with plug-ins load dozens */

static void print_binary(const hearth_listing *r, const hearth_binary_text *binary) {
  fputs(binary->is_library ? "  library    " : "  binary     ", r->stream);
  hearth_print_name(*binary->name ? binary->name : "(no name)", 0, r->stream);
  fprintf(r->stream, *binary->build_id ? ", build id %s\n" : ", no build id%s\n", binary->build_id);
}

/* Programs first, since it is them that the profile is of; all libraries only with --full. */
static hearth_status listing_text_print_binaries(const hearth_listing *r, hearth_error *err) {
  uint32_t count = hearth_profile_binary_count(r->profile), libraries = 0;
  hearth_binary_text binary;
  for (uint32_t i = 0; i < count; i++) {
    HEARTH_TRY(hearth_binary_text_get(r->profile, i, &binary, err));
    if (binary.is_library)
      libraries++;
    else
      print_binary(r, &binary);
  }
  if (libraries > MOST_LIBRARIES && r->options.groups != SIZE_MAX) {
    fprintf(r->stream, "  libraries  %" PRIu32 " (--full prints them)\n", libraries);
    return HEARTH_OK;
  }
  for (uint32_t i = 0; i < count; i++) {
    HEARTH_TRY(hearth_binary_text_get(r->profile, i, &binary, err));
    if (binary.is_library)
      print_binary(r, &binary);
  }
  return HEARTH_OK;
}

enum { HISTORY_PARTS = 64, POINTS_OF_PART = HEARTH_RAW_POINTS / HISTORY_PARTS };

static void print_tenths(const char *label, const uint64_t parts[HISTORY_PARTS], uint64_t most, FILE *out) {
  fprintf(out, "\n  %-11s", label);
  for (unsigned i = 0; i < HISTORY_PARTS; i++)
    fputc('0' + (int)(9.99 * (double)parts[i] / (double)most), out);
}

/* The most and the least of each part of the run, in tenths of the most of all. */
static void listing_print_history(const hearth_listing *r, const hearth_heap_history *history) {
  uint64_t most = 1, most_of[HISTORY_PARTS] = {0}, least_of[HISTORY_PARTS];
  memset(least_of, 0xff, sizeof least_of);
  for (unsigned i = 0; i < HEARTH_RAW_POINTS; i++) {
    unsigned part = i / POINTS_OF_PART;
    most_of[part] = hearth_merge_MAX(most_of[part], history->levels[i]);
    least_of[part] = history->levels[i] < least_of[part] ? history->levels[i] : least_of[part];
    most = hearth_merge_MAX(most, history->levels[i]);
  }
  double run_ns = (double)r->summary.duration_ns / (double)(r->summary.runs ? r->summary.runs : 1);
  fprintf(r->stream, ", %s from the start%s",
          hearth_amount_time(run_ns * (double)history->peak_ppm / (double)history->runs / 1e6).c,
          history->runs > 1 ? " on average" : "");
  print_tenths("over time", most_of, most, r->stream);
  fputs(" (most and", r->stream);
  print_tenths("", least_of, most, r->stream);
  fprintf(r->stream, " least of each %s, in tenths)", hearth_amount_time(run_ns / HISTORY_PARTS).c);
}

static void listing_print_command(const hearth_listing *r, const char *command) {
  enum { MOST_BYTES = 96 };
  char start[MOST_BYTES + 1];
  bool is_cut = r->options.lines > 0 && strlen(command) > MOST_BYTES;
  if (is_cut)
    snprintf(start, sizeof start, "%.*s", MOST_BYTES, command);
  hearth_print_name(is_cut ? start : command, 0, r->stream);
  fputs(is_cut ? "... (--full prints it whole)\n" : "\n", r->stream);
}

/* Peak, history and command of the run, or of the merged runs. */
static hearth_status listing_text_print_run_facts(const hearth_listing *r, hearth_error *err) {
  const hearth_run_facts *facts = &r->facts;
  hearth_heap_history history;
  HEARTH_TRY(hearth_profile_get_history(r->profile, &history, err));
  if (facts->peak_bytes > 0) {
    fprintf(r->stream, "  peak       %s live%s", hearth_amount_bytes(facts->peak_bytes).c,
            r->summary.runs > 1 ? " in one of the runs" : "");
    if (history.runs > 0)
      listing_print_history(r, &history);
    fputc('\n', r->stream);
  }
  hearth_heap_history_free(&history);
  if (*facts->command || facts->commands_differ) {
    fputs("  command    ", r->stream);
    listing_print_command(r, facts->commands_differ ? "the runs had several" : facts->command);
  }
  return HEARTH_OK;
}

static double listing_text_percent(uint64_t part, uint64_t whole) {
  return 100 * hearth_ratio((double)part, (double)whole);
}

/* Once, though a program and its library may both say so. */
static hearth_status print_other_heap(const hearth_listing *r, hearth_error *err) {
  const char *text = NULL;
  for (uint32_t i = 0; !text && i < hearth_profile_binary_count(r->profile); i++) {
    hearth_binary_text binary;
    HEARTH_TRY(hearth_binary_text_get(r->profile, i, &binary, err));
    text = hearth_other_heap(binary.name, strlen(binary.name));
  }
  if (text)
    fprintf(r->stream, "  not in it  %s\n", text);
  return HEARTH_OK;
}

static hearth_status listing_text_print_header(const hearth_listing *r, hearth_error *err) {
  const hearth_profile_summary *s = &r->summary;
  FILE *out = r->stream;
  fprintf(out, "%s: heap profile of %" PRIu64 " run%s, %s on average%s\n", r->name, s->runs, hearth_plural(s->runs),
          hearth_amount_time(hearth_ratio((double)s->duration_ns, (double)s->runs)).c,
          s->id_scheme == HEARTH_IDS_LLVM ? ", LLVM's function ids" : "");
  HEARTH_TRY(listing_text_print_binaries(r, err));
  fprintf(out, "  allocated  %s (%" PRIu64 " bytes) by %" PRIu64 " allocation%s", hearth_amount_bytes(s->total_bytes).c,
          s->total_bytes, s->total_allocs, hearth_plural(s->total_allocs));
  if (hearth_listing_knows(r, HEARTH_COL_TotalLifetime))
    fprintf(out, " (%" PRIu64 " short-lived, %.1f%%)", r->all.short_lived,
            listing_text_percent(r->all.short_lived, r->all.allocs));
  fputc('\n', out);
  if (hearth_listing_knows(r, HEARTH_COL_LiveAtExit))
    fprintf(out, "  at exit    %s%s live\n", r->live_estimated ? "about " : "", hearth_amount_bytes(r->all.live).c);
  HEARTH_TRY(listing_text_print_run_facts(r, err));
  if (s->accesses_counted)
    fprintf(out, "  accesses   %s%" PRIu64 " loads and stores%s\n", s->accesses_estimated ? "some " : "",
            s->total_accesses, s->accesses_estimated ? ", estimated from looks at pages" : "");
  else if (s->densities_only)
    fprintf(out, "  accesses   not counted in every run, but their density is known: LLVM's thresholds classify\n");
  else
    fprintf(out,
            "  accesses   not counted in every run: nothing can be called hot or cold\n"
            "  contexts   %" PRIu64 "\n",
            r->all.contexts);
  if (hearth_listing_knows_untouched(r))
    fprintf(out, "  untouched  about %s (%.1f%%) in parts of 64 bytes without a counted access\n",
            hearth_amount_bytes(r->all.untouched).c, listing_text_percent(r->all.untouched, r->all.bytes));
  fprintf(out,
          "  dropped    %" PRIu64 " allocation%s without a record, %" PRIu64 " address%s of code that is not known\n",
          s->dropped_blocks, hearth_plural(s->dropped_blocks), s->dropped_frames, s->dropped_frames == 1 ? "" : "es");
  return print_other_heap(r, err);
}

static void print_thresholds(const hearth_listing *r) {
  const hearth_classifier *c = &r->selection.classifier;
  bool llvm = c->mode == HEARTH_CLASSIFY_LLVM;
  hearth_amount_text time = hearth_amount_time(c->cold_min_lifetime_ns);
  fprintf(r->stream, "\nClasses (--classify=%s), densities in accesses per byte and second of life:\n",
          hearth_classify_mode_name(c->mode));
  if (llvm)
    fprintf(r->stream, "  cold       density less than %.4g, with an average lifetime of at least %s\n",
            c->cold_max_density, time.c);
  else
    fprintf(r->stream,
            "  cold       a page of such blocks is left alone for %s, and for the last half of longer lives\n", time.c);
  if (isinf(c->hot_min_density))
    fputs("  hot        none: no access was counted\n", r->stream);
  else
    fprintf(r->stream, "  hot        density %s %.4g\n", llvm ? "more than" : "at least", c->hot_min_density);
  if (r->classes[HEARTH_CLASS_UNKNOWN].contexts > 0)
    fprintf(
        r->stream,
        "  unknown    less than %u millionths of all bytes and accesses for an allocation call, or one block with less "
        "than %u%s\n",
        HEARTH_LEAST_WEIGHT_PPM, HEARTH_LEAST_WEIGHT_OF_ONE_PPM, llvm ? "" : "; or accessed by code without counters");
}

static void print_class(const hearth_listing *r, hearth_class class) {
  const hearth_listing_totals *t = &r->classes[class];
  fprintf(r->stream, "  %-8s %10" PRIu64 " %14" PRIu64 " %12s (%5.1f%%)", hearth_class_name(class), t->contexts,
          t->allocs, hearth_amount_bytes(t->bytes).c, listing_text_percent(t->bytes, r->all.bytes));
  if (r->summary.accesses_counted)
    fprintf(r->stream, " %13" PRIu64 " (%5.1f%%)", t->accesses, listing_text_percent(t->accesses, r->all.accesses));
  fputc('\n', r->stream);
}

/* Allocations that no compiled call can give a hint to. */
static void print_libraries(const hearth_listing *r) {
  if (r->all.library_bytes == 0)
    return;
  for (hearth_class c = HEARTH_CLASS_COLD; c <= HEARTH_CLASS_HOT; c += HEARTH_CLASS_HOT - HEARTH_CLASS_COLD) {
    const hearth_listing_totals *t = &r->classes[c];
    fprintf(r->stream, "  %s: %s at calls that take hints, %s in libraries\n", hearth_class_name(c),
            hearth_amount_bytes(t->bytes - t->library_bytes).c, hearth_amount_bytes(t->library_bytes).c);
  }
  fprintf(r->stream, "  libraries: %s of %s, which no hint reaches\n", hearth_amount_bytes(r->all.library_bytes).c,
          hearth_amount_bytes(r->all.bytes).c);
}

/* What cold memory is worth: how much could leave, and how often it would soon have to come back. */
static void print_idle(const hearth_listing *r) {
  const hearth_listing_totals *cold = &r->classes[HEARTH_CLASS_COLD];
  double seconds = (double)r->summary.duration_ns / 1e9;
  uint64_t watched = cold->used_page_bytes + cold->idle_page_bytes;
  if (cold->contexts == 0 || seconds <= 0)
    return;
  fprintf(r->stream, "  cold memory is %s on average; ",
          hearth_amount_bytes((uint64_t)((double)cold->byte_seconds / seconds)).c);
  if (watched > 0)
    fprintf(r->stream, "a page of it was left alone at %.1f%% of the moments that were watched\n",
            listing_text_percent(cold->idle_page_bytes, watched));
  else
    fprintf(r->stream, "when it was used is not known\n");
}

static void print_uncertain(const hearth_listing *r) {
  const hearth_listing_totals *all = &r->uncertain, *cold = &r->cold_or_not;
  if (hearth_profile_has_variances(r->profile))
    fprintf(r->stream,
            "  uncertain: %" PRIu64 " with %s (%.1f%%), by the differences between runs; cold or not: %" PRIu64
            " with %s (%.1f%%), which plans do not take for cold\n",
            all->contexts, hearth_amount_bytes(all->bytes).c, listing_text_percent(all->bytes, r->all.bytes),
            cold->contexts, hearth_amount_bytes(cold->bytes).c, listing_text_percent(cold->bytes, r->all.bytes));
}

static void listing_text_print_classes(const hearth_listing *r) {
  if (!hearth_accesses_known(&r->summary))
    return;
  print_thresholds(r);
  fprintf(r->stream, "\n  %-8s %10s %14s %22s", "class", "contexts", "allocations", "bytes");
  if (r->summary.accesses_counted)
    fprintf(r->stream, " %22s", "accesses");
  fputc('\n', r->stream);
  for (hearth_class c = HEARTH_CLASS_COLD; c < HEARTH_LISTING_CLASSES; c++)
    print_class(r, c);
  if (r->classes[HEARTH_CLASS_UNKNOWN].contexts > 0)
    print_class(r, HEARTH_CLASS_UNKNOWN);
  print_idle(r);
  print_uncertain(r);
}

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

static hearth_status listing_text_print_histogram(hearth_listing *r, uint32_t context, uint64_t total_accesses,
                                                  hearth_error *err) {
  hearth_histogram histogram;
  HEARTH_TRY(hearth_profile_get_histogram(r->profile, context, &histogram, err));
  hearth_print_histogram(&histogram, total_accesses, r->stream);
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

/* Not every layout of profiles has all fields. */
static void print_use(const hearth_listing *r, const hearth_mib *m) {
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
  if (hearth_classify(&r->selection.classifier, m) == HEARTH_CLASS_UNKNOWN)
    fputs("   accessed by code without counters: its pages are in use while its counters rest\n", r->stream);
}

/* "cold, may be notcold: ". */
static void print_possible(const hearth_listing *r, const hearth_listing_row *row) {
  const char *separator = ", may be ";
  fputs(hearth_class_name(row->hotness), r->stream);
  for (hearth_class c = HEARTH_CLASS_COLD; c < HEARTH_LISTING_CLASSES; c++)
    if (c != row->hotness && row->possible >> c & 1) {
      fprintf(r->stream, "%s%s", separator, hearth_class_name(c));
      separator = " or ";
    }
  fputs(": ", r->stream);
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
    print_possible(r, row);
  fprintf(r->stream, "%" PRIu64 " allocation%s, %s (%" PRIu64 " bytes), %.1f bytes on average\n", m.AllocCount,
          hearth_plural(m.AllocCount), hearth_amount_bytes(m.TotalSize).c, m.TotalSize,
          hearth_ratio((double)m.TotalSize, allocs));
  print_use(r, &m);
  HEARTH_TRY(listing_text_print_variance(r, row->context, err));
  HEARTH_TRY(listing_text_print_type(r, m.DataTypeId, err));
  HEARTH_TRY(hearth_print_stack(r->profile, &r->names, node, r->stream, err));
  return r->options.histograms ? listing_text_print_histogram(r, row->context, m.TotalAccessCount, err) : HEARTH_OK;
}

static void print_unlisted(const hearth_listing *r, const char *indent, size_t n, const char *what,
                           const hearth_listing_totals *sum) {
  fprintf(r->stream, "\n%s... and %zu more %s%s with %s (%.1f%%) in %" PRIu64 " allocation%s (%s)\n", indent, n, what,
          hearth_plural(n), hearth_amount_bytes(sum->bytes).c, listing_text_percent(sum->bytes, r->all.bytes),
          sum->allocs, hearth_plural(sum->allocs),
          !r->options.lines ? "--full prints all"
          : *indent         ? "--contexts=N prints more"
                            : "--top=N prints more");
}

/* -------------------------------------------------- table -------------------------------------------------- */

static void print_value(const hearth_listing *r, const hearth_listing_totals *sum) {
  fprintf(r->stream, " %12s %5.1f%%", hearth_amount_of(hearth_listing_quantity(&r->options), sum->sorted).c,
          listing_text_percent(sum->sorted, r->all.sorted));
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
    fprintf(r->stream, " %8.0f%%", listing_text_percent(sum->untouched, sum->bytes));
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
  if (bytes > 0 && listing_text_percent(bytes, r->shown.bytes) >= LEAST_NAMELESS)
    fprintf(r->stream,
            "  functions without names, FILE+0xBEGIN, have %.1f%% of the bytes: 'hearth index' names them by debug "
            "packages\n"
            "  (PACKAGE-dbgsym; of libraries with --debug-dir=/usr/lib/debug) or debuginfod servers (DEBUGINFOD_URLS). "
            "If one\n"
            "  passes allocations on for its callers: --wrapper=FILE+0xBEGIN\n",
            listing_text_percent(bytes, r->shown.bytes));
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

/* Who calls a function for what it allocates. */
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
    fprintf(r->stream, " %.1f%%", listing_text_percent(most->flat.sorted, owner->flat.sorted));
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
  HEARTH_TRY(listing_text_print_header(r, err));
  listing_text_print_classes(r);
  if (hearth_accesses_known(&r->summary))
    print_libraries(r);
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
