/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One "sampled" profile: a sample is a context's stack, its weight the value. Frames are functions, as everywhere in
 * speedscope; `line` is the function's first. Schema: https://www.speedscope.app/file-format-schema.json */
#include <string.h>

#include "exporter.h"
#include "hearth/json_writer.h"

typedef struct weights {
  hearth_json json;
  uint64_t total;
} weights;

static hearth_status write_functions(hearth_exporter *e, hearth_json *json, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_function_count(e->profile); i++) {
    hearth_function_text function;
    HEARTH_TRY(hearth_function_text_get(&e->names, i, &function, err));
    hearth_json_line_open(json, '{');
    hearth_json_key_string(json, "name", function.name);
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
  hearth_json_open(json, '{');
  hearth_json_key_string(json, "type", "sampled");
  hearth_json_key_string(json, "name", hearth_quantity_name(value));
  hearth_json_key_string(json, "unit", bytes ? "bytes" : "none"); /* of those that speedscope knows */
  hearth_json_key_array(json, "samples");
  HEARTH_TRY(hearth_export_each(e, write_sample, w, err));
  hearth_json_close(json, ']');
  hearth_json_key_array(json, "weights");
  HEARTH_TRY(hearth_export_each(e, write_weight, w, err));
  hearth_json_close(json, ']');
  hearth_json_key_uint(json, "startValue", 0);
  hearth_json_key_uint(json, "endValue", w->total);
  hearth_json_close(json, '}');
  return HEARTH_OK;
}

hearth_status hearth_export_speedscope(hearth_exporter *e, hearth_error *err) {
  weights w = {.json = {.stream = e->stream}};
  hearth_json *json = &w.json;
  hearth_json_open(json, '{');
  hearth_json_key_string(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
  hearth_json_key_string(json, "exporter", "hearth");
  hearth_json_key_string(json, "name", e->options->title);
  hearth_json_key_uint(json, "activeProfileIndex", 0);
  hearth_json_key_object(json, "shared");
  hearth_json_key_array(json, "frames");
  HEARTH_TRY(write_functions(e, json, err));
  hearth_json_close(json, ']');
  hearth_json_close(json, '}');
  hearth_json_key_array(json, "profiles");
  HEARTH_TRY(write_profile(e, &w, err));
  hearth_json_close(json, ']');
  hearth_json_close(json, '}');
  fputc('\n', e->stream);
  return HEARTH_OK;
}
