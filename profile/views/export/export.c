/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The parts that all formats need are set up once; a switch leads to the writer of each. The short ones are here. */
#define _GNU_SOURCE /* asprintf */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exporter.h"
#include "file.h"
#include "hearth/json_writer.h"
#include "hearth/profile.h"
#include "hearth/status.h"
#include "print.h"
#include "utf8.h"

/* Contexts that pass the selection, and their stacks, for all formats. */

hearth_status hearth_export_each(hearth_exporter *e, hearth_export_context *visit, void *state, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_context_count(e->profile); i++) {
    hearth_selected selected;
    HEARTH_TRY(hearth_selection_get(&e->selection, i, &selected, err));
    if (!selected.wanted)
      continue;
    HEARTH_TRY(hearth_frames_read(&e->frames, e->profile, selected.node, err));
    HEARTH_TRY(visit(e, &selected, state, err));
  }
  return HEARTH_OK;
}

/* ------------------------------------------------ folded ------------------------------------------------ */

/* A line for each context; frames are joined from the root, separated by semicolons. */

/* ';' ends a frame and a line a stack; readers take the last blank for the start of the value, so blanks may stay. */
static void put_name(const char *name, FILE *stream) {
  for (size_t length; *name; name += length ? length : 1) {
    length = hearth_utf8_length(name);
    if (length == 0 || hearth_utf8_is_control(name))
      putc_unlocked('?', stream);
    else if (*name == ';')
      putc_unlocked(':', stream);
    else
      fwrite(name, 1, length, stream);
  }
}

static hearth_status write_context(hearth_exporter *e, const hearth_selected *selected, void *state,
                                   hearth_error *err) {
  uint64_t value = hearth_quantity_of(e->options->value, &selected->mib);
  (void)state;
  if (value == 0)
    return HEARTH_OK;
  for (size_t i = e->frames.count; i-- > 0;) {
    hearth_frame_info frame;
    const char *name;
    HEARTH_TRY(hearth_profile_get_frame(e->profile, e->frames.frames[i], &frame, err));
    HEARTH_TRY(hearth_names_get(&e->names, frame.function, &name, err));
    put_name(name, e->stream);
    putc_unlocked(i > 0 ? ';' : ' ', e->stream);
  }
  fprintf(e->stream, "%" PRIu64 "\n", value);
  return HEARTH_OK;
}

/* ------------------------------------------------ DHAT ------------------------------------------------ */

/* Version 2 of DHAT's output, as valgrind/dhat/dh_main.c describes it and dh_view.js checks it: a program point (PP)
 * for each context.
 *
 * What was live at the peak is t-gmax, if the profile knows it, and else what was live at the end. What a context
 * had at its own most (mb) is not known: it is given as the greater of these two. The command line (cmd), which the
 * viewer shows on top, says so. */

static const double ns_per_us = 1e3;
static const uint64_t threshold_us =
    500; /* average lifetimes up to this are "short" for the viewer; dh_main.c's value */

static void write_heap_numbers(hearth_json *json, const hearth_mib *mib, bool has_peak) {
  uint64_t live = hearth_quantity_of(HEARTH_QUANTITY_LIVE, mib);
  hearth_json_print(json, "tb:%lu, tbk:%lu, tl:%lu", mib->TotalSize, mib->AllocCount,
                    (uint64_t)((double)mib->TotalLifetime / ns_per_us));
  uint64_t peak = has_peak ? mib->PeakBytes : live, peak_blocks = has_peak ? mib->PeakBlocks : mib->LiveAtExit;
  hearth_json_print(json, "mb:%lu, mbk:%lu, gb:%lu, gbk:%lu, eb:%lu, ebk:%lu", hearth_merge_MAX(peak, live),
                    hearth_merge_MAX(peak_blocks, mib->LiveAtExit), peak, peak_blocks, live, mib->LiveAtExit);
}

