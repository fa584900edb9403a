/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* docs/tools.md, "hearth show --json", describes the shape: change both in one commit. */
#include <stdlib.h>

#include "file.h"
#include "hearth/classify.h"
#include "hearth/status.h"
#include "listing_rows.h"
#include "print.h"

enum { JSON_VERSION = 2 };

typedef struct listing_json {
  hearth_listing listing;
  hearth_json json;
  hearth_json_frames table;
  hearth_frames stack;
} listing_json;

static void listing_json_print_totals(hearth_json *json, const char *name, const hearth_listing_totals *t) {
  hearth_json_key_object(json, name);
  HEARTH_JSON_MEMBERS(json, t, contexts, allocs, bytes, live, accesses);
  HEARTH_JSON_MEMBERS(json, t, library_bytes, byte_seconds, used_page_bytes, idle_page_bytes, short_lived);
  hearth_json_close(json, '}');
}

/* Not every layout of profiles has all fields. */
static void print_unrecorded(listing_json *p) {
  hearth_json *json = &p->json;
  hearth_json_key_array(json, "unrecorded");
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description)                                     \
  if (!hearth_listing_knows(&p->listing, HEARTH_COL_##Name))                                                           \
    hearth_json_string(json, #Name);
#include "hearth/mib_fields.def"
  hearth_json_close(json, ']');
}

/* Of several runs, averages. */
static hearth_status listing_json_print_history(listing_json *p, hearth_error *err) {
  hearth_heap_history history;
  HEARTH_TRY(hearth_profile_get_history(p->listing.profile, &history, err));
  if (history.runs > 0) {
    hearth_json_key_uint(&p->json, "peak_ns", hearth_history_peak_ns(&history, &p->listing.summary));
    hearth_json_key_array(&p->json, "live_over_time");
    for (size_t i = 0; i < HEARTH_RAW_POINTS; i++)
      hearth_json_uint(&p->json, history.levels[i] / history.runs);
    hearth_json_close(&p->json, ']');
  }
  hearth_heap_history_free(&history);
  return HEARTH_OK;
}

static hearth_status listing_json_print_summary(listing_json *p, hearth_error *err) {
  const hearth_profile_summary *s = &p->listing.summary;
  hearth_json *json = &p->json;
  hearth_json_print(json, "profile:%s, id_scheme:%s", p->listing.name,
                    s->id_scheme == HEARTH_IDS_LLVM ? "llvm" : "hearth");
  HEARTH_JSON_MEMBERS(json, s, runs, duration_ns);
  hearth_json_run_facts(json, &p->listing.facts);
  HEARTH_TRY(listing_json_print_history(p, err));
  HEARTH_JSON_MEMBERS(json, s, accesses_counted, accesses_estimated, densities_only, dropped_blocks, dropped_frames);
  print_unrecorded(p);
  return HEARTH_OK;
}

/* Limits that nothing reaches are null. */
static void listing_json_print_classes(listing_json *p) {
  const hearth_classifier *c = &p->listing.selection.classifier;
  hearth_json *json = &p->json;
  hearth_json_print(json, "\nclassify:{mode:%s", hearth_classify_mode_name(c->mode));
  if (c->cold_max_density < 0)
    hearth_json_key_null(json, "cold_max_density");
  else
    HEARTH_JSON_MEMBERS(json, c, cold_max_density);
  HEARTH_JSON_MEMBERS(json, c, cold_min_lifetime_ns, hot_min_density);
  hearth_json_print(json, "}, classes:{");
  for (hearth_class i = HEARTH_CLASS_COLD; i < HEARTH_LISTING_CLASSES; i++)
    listing_json_print_totals(json, hearth_class_name(i), &p->listing.classes[i]);
  listing_json_print_totals(json, hearth_class_name(HEARTH_CLASS_UNKNOWN), &p->listing.classes[HEARTH_CLASS_UNKNOWN]);
  hearth_json_close(json, '}');
  listing_json_print_totals(json, "uncertain", &p->listing.uncertain);
  listing_json_print_totals(json, "all", &p->listing.all);
  listing_json_print_totals(json, "selected", &p->listing.shown);
}

static void print_mib(hearth_json *json, const hearth_mib *mib) {
  hearth_json_key_object(json, "mib");
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description)                                     \
  hearth_json_key_uint(json, #Name, mib->Name);
#include "hearth/mib_fields.def"
  hearth_json_close(json, '}');
}

static hearth_status listing_json_print_type(listing_json *p, uint64_t id, hearth_error *err) {
  const char *name;
  HEARTH_TRY(hearth_profile_type_name(p->listing.profile, id, &name, err));
  if (*name)
    hearth_json_key_string(&p->json, "type", name);
  return HEARTH_OK;
}

static hearth_status listing_json_print_histogram(listing_json *p, uint32_t context, hearth_error *err) {
  hearth_histogram histogram;
  HEARTH_TRY(hearth_profile_get_histogram(p->listing.profile, context, &histogram, err));
  if (histogram.size == 0)
    return HEARTH_OK;
  hearth_json_key_array(&p->json, "histogram");
  for (uint64_t i = 0; i < histogram.size; i++)
    hearth_json_uint(&p->json, histogram.counts[i]);
  hearth_json_close(&p->json, ']');
  return HEARTH_OK;
}

/* Standard errors in doublings; 0: not enough runs to tell. */
static hearth_status listing_json_print_variance(listing_json *p, const hearth_listing_row *row, hearth_error *err) {
  hearth_json *json = &p->json;
  hearth_variance variance;
  HEARTH_TRY(hearth_profile_get_variance(p->listing.profile, row->context, &variance, err));
  if (variance.runs == 0)
    return HEARTH_OK;
  hearth_variance_errors errors = hearth_variance_get_errors(&variance);
  hearth_json_print(json, "uncertain:%d, variance:{runs:%lu, effective_runs:%f", row->is_uncertain, variance.runs,
                    errors.runs);
  HEARTH_JSON_MEMBERS(json, &errors, density, lifetime, bytes);
  hearth_json_close(json, '}');
  return HEARTH_OK;
}

static void print_touches(hearth_json *json, const hearth_mib *mib) {
  hearth_touch_rate rate = hearth_touch_rate_of(mib);
  if (rate.per_second < 0)
    return;
  hearth_json_key_object(json, "touches");
  HEARTH_JSON_MEMBERS(json, &rate, per_second, error);
  hearth_json_close(json, '}');
}

static hearth_status listing_json_print_context(listing_json *p, const hearth_listing_row *row, hearth_error *err) {
  hearth_json *json = &p->json;
  uint32_t node;
  hearth_mib mib;
  HEARTH_TRY(hearth_profile_get_context(p->listing.profile, row->context, &node, &mib, err));
  HEARTH_TRY(hearth_frames_read(&p->stack, p->listing.profile, node, err));
  hearth_json_print(json, "\n{class:%s", hearth_class_name(row->hotness));
  hearth_json_stack(&p->table, json, &p->stack);
  print_mib(json, &mib);
  print_touches(json, &mib);
  HEARTH_TRY(listing_json_print_variance(p, row, err));
  HEARTH_TRY(listing_json_print_type(p, mib.DataTypeId, err));
  HEARTH_TRY(listing_json_print_histogram(p, row->context, err));
  hearth_json_close(json, '}');
  return HEARTH_OK;
}

static hearth_status listing_json_print_group(listing_json *p, size_t number, hearth_error *err) {
  hearth_listing *r = &p->listing;
  hearth_json *json = &p->json;
  const hearth_group *g = hearth_listing_group_of(r, number);
  hearth_json_print(json, "\n{%s:%s", hearth_group_kind_name(r->options.by), g->name);
  if (g->linkage_name) {
    hearth_json_print(json, "linkage_name:%s, file:%s", g->linkage_name, g->path);
  }
  listing_json_print_totals(json, "all", &g->flat);
  listing_json_print_totals(json, "cumulative", &g->cumulative);
  hearth_json_key_array(json, "contexts");
  for (size_t i = 0; i < g->flat.contexts && i < r->options.contexts; i++)
    HEARTH_TRY(listing_json_print_context(p, &r->rows[r->groups[number].first + i], err));
  hearth_json_print(json, "]}");
  return HEARTH_OK;
}

static hearth_status listing_json_print_groups(listing_json *p, hearth_error *err) {
  static const char *const keys[] = {"functions", "callers", "sites", "files", "libraries", "types", "sizes"};
  hearth_json_print(&p->json, "\n%s:[", keys[p->listing.options.by]);
  for (size_t i = 0; i < p->listing.group_count && i < p->listing.options.groups; i++)
    HEARTH_TRY(listing_json_print_group(p, i, err));
  hearth_json_close(&p->json, ']');
  return HEARTH_OK;
}

static hearth_status listing_json_print_listing(listing_json *p, hearth_error *err) {
  HEARTH_TRY(hearth_json_frames_init(&p->table, hearth_profile_frame_count(p->listing.profile), err));
  hearth_json_begin(&p->json, "hearth-show", JSON_VERSION);
  HEARTH_TRY(listing_json_print_summary(p, err));
  HEARTH_TRY(hearth_json_binaries(&p->json, p->listing.profile, err));
  listing_json_print_classes(p);
  HEARTH_TRY(listing_json_print_groups(p, err));
  HEARTH_TRY(hearth_json_frames_print(&p->table, &p->json, p->listing.profile, &p->listing.names, err));
  return hearth_json_end(&p->json, err);
}

hearth_status hearth_listing_print_json(hearth_profile *profile, const char *name,
                                        const hearth_listing_options *options, FILE *stream, hearth_error *err) {
  listing_json p = {.json = {.stream = stream}};
  hearth_listing_options known;
  hearth_view_options view;
  HEARTH_TRY(hearth_options_take(&known, sizeof known, options, err));
  HEARTH_TRY(hearth_options_take(&view, sizeof view, known.view, err));
  view.full_names = true; /* as those of frames */
  known.view = &view;
  hearth_status status = hearth_listing_init(&p.listing, profile, name, &known, stream, err);
  HEARTH_THEN(status, listing_json_print_listing(&p, err));
  hearth_json_frames_destroy(&p.table);
  free(p.stack.frames);
  hearth_listing_destroy(&p.listing);
  return status;
}
