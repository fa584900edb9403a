/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* docs/tools.md, "hearth show --json", describes the shape: change both in one commit. */
#include <stdlib.h>

#include "file.h"
#include "hearth/touch_rate.h"
#include "json_frames.h"
#include "listing_rows.h"
#include "option_size.h"
#include "print.h"

enum { JSON_VERSION = 2 };

typedef struct listing_json {
  hearth_listing listing;
  hearth_json json;
  hearth_json_frames table;
  hearth_frames stack;
} listing_json;

static void print_totals(hearth_json *json, const hearth_listing_totals *t) {
  hearth_json_key_uint(json, "contexts", t->contexts);
  hearth_json_key_uint(json, "allocs", t->allocs);
  hearth_json_key_uint(json, "bytes", t->bytes);
  hearth_json_key_uint(json, "live", t->live);
  hearth_json_key_uint(json, "accesses", t->accesses);
  hearth_json_key_uint(json, "library_bytes", t->library_bytes);
  hearth_json_key_uint(json, "byte_seconds", t->byte_seconds);
  hearth_json_key_uint(json, "used_page_bytes", t->used_page_bytes);
  hearth_json_key_uint(json, "idle_page_bytes", t->idle_page_bytes);
}

static void print_named_totals(hearth_json *json, const char *name, const hearth_listing_totals *t) {
  hearth_json_key(json, name);
  hearth_json_open(json, '{');
  print_totals(json, t);
  hearth_json_close(json, '}');
}

