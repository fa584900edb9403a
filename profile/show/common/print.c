/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names, call stacks and histograms as text, for all listings. */
#include "print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "hearth/ids.h"
#include "utf8.h"

enum { NAME_WIDTH = 28, BAR_WIDTH = 40 };

void hearth_print_name(const char *name, int width, FILE *stream) {
  int printed = (int)hearth_utf8_put(name, stream);
  fprintf(stream, "%*s", printed < width ? width - printed : 0, "");
}

static void print_place(const hearth_place *place, FILE *stream) {
  const hearth_frame_info *frame = &place->frame;
  const char *path = place->function.path;
  hearth_print_name(*path ? hearth_base_name(path) : "?", 0, stream);
  if (hearth_is_name_file(path) || (frame->line == HEARTH_LINE_UNKNOWN && !place->function.info.start_line))
    ; /* it has no lines */
  else if (frame->line == HEARTH_LINE_UNKNOWN)
    fprintf(stream, ":?");
  else if (place->function.info.start_line)
    fprintf(stream, ":%u", place->line);
  else
    fprintf(stream, ":+%u", frame->line);
  if (frame->column)
    fprintf(stream, ":%u", frame->column);
  fputs(frame->inlined ? " (inlined)" : "", stream);
}

/* A stack that is being printed. Of wrappers that call each other, only the outermost has a line. */
typedef struct printing {
  hearth_names *names;
  FILE *stream;
  hearth_place wrapper; /* the outermost so far */
  size_t wrappers;      /* that wait for their line */
  size_t lines, hidden; /* printed; not printed, for want of depth */
} printing;

static void print_line(printing *p, const hearth_place *place, size_t inside) {
  if (p->names->depth && p->lines == p->names->depth) {
    p->hidden++;
    return;
  }
  p->lines++;
  fputs("      ", p->stream);
  hearth_print_name(place->function.name, NAME_WIDTH, p->stream);
  fputs("  ", p->stream);
  print_place(place, p->stream);
  if (inside > 0)
    fprintf(p->stream, ", %zu more wrapper%s inside", inside, hearth_plural(inside));
  fputc('\n', p->stream);
}

static void print_wrappers(printing *p) {
  if (p->wrappers > 0)
    print_line(p, &p->wrapper, p->wrappers - 1);
  p->wrappers = 0;
}

static hearth_status print_frame(printing *p, uint32_t row, hearth_error *err) {
  hearth_place place;
  bool wraps;
  HEARTH_TRY(hearth_place_get(p->names->profile, p->names, row, &place, err));
  HEARTH_TRY(hearth_names_is_wrapper(p->names, place.frame.function, &wraps, err));
  if (wraps) {
    p->wrapper = place;
    p->wrappers++;
    return HEARTH_OK;
  }
  print_wrappers(p);
  print_line(p, &place, 0);
  return HEARTH_OK;
}

hearth_status hearth_print_stack(hearth_profile *profile, hearth_names *names, uint32_t node, FILE *stream,
                                 hearth_error *err) {
  printing p = {.names = names, .stream = stream};
  while (node != HEARTH_NONE) {
    uint32_t frame;
    HEARTH_TRY(hearth_profile_get_stack(profile, node, &frame, &node, err));
    HEARTH_TRY(print_frame(&p, frame, err));
  }
  print_wrappers(&p);
  if (p.hidden > 0)
    fprintf(stream, "      ... and %zu more caller%s (--depth=N)\n", p.hidden, hearth_plural(p.hidden));
  return HEARTH_OK;
}

/* A line for places [first, end), which were accessed `count` times each. */
static void print_places(uint64_t first, uint64_t end, uint64_t count, uint64_t greatest, FILE *stream) {
  int bar = (int)((double)count / (double)greatest * BAR_WIDTH + 0.5);
  fprintf(stream, "        %-7" PRIu64 "-%-7" PRIu64 " %14" PRIu64 "  %.*s\n", first * HEARTH_HISTOGRAM_BYTES,
          end * HEARTH_HISTOGRAM_BYTES - 1, count, bar, "########################################");
}

void hearth_print_histogram(const hearth_histogram *histogram, uint64_t total_accesses, FILE *stream) {
  uint64_t greatest = 0, sum = 0;
  for (uint64_t i = 0; i < histogram->size; i++) {
    sum = hearth_merge_SUM(sum, histogram->counts[i]);
    greatest = hearth_merge_MAX(greatest, histogram->counts[i]);
  }
  if (histogram->size > 0)
    fprintf(stream, "      accesses to each 8 bytes of a block, by place:\n");
  for (uint64_t i = 0, end; i < histogram->size; i = end) {
    for (end = i + 1; end < histogram->size && histogram->counts[end] == histogram->counts[i];)
      end++;
    if (histogram->counts[i] > 0)
      print_places(i, end, histogram->counts[i], greatest, stream);
  }
  if (histogram->size > 0 && sum < total_accesses)
    fprintf(stream, "        elsewhere       %14" PRIu64 "\n", total_accesses - sum);
}

/* A table from frame to position, filled in the order in which stacks use frames. */

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
