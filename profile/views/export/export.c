/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The parts that all formats need are set up once; a switch leads to the writer of each. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exporter.h"
#include "file.h"
#include "hearth/json_writer.h"
#include "option_size.h"
#include "print.h"
#include "utf8.h"

static hearth_status write_format(hearth_exporter *e, hearth_export_format format, hearth_error *err) {
  switch (format) {
  case HEARTH_EXPORT_FOLDED:
    return hearth_export_folded(e, err);
  case HEARTH_EXPORT_PPROF:
    return hearth_export_pprof(e, err);
  case HEARTH_EXPORT_SPEEDSCOPE:
    return hearth_export_speedscope(e, err);
  case HEARTH_EXPORT_DHAT:
    return hearth_export_dhat(e, err);
  case HEARTH_EXPORT_MASSIF:
    return hearth_export_massif(e, err);
  case HEARTH_EXPORT_CHROME:
    return hearth_export_chrome(e, err);
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

hearth_status hearth_export_folded(hearth_exporter *e, hearth_error *err) {
  return hearth_export_each(e, write_context, NULL, err);
}

/* ------------------------------------------------ speedscope ------------------------------------------------ */

/* One "sampled" profile: a sample is a context's stack, its weight the value. Frames are functions, as everywhere in
 * speedscope; `line` is the function's first. Schema: https://www.speedscope.app/file-format-schema.json */

typedef struct weights {
  hearth_json json;
  uint64_t total;
} weights;

static hearth_status write_functions(hearth_exporter *e, hearth_json *json, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_function_count(e->profile); i++) {
    hearth_function_text function;
    HEARTH_TRY(hearth_function_text_get(&e->names, i, &function, err));
    hearth_json_print(json, "\n{name:%s", function.name);
    if (*function.path)
      hearth_json_key_string(json, "file", function.path);
    if (function.info.start_line)
      hearth_json_key_uint(json, "line", function.info.start_line);
    hearth_json_close(json, '}');
  }
  return HEARTH_OK;
}

/* Readers want as many weights as samples: both leave out the same contexts. */
static uint64_t weight_of(const hearth_exporter *e, const hearth_selected *selected) {
  return hearth_quantity_of(e->options->value, &selected->mib);
}

static hearth_status write_sample(hearth_exporter *e, const hearth_selected *selected, void *state, hearth_error *err) {
  hearth_json *json = &((weights *)state)->json;
  if (weight_of(e, selected) == 0)
    return HEARTH_OK;
  hearth_json_line_open(json, '[');
  for (size_t i = e->frames.count; i-- > 0;) {
    hearth_frame_info frame;
    HEARTH_TRY(hearth_profile_get_frame(e->profile, e->frames.frames[i], &frame, err));
    hearth_json_uint(json, frame.function);
  }
  hearth_json_close(json, ']');
  return HEARTH_OK;
}

static hearth_status write_weight(hearth_exporter *e, const hearth_selected *selected, void *state, hearth_error *err) {
  weights *w = state;
  uint64_t weight = weight_of(e, selected);
  (void)err;
  if (weight == 0)
    return HEARTH_OK;
  hearth_json_uint(&w->json, weight);
  w->total = hearth_merge_SUM(w->total, weight);
  return HEARTH_OK;
}

static hearth_status write_profile(hearth_exporter *e, weights *w, hearth_error *err) {
  hearth_json *json = &w->json;
  hearth_quantity value = e->options->value;
  bool bytes = value == HEARTH_QUANTITY_BYTES || value == HEARTH_QUANTITY_LIVE || value == HEARTH_QUANTITY_PEAK;
  hearth_json_print(json, "{type:\"sampled\", name:%s", hearth_quantity_name(value));
  hearth_json_key_string(json, "unit", bytes ? "bytes" : "none"); /* of those that speedscope knows */
  hearth_json_key_array(json, "samples");
  HEARTH_TRY(hearth_export_each(e, write_sample, w, err));
  hearth_json_print(json, "], weights:[");
  HEARTH_TRY(hearth_export_each(e, write_weight, w, err));
  hearth_json_print(json, "], startValue:0, endValue:%lu}", w->total);
  return HEARTH_OK;
}

hearth_status hearth_export_speedscope(hearth_exporter *e, hearth_error *err) {
  weights w = {.json = {.stream = e->stream}};
  hearth_json *json = &w.json;
  hearth_json_print(json,
                    "{$schema:\"https://www.speedscope.app/file-format-schema.json\", exporter:\"hearth\", name:%s, "
                    "activeProfileIndex:0, shared:{frames:[",
                    e->options->title);
  HEARTH_TRY(write_functions(e, json, err));
  hearth_json_print(json, "]}, profiles:[");
  HEARTH_TRY(write_profile(e, &w, err));
  hearth_json_print(json, "]}");
  fputc('\n', e->stream);
  return HEARTH_OK;
}
