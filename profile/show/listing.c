/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Contexts are collected in one pass, sorted by function and key, and grouped; groups are sorted in the end. What is
 * said of all of them comes first: facts of the runs, and the classes with their thresholds. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/profile.h"
#include "hearth/running_program.h"
#include "hearth/status.h"
#include "listing_rows.h"
#include "print.h"
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

/* -------------------------------------------------- summary -------------------------------------------------- */

enum { MOST_LIBRARIES = 3 }; /* to name: programs with plug-ins load dozens */

static void print_binary(const hearth_listing *r, const hearth_binary_text *binary) {
  fputs(binary->is_library ? "  library    " : "  binary     ", r->stream);
  hearth_print_name(*binary->name ? binary->name : "(no name)", 0, r->stream);
  fprintf(r->stream, *binary->build_id ? ", build id %s\n" : ", no build id%s\n", binary->build_id);
}

/* Programs first, since it is them that the profile is of; all libraries only with --full. */
static hearth_status summary_print_binaries(const hearth_listing *r, hearth_error *err) {
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
static void summary_print_history(const hearth_listing *r, const hearth_heap_history *history) {
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
          hearth_amount_time((double)hearth_history_peak_ns(history, &r->summary)).c,
          history->runs > 1 ? " on average" : "");
  print_tenths("over time", most_of, most, r->stream);
  fputs(" (most and", r->stream);
  print_tenths("", least_of, most, r->stream);
  fprintf(r->stream, " least of each %s, in tenths)", hearth_amount_time(run_ns / HISTORY_PARTS).c);
}

static void summary_print_command(const hearth_listing *r, const char *command) {
  enum { MOST_BYTES = 96 };
  char start[MOST_BYTES + 1];
  bool is_cut = r->options.lines > 0 && strlen(command) > MOST_BYTES;
  if (is_cut)
    snprintf(start, sizeof start, "%.*s", MOST_BYTES, command);
  hearth_print_name(is_cut ? start : command, 0, r->stream);
  fputs(is_cut ? "... (--full prints it whole)\n" : "\n", r->stream);
}

/* Peak, history and command of the run, or of the merged runs. */
static hearth_status summary_print_run_facts(const hearth_listing *r, hearth_error *err) {
  const hearth_run_facts *facts = &r->facts;
  hearth_heap_history history;
  HEARTH_TRY(hearth_profile_get_history(r->profile, &history, err));
  if (facts->peak_bytes > 0) {
    fprintf(r->stream, "  peak       %s live%s", hearth_amount_bytes(facts->peak_bytes).c,
            r->summary.runs > 1 ? " in one of the runs" : "");
    if (history.runs > 0)
      summary_print_history(r, &history);
    fputc('\n', r->stream);
  }
  hearth_heap_history_free(&history);
  if (*facts->command || facts->commands_differ) {
    fputs("  command    ", r->stream);
    summary_print_command(r, facts->commands_differ ? "the runs had several" : facts->command);
  }
  return HEARTH_OK;
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

static hearth_status summary_print_header(const hearth_listing *r, hearth_error *err) {
  const hearth_profile_summary *s = &r->summary;
  FILE *out = r->stream;
  fprintf(out, "%s: heap profile of %" PRIu64 " run%s, %s on average%s\n", r->name, s->runs, hearth_plural(s->runs),
          hearth_amount_time(hearth_ratio((double)s->duration_ns, (double)s->runs)).c,
          s->id_scheme == HEARTH_IDS_LLVM ? ", LLVM's function ids" : "");
  HEARTH_TRY(summary_print_binaries(r, err));
  fprintf(out, "  allocated  %s (%" PRIu64 " bytes) by %" PRIu64 " allocation%s", hearth_amount_bytes(s->total_bytes).c,
          s->total_bytes, s->total_allocs, hearth_plural(s->total_allocs));
  if (hearth_listing_knows(r, HEARTH_COL_TotalLifetime))
    fprintf(out, " (%" PRIu64 " short-lived, %.1f%%)", r->all.short_lived,
            hearth_percent(r->all.short_lived, r->all.allocs));
  fputc('\n', out);
  if (hearth_listing_knows(r, HEARTH_COL_LiveAtExit))
    fprintf(out, "  at exit    %s%s live\n", r->live_estimated ? "about " : "", hearth_amount_bytes(r->all.live).c);
  HEARTH_TRY(summary_print_run_facts(r, err));
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
            hearth_amount_bytes(r->all.untouched).c, hearth_percent(r->all.untouched, r->all.bytes));
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
          t->allocs, hearth_amount_bytes(t->bytes).c, hearth_percent(t->bytes, r->all.bytes));
  if (r->summary.accesses_counted)
    fprintf(r->stream, " %13" PRIu64 " (%5.1f%%)", t->accesses, hearth_percent(t->accesses, r->all.accesses));
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

/* The worth of cold memory: how much could leave, and how often it would soon have to come back. */
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
            hearth_percent(cold->idle_page_bytes, watched));
  else
    fprintf(r->stream, "when it was used is not known\n");
}

static void print_uncertain(const hearth_listing *r) {
  if (hearth_profile_has_variances(r->profile))
    fprintf(r->stream,
            "  uncertain: %" PRIu64 " with %s (%.1f%%), cold or not by the differences between runs: plans do not take "
            "them for cold\n",
            r->uncertain.contexts, hearth_amount_bytes(r->uncertain.bytes).c,
            hearth_percent(r->uncertain.bytes, r->all.bytes));
}

static void summary_print_classes(const hearth_listing *r) {
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

hearth_status hearth_listing_print_summary(const hearth_listing *r, hearth_error *err) {
  HEARTH_TRY(summary_print_header(r, err));
  summary_print_classes(r);
  if (hearth_accesses_known(&r->summary))
    print_libraries(r);
  return HEARTH_OK;
}
