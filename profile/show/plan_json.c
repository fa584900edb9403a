/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* docs/tools.md, "hearth show --plan --json", describes the shape: change both in one commit. */
#include <inttypes.h>

#include "file.h"
#include "json_frames.h"
#include "plan_view.h"

enum { JSON_VERSION = 3 };

typedef struct plan_json {
  hearth_plan_view view;
  hearth_json json;
  hearth_json_frames frames;
} plan_json;

static void print_frame(plan_json *p, uint32_t frame) {
  hearth_json_key(&p->json, "frame");
  hearth_json_frames_use(&p->frames, &p->json, frame);
}

static void print_sites(plan_json *p) {
  hearth_json *json = &p->json;
  hearth_json_key_array(json, "sites");
  for (uint32_t i = 0; i < p->view.plan.site_count; i++) {
    const hearth_plan_site *site = p->view.sites[i];
    hearth_json_line_open(json, '{');
    print_frame(p, site->frame);
    HEARTH_JSON_MEMBERS(json, site, bit, bytes, allocs);
    hearth_json_close(json, '}');
  }
  hearth_json_close(json, ']');
}

static void print_bits(hearth_json *json, const char *name, uint64_t bits) {
  hearth_json_key_array(json, name);
  for (uint32_t bit = 0; bit < 64; bit++)
    if (bits >> bit & 1)
      hearth_json_uint(json, bit);
  hearth_json_close(json, ']');
}

static void print_entry(hearth_json *json, const hearth_plan_entry *entry) {
  hearth_json_open(json, '{');
  print_bits(json, "bits", entry->bits);
  hearth_json_key_string(json, "placement", hearth_placement_name((hearth_placement)entry->placement));
  HEARTH_JSON_MEMBERS(json, entry, bytes, right_bytes);
  hearth_json_close(json, '}');
}

static void print_tables(plan_json *p) {
  hearth_json *json = &p->json;
  hearth_json_line(json);
  hearth_json_key_array(json, "tables");
  for (uint32_t i = 0; i < p->view.plan.table_count; i++) {
    uint32_t count;
    const hearth_plan_table *table = p->view.tables[i];
    const hearth_plan_entry *entries = hearth_plan_entries(&p->view.plan, table, &count);
    hearth_json_line_open(json, '{');
    print_frame(p, table->frame);
    print_bits(json, "mask", table->mask);
    hearth_json_key_uint(json, "bytes_left", hearth_plan_table_bytes_left(&p->view, table));
    hearth_json_key_array(json, "entries");
    for (uint32_t k = 0; k < count; k++)
      print_entry(json, &entries[k]);
    hearth_json_close(json, ']');
    hearth_json_close(json, '}');
  }
  hearth_json_close(json, ']');
}

static void print_calls(plan_json *p) {
  hearth_json *json = &p->json;
  hearth_json_line(json);
  hearth_json_key_array(json, "calls");
  for (uint32_t i = 0; i < p->view.plan.call_count; i++) {
    const hearth_plan_call *call = &p->view.plan.calls[i];
    hearth_json_line_open(json, '{');
    hearth_json_key_uint(json, "id", i + 1);
    hearth_json_key_uint(json, "pool", p->view.plan.pools[i]);
    print_frame(p, call->frame);
    HEARTH_JSON_MEMBERS(json, call, weight, bytes, allocs, accesses, contexts, lifetime_ns);
    hearth_json_key_bool(json, "dies_young", call->dies_young);
    hearth_json_key_string(json, "class", hearth_class_name((hearth_class)call->hotness));
    hearth_json_close(json, '}');
  }
  hearth_json_close(json, ']');
}

static void print_tuning(hearth_json *json, const hearth_plan_tuning *tuning) {
  if (tuning->kind == HEARTH_TUNING_NONE) {
    hearth_json_key_null(json, "tuning");
    return;
  }
  hearth_json_key_object(json, "tuning");
  hearth_json_key_string(json, "for", hearth_tuning_name(tuning->kind));
  hearth_json_key_uint(json, "rounds", tuning->rounds);
  hearth_json_key_double(json, "time", tuning->time_ppm / 1e6);
  hearth_json_key_double(json, "time_spread", tuning->time_spread_ppm / 1e6);
  hearth_json_key_double(json, "memory", tuning->memory_ppm / 1e6);
  hearth_json_key_double(json, "memory_spread", tuning->memory_spread_ppm / 1e6);
  hearth_json_close(json, '}');
}

static hearth_status print_plan(plan_json *p, hearth_error *err) {
  hearth_json *json = &p->json;
  char id[17], layout[HEARTH_POOLS_MAX + 1];
  hearth_layout_print(p->view.plan.pools, layout);
  snprintf(id, sizeof id, "%016" PRIx64, p->view.plan.id);
  hearth_json_begin(json, "hearth-plan", JSON_VERSION);
  if (p->view.plan.id)
    hearth_json_key_string(json, "plan", id);
  else
    hearth_json_key_null(json, "plan");
  hearth_json_key_string(json, "layout", layout);
  print_tuning(json, &p->view.plan.tuning);
  print_calls(p);
  print_sites(p);
  print_tables(p);
  HEARTH_TRY(hearth_json_frames_print(&p->frames, json, p->view.profile, &p->view.names, err));
  return hearth_json_end(json, err);
}

hearth_status hearth_plan_print_json(hearth_profile *profile, FILE *stream, hearth_error *err) {
  plan_json p = {.json = {.stream = stream}};
  hearth_status status = hearth_plan_view_init(&p.view, profile, err);
  if (status == HEARTH_OK)
    status = hearth_json_frames_init(&p.frames, hearth_profile_frame_count(profile), err);
  if (status == HEARTH_OK)
    status = print_plan(&p, err);
  hearth_json_frames_destroy(&p.frames);
  hearth_plan_view_destroy(&p.view);
  return status;
}
