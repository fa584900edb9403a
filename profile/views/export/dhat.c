/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Version 2 of DHAT's output, as valgrind/dhat/dh_main.c describes it and dh_view.js checks it: a program point (PP)
 * for each context.
 *
 * What was live at the peak is t-gmax, if the profile knows it, and else what was live at the end. What a context had at its own
 * most (mb) is not known: it is given as the greater of these two. The command line
 * (cmd), which the viewer shows on top, says so. Reads and writes are not told apart: values other than bytes are
 * written as the events of an ad-hoc profile, as Valgrind's own --mode=ad-hoc does. */
#define _GNU_SOURCE /* asprintf */
#include <stdlib.h>

#include "exporter.h"
#include "hearth/history.h"
#include "hearth/json_writer.h"

static const double ns_per_us = 1e3;
static const uint64_t threshold_us =
    500; /* average lifetimes up to this are "short" for the viewer; dh_main.c's value */

static bool is_heap(const hearth_exporter *e) { return e->options->value == HEARTH_QUANTITY_BYTES; }

static void write_heap_numbers(hearth_json *json, const hearth_mib *mib, bool has_peak) {
  uint64_t live = hearth_quantity_of(HEARTH_QUANTITY_LIVE, mib);
  hearth_json_print(json, "tb:%lu, tbk:%lu, tl:%lu", mib->TotalSize, mib->AllocCount,
                    (uint64_t)((double)mib->TotalLifetime / ns_per_us));
  uint64_t peak = has_peak ? mib->PeakBytes : live, peak_blocks = has_peak ? mib->PeakBlocks : mib->LiveAtExit;
  hearth_json_print(json, "mb:%lu, mbk:%lu, gb:%lu, gbk:%lu, eb:%lu, ebk:%lu", hearth_merge_MAX(peak, live),
                    hearth_merge_MAX(peak_blocks, mib->LiveAtExit), peak, peak_blocks, live, mib->LiveAtExit);
}

static hearth_status write_point(hearth_exporter *e, const hearth_selected *selected, void *state, hearth_error *err) {
  hearth_json *json = state;
  (void)err;
  hearth_json_line_open(json, '{');
  if (is_heap(e)) {
    write_heap_numbers(json, &selected->mib, e->has_peak);
  } else {
    hearth_json_print(json, "tb:%lu, tbk:%lu", hearth_quantity_of(e->options->value, &selected->mib),
                      selected->mib.AllocCount);
  }
  hearth_json_key_array(json, "fs");
  for (size_t i = 0; i < e->frames.count; i++)
    hearth_json_uint(json, (uint64_t)e->frames.frames[i] + 1);
  hearth_json_print(json, "]}");
  return HEARTH_OK;
}

/* "name (path:line:column)" */
static hearth_status write_frame(hearth_json *json, const hearth_place *place, hearth_error *err) {
  char line[32] = "?", *text;
  if (place->line)
    snprintf(line, sizeof line, place->frame.column ? "%u:%u" : "%u", place->line, place->frame.column);
  if (asprintf(&text, "%s (%s:%s)%s", place->function.name, *place->function.path ? place->function.path : "?", line,
               place->frame.inlined ? " [inlined]" : "") < 0)
    return hearth_error_nomem(err);
  hearth_json_string(json, text);
  free(text);
  return HEARTH_OK;
}

/* Entry 0 is the viewer's root; frame row n is entry n + 1. */
static hearth_status write_frames(hearth_exporter *e, hearth_json *json, hearth_error *err) {
  hearth_json_string(json, "[root]");
  for (uint32_t i = 0; i < hearth_profile_frame_count(e->profile); i++) {
    hearth_place place;
    HEARTH_TRY(hearth_place_get(e->profile, &e->names, i, &place, err));
    hearth_json_line(json);
    HEARTH_TRY(write_frame(json, &place, err));
  }
  return HEARTH_OK;
}

static void write_labels(const hearth_exporter *e, hearth_json *json) {
  hearth_json_print(json, "dhatFileVersion:2, mode:%s, verb:%s, bklt:%d, bkacc:false", is_heap(e) ? "heap" : "ad-hoc",
                    is_heap(e) ? "Allocated" : "Counted", is_heap(e));
  if (!is_heap(e)) {
    const char *unit = hearth_quantity_name(e->options->value);
    hearth_json_print(json, "bu:%s, bsu:%s, bksu:\"allocations\"", unit, unit);
  }
  hearth_json_key_string(json, "tu", "us");
  hearth_json_key_string(json, "Mtu", "s"); /* a million of them */
}

/* Lifetimes are shown in percent of the run: of several runs, the average one. */
static hearth_status write_times(const hearth_exporter *e, hearth_json *json, hearth_error *err) {
  hearth_heap_history history;
  HEARTH_TRY(hearth_profile_get_history(e->profile, &history, err));
  double runs = e->summary.runs ? (double)e->summary.runs : 1;
  uint64_t end = (uint64_t)((double)e->summary.duration_ns / runs / ns_per_us);
  if (is_heap(e)) {
    hearth_json_key_uint(json, "tuth", threshold_us);
    double part = history.runs ? (double)history.peak_ppm / (double)history.runs / 1e6 : 1;
    hearth_json_key_uint(json, "tg", (uint64_t)((double)end * part));
  }
  hearth_json_key_uint(json, "te", end);
  hearth_heap_history_free(&history);
  return HEARTH_OK;
}

static void write_command(const hearth_exporter *e, hearth_json *json) {
  char command[HEARTH_PATH_LIMIT];
  snprintf(command, sizeof command, "%s%s", e->options->title,
           !is_heap(e)   ? " (exported by hearth)"
           : e->has_peak ? " (exported by hearth: Max is the greater of t-gmax and t-end)"
                         : " (exported by hearth: when the heap was largest is not known, t-gmax and Max are t-end)");
  hearth_json_print(json, "cmd:%s, pid:0", command);
}

hearth_status hearth_export_dhat(hearth_exporter *e, hearth_error *err) {
  hearth_json json = {.stream = e->stream};
  hearth_json_open(&json, '{');
  write_labels(e, &json);
  write_command(e, &json);
  HEARTH_TRY(write_times(e, &json, err));
  hearth_json_key_array(&json, "pps");
  HEARTH_TRY(hearth_export_each(e, write_point, &json, err));
  hearth_json_print(&json, "], ftbl:[");
  HEARTH_TRY(write_frames(e, &json, err));
  hearth_json_print(&json, "]}");
  fputc('\n', e->stream);
  return HEARTH_OK;
}
