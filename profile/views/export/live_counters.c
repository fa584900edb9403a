/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The heap over time in Chrome's JSON trace format, for Perfetto and chrome://tracing: counter events (phase "C") of
 * the live bytes in all and by the functions that held most, and an instant event at the peak. Microseconds; of
 * several runs, averages. Source: Chromium's "Trace Event Format". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "exporter.h"
#include "hearth/json_writer.h"
#include "hearth/profile.h"

enum { MOST_FUNCTIONS = 20 };

/* Of the functions of one name. */
typedef struct series {
  const char *name;
  uint32_t first; /* context of it */
  uint64_t most;
  uint64_t levels[HEARTH_RAW_POINTS];
} series;

typedef struct counters {
  const hearth_heap_history *history;
  series *rows; /* as many as the history has, or fewer */
  size_t count, at;
  uint64_t shown[HEARTH_RAW_POINTS]; /* by all rows */
} counters;

static series *find_series(counters *c, const char *name, uint32_t context) {
  size_t i = 0;
  while (i < c->count && strcmp(c->rows[i].name, name) != 0)
    i++;
  if (i == c->count)
    c->rows[c->count++] = (series){.name = name, .first = context};
  return &c->rows[i];
}

/* Contexts ascend, as those of the history do. */
static hearth_status counter_add_context(hearth_exporter *e, const hearth_selected *selected, void *state,
                                         hearth_error *err) {
  counters *c = state;
  uint32_t frame;
  hearth_frame_info owner;
  const char *name;
  while (c->at < c->history->count && c->history->rows[c->at].context < selected->context)
    c->at++;
  if (c->at == c->history->count || c->history->rows[c->at].context != selected->context || e->frames.count == 0)
    return HEARTH_OK;
  HEARTH_TRY(hearth_names_owner(&e->names, selected->node, &frame, err));
  HEARTH_TRY(hearth_profile_get_frame(e->profile, frame, &owner, err));
  HEARTH_TRY(hearth_names_get(&e->names, owner.function, &name, err));
  series *row = find_series(c, name, selected->context);
  for (size_t i = 0; i < HEARTH_RAW_POINTS; i++)
    row->levels[i] += c->history->rows[c->at].levels[i];
  return HEARTH_OK;
}

static int compare_series(const void *a, const void *b) {
  const series *x = a, *y = b;
  if (x->most != y->most)
    return x->most > y->most ? -1 : 1;
  return (x->first > y->first) - (x->first < y->first);
}

static void keep_heaviest(counters *c) {
  for (size_t i = 0; i < c->count; i++)
    for (size_t k = 0; k < HEARTH_RAW_POINTS; k++)
      if (c->rows[i].levels[k] > c->rows[i].most)
        c->rows[i].most = c->rows[i].levels[k];
  qsort(c->rows, c->count, sizeof *c->rows, compare_series);
  if (c->count > MOST_FUNCTIONS)
    c->count = MOST_FUNCTIONS;
  for (size_t i = 0; i < c->count; i++)
    for (size_t k = 0; k < HEARTH_RAW_POINTS; k++)
      c->shown[k] += c->rows[i].levels[k];
}

static void counter_begin_event(hearth_json *json, const char *phase, const char *name, double us) {
  hearth_json_print(json, "\n{ph:%s, cat:\"heap\", name:%s, pid:1, tid:1, ts:%f", phase, name, us);
}

static void end_event(hearth_json *json) { hearth_json_print(json, "}}"); }

static void write_by_function(const counters *c, hearth_json *json, size_t point) {
  uint64_t runs = c->history->runs, all = c->history->levels[point];
  for (size_t i = 0; i < c->count; i++)
    hearth_json_key_uint(json, c->rows[i].name, c->rows[i].levels[point] / runs);
  hearth_json_key_uint(json, "(others)", all > c->shown[point] ? (all - c->shown[point]) / runs : 0);
}

static void counter_write_point(const counters *c, hearth_json *json, double us, size_t point) {
  counter_begin_event(json, "C", "live bytes", us);
  hearth_json_print(json, "args:{all:%lu", c->history->levels[point] / c->history->runs);
  end_event(json);
  counter_begin_event(json, "C", "live bytes by function", us);
  hearth_json_key_object(json, "args");
  write_by_function(c, json, point);
  end_event(json);
}

static void counter_write_events(hearth_exporter *e, const counters *c) {
  hearth_json json = {.stream = e->stream};
  double run_us = (double)e->summary.duration_ns / 1000 / (double)(e->summary.runs ? e->summary.runs : 1);
  hearth_json_print(&json, "{traceEvents:[");
  counter_begin_event(&json, "M", "process_name", 0);
  hearth_json_print(&json, "args:{name:%s", e->options->title);
  end_event(&json);
  counter_begin_event(&json, "i", "peak", (double)hearth_history_peak_ns(c->history, &e->summary) / 1e3);
  hearth_json_print(&json, "s:\"p\", args:{");
  end_event(&json);
  for (size_t i = 0; i < HEARTH_RAW_POINTS; i++)
    counter_write_point(c, &json, run_us * (double)i / HEARTH_RAW_POINTS, i);
  hearth_json_print(&json, "]}");
  fputc('\n', e->stream);
}

static hearth_status export_counters(hearth_exporter *e, counters *c, hearth_error *err) {
  if (c->history->runs == 0)
    return hearth_error_set(err, HEARTH_E_NOT_FOUND, "%s: has no history of the heap: record anew", e->options->title);
  c->rows = calloc(c->history->count + 1, sizeof *c->rows);
  HEARTH_TRY(hearth_check_memory(c->rows, err));
  HEARTH_TRY(hearth_export_each(e, counter_add_context, c, err));
  keep_heaviest(c);
  counter_write_events(e, c);
  return HEARTH_OK;
}

hearth_status hearth_export_chrome(hearth_exporter *e, hearth_error *err) {
  hearth_heap_history history;
  counters c = {.history = &history};
  HEARTH_TRY(hearth_profile_get_history(e->profile, &history, err));
  hearth_status status = export_counters(e, &c, err);
  free(c.rows);
  hearth_heap_history_free(&history);
  return status;
}