static hearth_status export_write_point(hearth_exporter *e, const hearth_selected *selected, void *state,
                                        hearth_error *err) {
  hearth_json *json = state;
  (void)err;
  hearth_json_line_open(json, '{');
  write_heap_numbers(json, &selected->mib, e->has_peak);
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

/* Lifetimes are shown in percent of the run: of several runs, the average one. */
static hearth_status write_times(const hearth_exporter *e, hearth_json *json, hearth_error *err) {
  hearth_heap_history history;
  HEARTH_TRY(hearth_profile_get_history(e->profile, &history, err));
  double runs = e->summary.runs ? (double)e->summary.runs : 1;
  uint64_t end = (uint64_t)((double)e->summary.duration_ns / runs / ns_per_us);
  double part = history.runs ? (double)history.peak_ppm / (double)history.runs / 1e6 : 1;
  hearth_json_print(json, "tuth:%lu, tg:%lu, te:%lu", threshold_us, (uint64_t)((double)end * part), end);
  hearth_heap_history_free(&history);
  return HEARTH_OK;
}

static void write_command(const hearth_exporter *e, hearth_json *json) {
  char command[HEARTH_PATH_LIMIT];
  snprintf(command, sizeof command, "%s%s", e->options->title,
           e->has_peak ? " (exported by hearth: Max is the greater of t-gmax and t-end)"
                       : " (exported by hearth: when the heap was largest is not known, t-gmax and Max are t-end)");
  hearth_json_print(json, "cmd:%s, pid:0", command);
}

static hearth_status export_dhat(hearth_exporter *e, hearth_error *err) {
  hearth_json json = {.stream = e->stream};
  hearth_json_print(&json,
                    "{dhatFileVersion:2, mode:\"heap\", verb:\"Allocated\", bklt:%d, bkacc:%d, tu:\"us\", "
                    "Mtu:\"s\"",
                    true, false); /* Mtu: a million of them */
  write_command(e, &json);
  HEARTH_TRY(write_times(e, &json, err));
  hearth_json_key_array(&json, "pps");
  HEARTH_TRY(hearth_export_each(e, export_write_point, &json, err));
  hearth_json_print(&json, "], ftbl:[");
  HEARTH_TRY(write_frames(e, &json, err));
  hearth_json_print(&json, "]}");
  fputc('\n', e->stream);
  return HEARTH_OK;
}

/* ------------------------------------------------ any of them ------------------------------------------------ */

static hearth_status write_format(hearth_exporter *e, hearth_export_format format, hearth_error *err) {
  switch (format) {
  case HEARTH_EXPORT_FOLDED:
    return hearth_export_each(e, write_context, NULL, err);
  case HEARTH_EXPORT_PPROF:
    return hearth_export_pprof(e, err);
  case HEARTH_EXPORT_DHAT:
    return export_dhat(e, err);
  case HEARTH_EXPORT_MASSIF:
  case HEARTH_EXPORT_CHROME:
    return hearth_export_history(e, format, err);
  }
  return hearth_error_set(err, HEARTH_E_USAGE, "there is no export format %d", (int)format);
}

static hearth_status look_for_peak(hearth_exporter *e, hearth_error *err) {
  hearth_mib mib;
  uint32_t node;
  for (uint32_t i = 0; i < hearth_profile_context_count(e->profile) && !e->has_peak; i++) {
    HEARTH_TRY(hearth_profile_get_context(e->profile, i, &node, &mib, err));
    e->has_peak = mib.PeakBlocks > 0;
  }
  return HEARTH_OK;
}

static hearth_status export_with(hearth_exporter *e, hearth_export_format format, hearth_error *err) {
  const hearth_view_options *view = e->options->view;
  HEARTH_TRY(hearth_profile_get_summary(e->profile, &e->summary, err));
  HEARTH_TRY(hearth_quantity_check(e->options->value, &e->summary, e->options->title, err));
  HEARTH_TRY(hearth_names_init(&e->names, e->profile, view, err));
  HEARTH_TRY(hearth_selection_init(&e->selection, e->profile, view, err));
  HEARTH_TRY(look_for_peak(e, err));
  HEARTH_TRY(write_format(e, format, err));
  return hearth_stream_flush(e->stream, err);
}

hearth_status hearth_export(hearth_profile *profile, hearth_export_format format, const hearth_export_options *options,
                            FILE *stream, hearth_error *err) {
  hearth_export_options known;
  hearth_view_options view;
  hearth_exporter e = {.profile = profile, .options = &known, .stream = stream};
  HEARTH_TRY(hearth_options_take(&known, sizeof known, options, err));
  HEARTH_TRY(hearth_options_take(&view, sizeof view, known.view, err));
  known.view = &view;
  hearth_status status = export_with(&e, format, err);
  hearth_selection_destroy(&e.selection);
  hearth_names_destroy(&e.names);
  free(e.frames.frames);
  return status;
}
