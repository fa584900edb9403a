/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pieces of text output. */
#ifndef HEARTH_PRINT_H
#define HEARTH_PRINT_H

#include <stdint.h>
#include <stdio.h>

#include "hearth/global.h"
#include "hearth/json_writer.h"
#include "hearth/profile.h"
#include "hearth/view.h"
#include "selection.h"

static inline const char *hearth_plural(uint64_t n) { return n == 1 ? "" : "s"; }
static inline double hearth_ratio(double part, double whole) { return whole != 0 ? part / whole : 0; }
static inline double hearth_percent(uint64_t part, uint64_t whole) {
  return 100 * hearth_ratio((double)part, (double)whole);
}

/* Padded with blanks to `width`. Names come from a file: no control character reaches the terminal. */
void hearth_print_name(const char *name, int width, FILE *stream);
/* A line for each frame, leaf first: "      name  file:line:column"; wrappers that call each other have one together. */
hearth_status hearth_print_stack(hearth_profile *profile, hearth_names *names, uint32_t node, FILE *stream,
                                 hearth_error *err);

/* "name  file:line". */
void hearth_print_global(const hearth_global *global, FILE *stream);
static inline uint64_t hearth_global_line_count(const hearth_global *global) { return (global->size + 63) / 64; }
/* The keys of an open object: its place, size and counts. */
void hearth_json_global(hearth_json *json, const hearth_global *global);

/* The "frames" table of our JSON outputs. Stacks are arrays of positions in it; it follows them and holds the frames
 * that were used, in order of first use. */

/* The owner decides the meaning of a frame number: a row of a profile, or a number given to equal frames of two. */
typedef struct hearth_json_frames {
  uint32_t *positions; /* by frame; HEARTH_NONE: not used yet */
  uint32_t *used;      /* by position */
  uint32_t count;
} hearth_json_frames;

/* For frames numbered below `limit`. Destroy also after an error. */
hearth_status hearth_json_frames_init(hearth_json_frames *frames, uint32_t limit, hearth_error *err);
void hearth_json_frames_destroy(hearth_json_frames *frames);
/* Print the position of a frame. */
void hearth_json_frames_use(hearth_json_frames *frames, hearth_json *json, uint32_t frame);
/* The keys of known facts of runs. */
void hearth_json_run_facts(hearth_json *json, const hearth_run_facts *facts);
/* "binaries" of the profile. */
hearth_status hearth_json_binaries(hearth_json *json, hearth_profile *profile, hearth_error *err);
/* "stack" and "frames" of one profile, whose rows are the frame numbers. */
void hearth_json_stack(hearth_json_frames *frames, hearth_json *json, const hearth_frames *stack);
hearth_status hearth_json_frames_print(const hearth_json_frames *frames, hearth_json *json, hearth_profile *profile,
                                       hearth_names *names, hearth_error *err);
/* Print one frame as an object. */
hearth_status hearth_json_frame(hearth_json *json, hearth_profile *profile, hearth_names *names, uint32_t frame,
                                hearth_error *err);

/* ------------------------------------------------ amount ------------------------------------------------ */

/* Quantities as people read them. */

typedef struct hearth_amount_text {
  char c[32];
} hearth_amount_text;

/* "64.0 MiB": powers of 1024. */
hearth_amount_text hearth_amount_bytes(uint64_t bytes);
/* A quantity of contexts: bytes, byte-seconds as "1.7 GiB s", or a number. */
hearth_amount_text hearth_amount_of(hearth_quantity quantity, uint64_t value);
/* "3.68 us", "5.42 s". */
hearth_amount_text hearth_amount_time(double ns);

#endif
