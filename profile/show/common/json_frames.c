/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A table from frame to position, filled in the order in which stacks use frames. */
#include "json_frames.h"

#include <stdlib.h>
#include <string.h>

hearth_status hearth_json_frames_init(hearth_json_frames *frames, uint32_t limit, hearth_error *err) {
  size_t size = ((size_t)limit + 1) * sizeof(uint32_t);
  *frames = (hearth_json_frames){.positions = malloc(size), .used = malloc(size)};
  if (!frames->positions || !frames->used)
    return hearth_error_nomem(err);
  memset(frames->positions, 0xff, size); /* HEARTH_NONE */
  return HEARTH_OK;
}

void hearth_json_frames_destroy(hearth_json_frames *frames) {
  free(frames->positions);
  free(frames->used);
}

void hearth_json_frames_use(hearth_json_frames *frames, hearth_json *json, uint32_t frame) {
  if (frames->positions[frame] == HEARTH_NONE) {
    frames->positions[frame] = frames->count;
    frames->used[frames->count++] = frame;
  }
  hearth_json_uint(json, frames->positions[frame]);
}

/* Full: whoever reads JSON can shorten a name. */
static hearth_status print_function(hearth_json *json, const hearth_names *names, const hearth_function_text *function,
                                    hearth_error *err) {
  if (names->style != HEARTH_NAMES_SHORT || !*function->info.name) {
    hearth_json_key_string(json, "function", function->name);
    return HEARTH_OK;
  }
  char *name = hearth_name_make(function->info.name, HEARTH_NAMES_FULL);
  if (!name)
    return hearth_error_nomem(err);
  hearth_json_key_string(json, "function", name);
  free(name);
  return HEARTH_OK;
}

hearth_status hearth_json_frame(hearth_json *json, hearth_profile *profile, hearth_names *names, uint32_t frame,
                                hearth_error *err) {
  hearth_place place;
  HEARTH_TRY(hearth_place_get(profile, names, frame, &place, err));
  hearth_json_line_open(json, '{');
  HEARTH_TRY(print_function(json, names, &place.function, err));
  hearth_json_key_string(json, "linkage_name", place.function.info.name);
  hearth_json_key_string(json, "file", place.function.path);
  hearth_json_key_uint(json, "line", place.line);
  if (place.frame.line == HEARTH_LINE_UNKNOWN)
    hearth_json_key_null(json, "line_offset");
  else
    hearth_json_key_uint(json, "line_offset", place.frame.line);
  HEARTH_JSON_MEMBERS(json, &place.frame, column, discriminator, inlined);
  hearth_json_close(json, '}');
  return HEARTH_OK;
}

void hearth_json_run_facts(hearth_json *json, const hearth_run_facts *facts) {
  if (facts->peak_bytes > 0)
    hearth_json_key_uint(json, "peak_bytes", facts->peak_bytes);
  if (*facts->command)
    hearth_json_key_string(json, "command", facts->command);
  hearth_json_key_bool(json, "commands_differ", facts->commands_differ);
}

hearth_status hearth_json_binaries(hearth_json *json, hearth_profile *profile, hearth_error *err) {
  hearth_json_key_array(json, "binaries");
  for (uint32_t i = 0; i < hearth_profile_binary_count(profile); i++) {
    hearth_binary_text binary;
    HEARTH_TRY(hearth_binary_text_get(profile, i, &binary, err));
    hearth_json_open(json, '{');
    HEARTH_JSON_MEMBERS(json, &binary, name, build_id);
    hearth_json_key_bool(json, "library", binary.is_library);
    hearth_json_close(json, '}');
  }
  hearth_json_close(json, ']');
  return HEARTH_OK;
}

void hearth_json_stack(hearth_json_frames *frames, hearth_json *json, const hearth_frames *stack) {
  hearth_json_key_array(json, "stack");
  for (size_t i = 0; i < stack->count; i++)
    hearth_json_frames_use(frames, json, stack->frames[i]);
  hearth_json_close(json, ']');
}

hearth_status hearth_json_frames_print(const hearth_json_frames *frames, hearth_json *json, hearth_profile *profile,
                                       hearth_names *names, hearth_error *err) {
  hearth_json_line(json);
  hearth_json_key_array(json, "frames");
  for (uint32_t i = 0; i < frames->count; i++)
    HEARTH_TRY(hearth_json_frame(json, profile, names, frames->used[i], err));
  hearth_json_close(json, ']');
  return HEARTH_OK;
}
