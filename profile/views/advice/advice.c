/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Contexts are summed by place, places tested for each kind that there is data for, findings sorted by their shares. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "file.h"
#include "findings.h"
#include "hearth/status.h"
#include "numbers.h"
#include "object_file.h"
#include "print.h"

/* Functions of the standard libraries that make the memory of a container larger. */
static const char *const growth[] = {"std::*::_M_realloc_insert",
                                     "std::*::_M_realloc_append",
                                     "std::*::_M_default_append",
                                     "std::*::_M_fill_insert",
                                     "std::*::_M_range_insert",
                                     "std::*::_M_reallocate_map",
                                     "std::*::_M_rehash*",
                                     "std::string::_M_mutate",
                                     "std::*::__push_back_slow_path*",
                                     "std::*::__emplace_back_slow_path*",
                                     "std::*::__grow_by*",
                                     "std::*::__append"};

enum { KIND_OTHER = 1, KIND_WRAPPER = 2, KIND_GROWS = 3 }; /* 0: not asked for yet */

static hearth_status find_kind(hearth_advice *a, uint32_t row, unsigned char *ret, hearth_error *err) {
  hearth_function_info function;
  hearth_role role;
  HEARTH_TRY(hearth_names_role(&a->names, row, &role, err));
  *ret = role == HEARTH_ROLE_OWNER ? KIND_OTHER : KIND_WRAPPER;
  if (role == HEARTH_ROLE_OWNER)
    return HEARTH_OK;
  HEARTH_TRY(hearth_profile_get_function(a->profile, row, &function, err));
  char *name = hearth_name_make(function.name, HEARTH_NAMES_SHORT);
  if (!name)
    return hearth_error_nomem(err);
  for (size_t i = 0; i < sizeof growth / sizeof *growth; i++)
    if (fnmatch(growth[i], name, 0) == 0)
      *ret = KIND_GROWS;
  free(name);
  return HEARTH_OK;
}

/* Does a container grow, between the leaf and the owner? */
static hearth_status is_growth(hearth_advice *a, uint32_t node, bool *ret, hearth_error *err) {
  *ret = false;
  while (node != HEARTH_NONE) {
    hearth_frame_info info;
    uint32_t frame;
    HEARTH_TRY(hearth_profile_get_stack(a->profile, node, &frame, &node, err));
    HEARTH_TRY(hearth_profile_get_frame(a->profile, frame, &info, err));
    unsigned char *kind = &a->function_kinds[info.function];
    if (!*kind)
      HEARTH_TRY(find_kind(a, info.function, kind, err));
    *ret = *kind == KIND_GROWS;
    if (*kind != KIND_WRAPPER)
      return HEARTH_OK;
  }
  return HEARTH_OK;
}

static hearth_status add_histogram(hearth_advice *a, hearth_place_sum *place, uint32_t context, hearth_error *err) {
  hearth_histogram histogram;
  if (a->has[HEARTH_ADVICE_TRACE]) /* it is of another thing: advice.h */
    return HEARTH_OK;
  HEARTH_TRY(hearth_profile_get_histogram(a->profile, context, &histogram, err));
  size_t size = (size_t)histogram.size;
  a->has[HEARTH_ADVICE_HISTOGRAM] |= size > 0;
  HEARTH_TRY(
      hearth_rows_extend(&place->counts, &place->count_room, &place->count_count, size, sizeof *place->counts, err));
  for (size_t i = 0; i < size; i++)
    place->counts[i] = hearth_merge_SUM(place->counts[i], histogram.counts[i]);
  return HEARTH_OK;
}

/* The groups of frames on the way to the root get places, too: they stay empty. */
static hearth_status reserve_places(hearth_advice *a, hearth_error *err) {
  size_t more = a->groups.count - a->place_count;
  if (more > 0 && !hearth_array_reserve(&a->places, &a->place_room, a->place_count, more, sizeof *a->places))
    return hearth_error_nomem(err);
  while (a->place_count < a->groups.count)
    a->places[a->place_count++] = (hearth_place_sum){0};
  return HEARTH_OK;
}