static hearth_status print_binaries(listing_json *p, hearth_error *err) {
  hearth_json *json = &p->json;
  hearth_json_key_array(json, "binaries");
  for (uint32_t i = 0; i < hearth_profile_binary_count(p->listing.profile); i++) {
    hearth_binary_text binary;
    HEARTH_TRY(hearth_binary_text_get(p->listing.profile, i, &binary, err));
    hearth_json_open(json, '{');
    hearth_json_key_string(json, "name", binary.name);
    hearth_json_key_string(json, "build_id", binary.build_id);
    hearth_json_key(json, "library");
    hearth_json_bool(json, binary.is_library);
    hearth_json_close(json, '}');
  }
  hearth_json_close(json, ']');
  return HEARTH_OK;
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

static hearth_status print_summary(listing_json *p, hearth_error *err) {
  hearth_run_facts facts;
  const hearth_profile_summary *s = &p->listing.summary;
  hearth_json *json = &p->json;
  hearth_json_key_string(json, "profile", p->listing.name);
  hearth_json_key_string(json, "id_scheme", s->id_scheme == HEARTH_IDS_LLVM ? "llvm" : "hearth");
  hearth_json_key_uint(json, "runs", s->runs);
  hearth_json_key_uint(json, "duration_ns", s->duration_ns);
  HEARTH_TRY(hearth_profile_get_run_facts(p->listing.profile, &facts, err));
  hearth_json_run_facts(json, &facts);
  hearth_json_key(json, "accesses_counted");
  hearth_json_bool(json, s->accesses_counted);
  hearth_json_key(json, "accesses_estimated");
  hearth_json_bool(json, s->accesses_estimated);
  hearth_json_key(json, "densities_only");
  hearth_json_bool(json, s->densities_only);
  hearth_json_key_uint(json, "dropped_blocks", s->dropped_blocks);
  hearth_json_key_uint(json, "dropped_frames", s->dropped_frames);
  print_unrecorded(p);
  return HEARTH_OK;
}

/* Limits that nothing reaches are null. */
static void print_classes(listing_json *p) {
  const hearth_classifier *c = &p->listing.selection.classifier;
  hearth_json *json = &p->json;
  hearth_json_line(json);
  hearth_json_key(json, "classify");
  hearth_json_open(json, '{');
  hearth_json_key_string(json, "mode", hearth_classify_mode_name(c->mode));
  hearth_json_key(json, "cold_max_density");
  if (c->cold_max_density < 0)
    hearth_json_null(json);
  else
    hearth_json_double(json, c->cold_max_density);
  hearth_json_key_double(json, "cold_min_lifetime_ns", c->cold_min_lifetime_ns);
  hearth_json_key_double(json, "hot_min_density", c->hot_min_density);
  hearth_json_close(json, '}');
  hearth_json_key(json, "classes");
  hearth_json_open(json, '{');
  for (hearth_class i = HEARTH_CLASS_COLD; i < HEARTH_LISTING_CLASSES; i++)
    print_named_totals(json, hearth_class_name(i), &p->listing.classes[i]);
  print_named_totals(json, hearth_class_name(HEARTH_CLASS_UNKNOWN), &p->listing.classes[HEARTH_CLASS_UNKNOWN]);
  hearth_json_close(json, '}');
  print_named_totals(json, "uncertain", &p->listing.uncertain);
  print_named_totals(json, "cold_or_not", &p->listing.cold_or_not);
  print_named_totals(json, "all", &p->listing.all);
  print_named_totals(json, "selected", &p->listing.shown);
}

static void print_mib(hearth_json *json, const hearth_mib *mib) {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description)                                     \
  hearth_json_key_uint(json, #Name, mib->Name);
#include "hearth/mib_fields.def"
}

static hearth_status print_type(listing_json *p, uint64_t id, hearth_error *err) {
  const char *name;
  HEARTH_TRY(hearth_profile_type_name(p->listing.profile, id, &name, err));
  if (*name)
    hearth_json_key_string(&p->json, "type", name);
  return HEARTH_OK;
}

static hearth_status print_histogram(listing_json *p, uint32_t context, hearth_error *err) {
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

/* Standard errors in doublings; null: not enough runs to tell. */
static hearth_status print_spread(listing_json *p, const hearth_listing_row *row, hearth_error *err) {
  hearth_json *json = &p->json;
  hearth_spread spread;
  HEARTH_TRY(hearth_profile_get_spread(p->listing.profile, row->context, &spread, err));
  if (spread.runs == 0)
    return HEARTH_OK;
  hearth_spread_errors errors = hearth_spread_get_errors(&spread);
  hearth_json_key_array(json, "possible");
  for (hearth_class c = HEARTH_CLASS_UNKNOWN; c < HEARTH_LISTING_CLASSES; c++)
    if (row->possible >> c & 1)
      hearth_json_string(json, hearth_class_name(c));
  hearth_json_close(json, ']');
  hearth_json_key(json, "spread");
  hearth_json_open(json, '{');
  hearth_json_key_uint(json, "runs", spread.runs);
  hearth_json_key_double(json, "effective_runs", errors.runs);
  hearth_json_key_double(json, "density", errors.density);
  hearth_json_key_double(json, "lifetime", errors.lifetime);
  hearth_json_key_double(json, "bytes", errors.bytes);
  hearth_json_close(json, '}');
  return HEARTH_OK;
}

static void print_touches(hearth_json *json, const hearth_mib *mib) {
  hearth_touch_rate rate = hearth_touch_rate_of(mib);
  if (rate.per_second < 0)
    return;
  hearth_json_key(json, "touches");
  hearth_json_open(json, '{');
  hearth_json_key_double(json, "per_second", rate.per_second);
  hearth_json_key_double(json, "error", rate.error);
  hearth_json_close(json, '}');
}

static hearth_status print_context(listing_json *p, const hearth_listing_row *row, hearth_error *err) {
  hearth_json *json = &p->json;
  uint32_t node;
  hearth_mib mib;
  HEARTH_TRY(hearth_profile_get_context(p->listing.profile, row->context, &node, &mib, err));
  HEARTH_TRY(hearth_frames_read(&p->stack, p->listing.profile, node, err));
  hearth_json_line(json);
  hearth_json_open(json, '{');
  hearth_json_key_string(json, "class", hearth_class_name(row->hotness));
  hearth_json_key_array(json, "stack");
  for (size_t i = 0; i < p->stack.count; i++)
    hearth_json_frames_use(&p->table, json, p->stack.frames[i]);
  hearth_json_close(json, ']');
  hearth_json_key(json, "mib");
  hearth_json_open(json, '{');
  print_mib(json, &mib);
  hearth_json_close(json, '}');
  print_touches(json, &mib);
  HEARTH_TRY(print_spread(p, row, err));
  HEARTH_TRY(print_type(p, mib.DataTypeId, err));
  HEARTH_TRY(print_histogram(p, row->context, err));
  hearth_json_close(json, '}');
  return HEARTH_OK;
}

static hearth_status print_group(listing_json *p, size_t number, hearth_error *err) {
  hearth_listing *r = &p->listing;
  hearth_json *json = &p->json;
  const hearth_group *g = hearth_listing_group_of(r, number);
  hearth_json_line(json);
  hearth_json_open(json, '{');
  hearth_json_key_string(json, hearth_group_kind_name(r->options.by), g->name);
  if (g->linkage_name) {
    hearth_json_key_string(json, "linkage_name", g->linkage_name);
    hearth_json_key_string(json, "file", g->path);
  }
  print_named_totals(json, "all", &g->flat);
  print_named_totals(json, "cumulative", &g->cumulative);
  hearth_json_key_array(json, "contexts");
  for (size_t i = 0; i < g->flat.contexts && i < r->options.contexts; i++)
    HEARTH_TRY(print_context(p, &r->rows[r->groups[number].first + i], err));
  hearth_json_close(json, ']');
  hearth_json_close(json, '}');
  return HEARTH_OK;
}

static hearth_status print_groups(listing_json *p, hearth_error *err) {
  static const char *const keys[] = {"functions", "callers", "sites", "files", "libraries", "types", "sizes"};
  hearth_json_line(&p->json);
  hearth_json_key(&p->json, keys[p->listing.options.by]);
  hearth_json_open(&p->json, '[');
  for (size_t i = 0; i < p->listing.group_count && i < p->listing.options.groups; i++)
    HEARTH_TRY(print_group(p, i, err));
  hearth_json_close(&p->json, ']');
  return HEARTH_OK;
}

static hearth_status print_frames(listing_json *p, hearth_error *err) {
  hearth_json_line(&p->json);
  hearth_json_key_array(&p->json, "frames");
  for (uint32_t i = 0; i < p->table.count; i++)
    HEARTH_TRY(hearth_json_frame(&p->json, p->listing.profile, &p->listing.names, p->table.used[i], err));
  hearth_json_close(&p->json, ']');
  return HEARTH_OK;
}

static hearth_status print_listing(listing_json *p, hearth_error *err) {
  HEARTH_TRY(hearth_json_frames_init(&p->table, hearth_profile_frame_count(p->listing.profile), err));
  hearth_json_open(&p->json, '{');
  hearth_json_key_string(&p->json, "format", "hearth-show");
  hearth_json_key_uint(&p->json, "version", JSON_VERSION);
  HEARTH_TRY(print_summary(p, err));
  HEARTH_TRY(print_binaries(p, err));
  print_classes(p);
  HEARTH_TRY(print_groups(p, err));
  HEARTH_TRY(print_frames(p, err));
  hearth_json_close(&p->json, '}');
  fputc('\n', p->json.stream);
  return hearth_stream_flush(p->json.stream, err);
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
  if (status == HEARTH_OK)
    status = print_listing(&p, err);
  hearth_json_frames_destroy(&p.table);
  free(p.stack.frames);
  hearth_listing_destroy(&p.listing);
  return status;
}
