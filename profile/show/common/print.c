/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names and call stacks as text, for all listings. */
#include "print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"
#include "hearth/ids.h"
#include "hearth/running_program.h"
#include "hearth/view.h"
#include "numbers.h"
#include "utf8.h"

enum { NAME_WIDTH = 28 };

void hearth_print_name(const char *name, int width, FILE *stream) {
  int printed = (int)hearth_utf8_put(name, stream);
  fprintf(stream, "%*s", printed < width ? width - printed : 0, "");
}

void hearth_print_global(const hearth_global *g, FILE *stream) {
  hearth_print_name(g->name, 0, stream);
  if (*g->file) {
    fputs("  ", stream);
    hearth_print_name(g->file, 0, stream);
  }
  if (g->line)
    fprintf(stream, ":%" PRIu32, g->line);
}

void hearth_json_global(hearth_json *json, const hearth_global *g) {
  HEARTH_JSON_MEMBERS(json, g, name, file, line, size, accesses, touched_lines);
  if (g->flags & HEARTH_GLOBAL_STORES)
    hearth_json_key_uint(json, "stores", g->stores);
}

static void print_name_place(const hearth_place *place, FILE *stream) {
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

/* A stack that is being printed. Of wrappers that call each other, only the outermost has a line, and the outermost
 * before what starts a program or library: it may be the owner. */
typedef struct printing {
  hearth_names *names;
  FILE *stream;
  hearth_place wrapper; /* the outermost so far */
  size_t wrappers;      /* that wait for their line */
  hearth_role role;     /* of the last one of these */
  size_t lines, hidden; /* printed; not printed, for want of depth */
} printing;

static void print_name_line(printing *p, const hearth_place *place, size_t inside) {
  if (p->names->depth && p->lines == p->names->depth) {
    p->hidden++;
    return;
  }
  p->lines++;
  fputs("      ", p->stream);
  hearth_print_name(place->function.name, NAME_WIDTH, p->stream);
  fputs("  ", p->stream);
  print_name_place(place, p->stream);
  if (inside > 0)
    fprintf(p->stream, ", %zu more wrapper%s inside", inside, hearth_plural(inside));
  fputc('\n', p->stream);
}

static void print_wrappers(printing *p) {
  if (p->wrappers > 0)
    print_name_line(p, &p->wrapper, p->wrappers - 1);
  p->wrappers = 0;
}

static hearth_status print_name_frame(printing *p, uint32_t row, hearth_error *err) {
  hearth_place place;
  hearth_role role;
  HEARTH_TRY(hearth_place_get(p->names->profile, p->names, row, &place, err));
  HEARTH_TRY(hearth_names_role(p->names, place.frame.function, &role, err));
  if (role != HEARTH_ROLE_OWNER) {
    if (role == HEARTH_ROLE_STARTER && p->role == HEARTH_ROLE_WRAPPER)
      print_wrappers(p);
    p->role = role;
    p->wrapper = place;
    p->wrappers++;
    return HEARTH_OK;
  }
  print_wrappers(p);
  print_name_line(p, &place, 0);
  return HEARTH_OK;
}

hearth_status hearth_print_stack(hearth_profile *profile, hearth_names *names, uint32_t node, FILE *stream,
                                 hearth_error *err) {
  printing p = {.names = names, .stream = stream};
  while (node != HEARTH_NONE) {
    uint32_t frame;
    HEARTH_TRY(hearth_profile_get_stack(profile, node, &frame, &node, err));
    HEARTH_TRY(print_name_frame(&p, frame, err));
  }
  print_wrappers(&p);
  if (p.hidden > 0)
    fprintf(stream, "      ... and %zu more caller%s (--depth=N)\n", p.hidden, hearth_plural(p.hidden));
  return HEARTH_OK;
}

/* A table from frame to position, filled in the order in which stacks use frames. */

hearth_status hearth_json_frames_init(hearth_json_frames *frames, uint32_t limit, hearth_error *err) {
  size_t size = ((size_t)limit + 1) * sizeof(uint32_t);
  *frames = (hearth_json_frames){.positions = malloc(size), .used = malloc(size)};
  HEARTH_TRY(hearth_check_memory(frames->positions && frames->used, err));
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
  HEARTH_TRY(hearth_check_memory(name, err));
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
  hearth_json_print(json, "linkage_name:%s, file:%s, line:%u", place.function.info.name, place.function.path,
                    place.line);
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
  if (facts->last_day > 0)
    HEARTH_JSON_MEMBERS(json, facts, first_day, last_day);
}

hearth_status hearth_json_binaries(hearth_json *json, hearth_profile *profile, hearth_error *err) {
  hearth_json_key_array(json, "binaries");
  for (uint32_t i = 0; i < hearth_profile_binary_count(profile); i++) {
    hearth_binary_text binary;
    HEARTH_TRY(hearth_binary_text_get(profile, i, &binary, err));
    hearth_json_open(json, '{');
    HEARTH_JSON_MEMBERS(json, &binary, name, build_id);
    hearth_json_key_bool(json, "library", binary.is_library);
    const char *other_heap = hearth_other_heap(binary.name, strlen(binary.name));
    if (other_heap)
      hearth_json_key_string(json, "other_heap", other_heap);
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
  hearth_json_print(json, "\nframes:[");
  for (uint32_t i = 0; i < frames->count; i++)
    HEARTH_TRY(hearth_json_frame(json, profile, names, frames->used[i], err));
  hearth_json_close(json, ']');
  return HEARTH_OK;
}

/* ------------------------------------------------ amount ------------------------------------------------ */

/* Amounts in the largest unit that makes them 1 or more, with digits by size. */

hearth_amount_text hearth_amount_bytes(uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  hearth_amount_text text;
  double value = (double)bytes;
  size_t unit = 0;
  for (; value >= 1024 && unit < 6; unit++)
    value /= 1024;
  snprintf(text.c, sizeof text.c, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

hearth_amount_text hearth_amount_of(hearth_quantity quantity, uint64_t value) {
  hearth_amount_text text, bytes = hearth_amount_bytes(value);
  if (quantity == HEARTH_QUANTITY_BYTES || quantity == HEARTH_QUANTITY_LIVE || quantity == HEARTH_QUANTITY_PEAK)
    return bytes;
  if (quantity == HEARTH_QUANTITY_BYTE_SECONDS)
    snprintf(text.c, sizeof text.c, "%.28s s", bytes.c);
  else
    snprintf(text.c, sizeof text.c, "%llu", (unsigned long long)value);
  return text;
}

hearth_amount_text hearth_amount_time(double ns) {
  static const struct {
    double ns;
    const char *name;
  } units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
  hearth_amount_text text;
  size_t unit = 0;
  while (unit < 3 && ns >= units[unit + 1].ns)
    unit++;
  snprintf(text.c, sizeof text.c, "%.*f %s",
           ns < 10 * units[unit].ns && unit ? 2
           : unit                           ? 1
                                            : 0,
           ns / units[unit].ns, units[unit].name);
  return text;
}

/* clang-format off */
const hearth_quantity_texts hearth_quantities[HEARTH_QUANTITY_COUNT] = {
  [HEARTH_QUANTITY_BYTES] =        {"bytes",        "bytes",        "alloc_space",   "bytes",        "requested bytes"},
  [HEARTH_QUANTITY_ALLOCS] =       {"allocs",       "allocs",       "alloc_objects", "count",        "allocations"},
  [HEARTH_QUANTITY_ACCESSES] =     {"accesses",     "accesses",     "accesses",      "count",        "loads and stores"},
  [HEARTH_QUANTITY_BYTE_SECONDS] = {"byte-seconds", "byte_seconds", "byte_seconds",  "byte_seconds", "average size times the sum of lifetimes"},
  [HEARTH_QUANTITY_LIVE] =         {"live",         "live",         "inuse_space",   "bytes",        "bytes live at exit, by average size where sizes are not known"},
  [HEARTH_QUANTITY_LIVE_ALLOCS] =  {"live-allocs",  "live_allocs",  "inuse_objects", "count",        "blocks live at exit"},
  [HEARTH_QUANTITY_PEAK] =         {"peak",         "peak",         "peak_space",    "bytes",        "bytes live when most were"},
  [HEARTH_QUANTITY_PEAK_ALLOCS] =  {"peak-allocs",  "peak_allocs",  "peak_objects",  "count",        "blocks live when most bytes were"},
};
/* clang-format on */

static uint64_t round_saturating(double value) { return value >= 0x1p64 ? UINT64_MAX : (uint64_t)(value + 0.5); }

uint64_t hearth_quantity_of(hearth_quantity quantity, const hearth_mib *mib) {
  double average_size = mib->AllocCount ? (double)mib->TotalSize / (double)mib->AllocCount : 0;
  switch (quantity) {
  case HEARTH_QUANTITY_BYTES:
    return mib->TotalSize;
  case HEARTH_QUANTITY_ALLOCS:
    return mib->AllocCount;
  case HEARTH_QUANTITY_ACCESSES:
    return mib->TotalAccessCount;
  case HEARTH_QUANTITY_BYTE_SECONDS:
    return round_saturating(average_size * (double)mib->TotalLifetime / 1e9);
  case HEARTH_QUANTITY_LIVE:
    return hearth_live_bytes(mib);
  case HEARTH_QUANTITY_LIVE_ALLOCS:
    return mib->LiveAtExit;
  case HEARTH_QUANTITY_PEAK:
    return mib->PeakBytes;
  case HEARTH_QUANTITY_PEAK_ALLOCS:
    return mib->PeakBlocks;
  case HEARTH_QUANTITY_COUNT:
    break;
  }
  return 0;
}

bool hearth_quantity_find(const char *name, hearth_quantity *ret) {
  for (*ret = 0; *ret < HEARTH_QUANTITY_COUNT; (*ret)++)
    if (strcmp(hearth_quantities[*ret].name, name) == 0)
      return true;
  return false;
}

hearth_status hearth_quantity_check(hearth_quantity quantity, const hearth_profile_summary *summary, const char *title,
                                    hearth_error *err) {
  if (quantity != HEARTH_QUANTITY_ACCESSES || summary->accesses_counted)
    return HEARTH_OK;
  return hearth_error_set(err, HEARTH_E_NOT_FOUND, "%s: accesses were not counted in every run: choose another value",
                          title);
}