static void add_brief(hearth_place_sum *place, const hearth_mib *mib, uint32_t context) {
  hearth_mib_merge(&place->brief, mib);
  if (mib->AllocCount <= place->brief_context_allocs)
    return;
  place->brief_context = context;
  place->brief_context_allocs = mib->AllocCount;
}

static hearth_status advice_add_context(hearth_advice *a, uint32_t context, hearth_error *err) {
  const hearth_listing_totals none = {0};
  hearth_selected s;
  uint32_t group;
  bool grows;
  HEARTH_TRY(hearth_selection_get(&a->selection, context, &s, err));
  if (!s.wanted)
    return HEARTH_OK;
  HEARTH_TRY(hearth_groups_add(&a->groups, &s, &none, &group, err));
  HEARTH_TRY(reserve_places(a, err));
  HEARTH_TRY(is_growth(a, s.node, &grows, err));
  hearth_place_sum *place = &a->places[group];
  uint64_t byte_seconds = hearth_quantity_of(HEARTH_QUANTITY_BYTE_SECONDS, &s.mib);
  if (place->mib.AllocCount == 0 || s.mib.TotalSize > place->context_bytes) {
    place->context = context;
    place->context_bytes = s.mib.TotalSize;
  }
  hearth_fill_live_bytes(&s.mib);
  hearth_mib_merge(&place->mib, &s.mib);
  a->knows_use = a->knows_use || s.mib.TotalPercentUtilized > 0;
  a->knows_accesses = a->knows_accesses || s.mib.TotalAccessCount > 0;
  if (s.short_lived)
    add_brief(place, &s.mib, context);
  place->byte_seconds = hearth_merge_SUM(place->byte_seconds, byte_seconds);
  place->grown_allocs += grows ? s.mib.AllocCount : 0;
  place->library_allocs += s.in_library ? s.mib.AllocCount : 0;
  a->whole.byte_seconds = hearth_merge_SUM(a->whole.byte_seconds, byte_seconds);
  a->whole.bytes = hearth_merge_SUM(a->whole.bytes, s.mib.TotalSize);
  a->has[HEARTH_ADVICE_LOOKS] |= s.mib.Looks > 0;
  a->whole.picks = hearth_merge_SUM(a->whole.picks, s.mib.Picks);
  a->whole.allocs = hearth_merge_SUM(a->whole.allocs, s.mib.AllocCount);
  return add_histogram(a, place, context, err);
}

static hearth_status add_findings(hearth_advice *a, uint32_t group, hearth_error *err) {
  for (hearth_advice_kind kind = 0; kind < HEARTH_ADVICE_KINDS; kind++) {
    hearth_finding finding = {.kind = kind, .group = group};
    if (!a->has[hearth_advice_needs(kind)] || !hearth_advice_test(&a->whole, &a->places[group], kind, &finding))
      continue;
    if (!hearth_array_grow(&a->findings, &a->finding_room, a->finding_count, sizeof finding))
      return hearth_error_nomem(err);
    a->findings[a->finding_count++] = finding;
  }
  return HEARTH_OK;
}

static int advice_compare(const void *x, const void *y) {
  const hearth_finding *a = x, *b = y;
  if (a->share != b->share)
    return a->share > b->share ? -1 : 1;
  if (a->kind != b->kind)
    return a->kind < b->kind ? -1 : 1;
  return (a->group > b->group) - (a->group < b->group);
}

static hearth_status look(hearth_advice *a, hearth_error *err) {
  HEARTH_TRY(hearth_profile_get_summary(a->profile, &a->summary, err));
  a->whole.runs = a->summary.runs ? (double)a->summary.runs : 1;
  a->whole.duration_ns = (double)a->summary.duration_ns / a->whole.runs;
  a->has[HEARTH_ADVICE_ANY] = true;
  a->has[HEARTH_ADVICE_ACCESSES] = a->summary.accesses_counted && !a->summary.accesses_estimated;
  HEARTH_TRY(hearth_names_init(&a->names, a->profile, &a->view, err));
  HEARTH_TRY(hearth_selection_init(&a->selection, a->profile, &a->view, err));
  HEARTH_TRY(hearth_groups_init(&a->groups, &a->names, HEARTH_BY_SITE, err));
  HEARTH_TRY(hearth_array_create(&a->function_kinds, hearth_profile_function_count(a->profile),
                                 sizeof *a->function_kinds, err));
  for (uint32_t i = 0; i < hearth_profile_context_count(a->profile); i++)
    HEARTH_TRY(advice_add_context(a, i, err));
  if (a->knows_accesses && !a->knows_use) /* as in profiles of LLVM's layout */
    a->has[HEARTH_ADVICE_ACCESSES] = false;
  a->has[HEARTH_ADVICE_LOOKS] &= a->has[HEARTH_ADVICE_ACCESSES];
  a->has[HEARTH_ADVICE_PICKS] = a->has[HEARTH_ADVICE_ACCESSES] && a->whole.picks >= HEARTH_ADVICE_LEAST_PICKS;
  for (uint32_t i = 0; i < a->groups.count; i++)
    hearth_advice_note_end(&a->whole, &a->places[i]);
  for (uint32_t i = 0; i < a->groups.count; i++)
    HEARTH_TRY(add_findings(a, i, err));
  if (a->finding_count > 0)
    qsort(a->findings, a->finding_count, sizeof *a->findings, advice_compare);
  return HEARTH_OK;
}

hearth_status hearth_advice_create(hearth_profile *profile, const hearth_view_options *options, bool tallied,
                                   hearth_advice **ret, hearth_error *err) {
  hearth_advice *a = calloc(1, sizeof *a);
  *ret = NULL;
  if (!a)
    return hearth_error_nomem(err);
  a->profile = profile;
  a->has[HEARTH_ADVICE_TRACE] = a->whole.tallied = tallied;
  hearth_status status = hearth_options_take(&a->view, sizeof a->view, options, err);
  HEARTH_THEN(status, look(a, err));
  if (status == HEARTH_OK)
    *ret = a;
  else
    hearth_advice_destroy(a);
  return status;
}

void hearth_advice_destroy(hearth_advice *a) {
  if (!a)
    return;
  for (size_t i = 0; i < a->place_count; i++) /* after an error there may be groups without a place */
    free(a->places[i].counts);
  HEARTH_FREE(a->places, a->function_kinds, a->findings);
  hearth_groups_destroy(&a->groups);
  hearth_selection_destroy(&a->selection);
  if (a->names.profile)
    hearth_names_destroy(&a->names);
  free(a);
}

size_t hearth_advice_finding_count(const hearth_advice *a) { return a->finding_count; }

static uint32_t context_of_finding(const hearth_advice *a, const hearth_finding *f) {
  const hearth_place_sum *place = &a->places[f->group];
  return f->kind == HEARTH_ADVICE_BRIEF ? place->brief_context : place->context;
}

static double context_share(const hearth_advice *a, const hearth_finding *f) {
  const hearth_place_sum *place = &a->places[f->group];
  return f->kind == HEARTH_ADVICE_BRIEF
             ? hearth_ratio((double)place->brief_context_allocs, (double)place->brief.AllocCount)
             : hearth_ratio((double)place->context_bytes, (double)place->mib.TotalSize);
}

uint32_t hearth_advice_finding_context(const hearth_advice *a, size_t number) {
  return context_of_finding(a, &a->findings[number]);
}

/* -------------------------------------------------- output -------------------------------------------------- */

/* A paragraph for each finding, and the kinds that were not looked for. */

static hearth_status print_type(hearth_advice *a, const hearth_finding *f, FILE *out, hearth_error *err) {
  const char *type;
  HEARTH_TRY(hearth_profile_type_name(a->profile, a->places[f->group].mib.DataTypeId, &type, err));
  if (f->kind != HEARTH_ADVICE_FIELDS || !*type)
    return HEARTH_OK;
  fputs("   of type ", out);
  hearth_print_name(type, 0, out);
  fputc('\n', out);
  return HEARTH_OK;
}

static hearth_status print_finding(hearth_advice *a, size_t number, FILE *out, hearth_error *err) {
  static const char *const wholes[] = {"memory by time", "allocations", "allocated bytes"};
  const hearth_finding *f = &a->findings[number];
  uint32_t node;
  HEARTH_TRY(hearth_profile_get_context(a->profile, context_of_finding(a, f), &node, NULL, err));
  fprintf(out, "\n%zu. %s (%s): up to %.1f%% of all %s\n   ", number + 1, hearth_advice_title(f->kind),
          hearth_advice_kind_name(f->kind), 100 * f->share, wholes[f->saving]);
  hearth_print_name(a->groups.items[f->group].name, 0, out);
  fprintf(out, "\n   %s\n", f->evidence);
  HEARTH_TRY(print_type(a, f, out, err));
  fprintf(out, "   remedy: %s\n   its heaviest context, %.0f%%:\n", hearth_advice_remedy(f->kind),
          100 * context_share(a, f));
  return hearth_print_stack(a->profile, &a->names, node, out, err);
}

static void print_missing(const hearth_advice *a, FILE *out) {
  static const char *const sources[] = {"",
                                        "a program compiled for profiling, that counts all accesses",
                                        "the same for some seconds, with 4 MiB of heap or more",
                                        "the same for some seconds, with 4 MiB of heap or more",
                                        "the same in histogram mode",
                                        "a trace ('hearth record --mode=trace')"};
  for (hearth_advice_data data = HEARTH_ADVICE_ACCESSES; data <= HEARTH_ADVICE_TRACE; data++) {
    const char *separator = "";
    if (a->has[data])
      continue;
    fputs("not looked for: ", out);
    for (hearth_advice_kind kind = 0; kind < HEARTH_ADVICE_KINDS; kind++)
      if (hearth_advice_needs(kind) == data) {
        fprintf(out, "%s%s", separator, hearth_advice_kind_name(kind));
        separator = ", ";
      }
    fprintf(out, " (needs %s)\n", sources[data]);
  }
}

hearth_status hearth_advice_print_text(hearth_advice *a, const char *name, size_t top, const char *binary, FILE *out,
                                       hearth_error *err) {
  hearth_print_name(name, 0, out);
  fprintf(out, ": %zu finding%s\n", a->finding_count, hearth_plural(a->finding_count));
  for (size_t i = 0; i < a->finding_count && i < top; i++)
    HEARTH_TRY(print_finding(a, i, out, err));
  if (a->finding_count > top)
    fprintf(out, "\n... and %zu more (--full prints all)\n", a->finding_count - top);
  fputc('\n', out);
  print_missing(a, out);
  return hearth_global_advice_print_text(a->profile, name, binary, out, err);
}

void hearth_advice_write_finding(const hearth_advice *a, size_t number, hearth_json *json) {
  static const char *const savings[] = {"memory", "allocations", "bytes"};
  const hearth_finding *f = &a->findings[number];
  hearth_json_print(json, "kind:%s, title:%s, saves:%s, share:%f, place:%s, evidence:%s, remedy:%s",
                    hearth_advice_kind_name(f->kind), hearth_advice_title(f->kind), savings[f->saving], f->share,
                    a->groups.items[f->group].name, f->evidence, hearth_advice_remedy(f->kind));
}

void hearth_advice_write_missing(const hearth_advice *a, hearth_json *json) {
  hearth_json_key_array(json, "not_looked_for");
  for (hearth_advice_kind kind = 0; kind < HEARTH_ADVICE_KINDS; kind++)
    if (!a->has[hearth_advice_needs(kind)])
      hearth_json_string(json, hearth_advice_kind_name(kind));
  hearth_json_close(json, ']');
}
