/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Call stacks of a MemProf section. Frames are an array, and all call stacks are one array of u32: at a stack's index its
 * depth, then frame numbers, leaf first; a negative number -k goes on k elements further, in the middle of another stack:
 * shared callers are stored once. */
#include <stdlib.h>

#include "array.h"
#include "llvm_parts.h"

static hearth_status take_frame(hearth_llvm_cursor *c, hearth_builder *builder, hearth_builder_frame *ret) {
  hearth_llvm_frame frame;
  uint64_t at = c->at;
  HEARTH_TRY(hearth_llvm_take(c, &frame, sizeof frame));
  if (frame.inlined > 1)
    return hearth_llvm_corrupt(c->in, at, "a frame is neither inlined nor not");
  *ret = (hearth_builder_frame){
      .line = hearth_llvm_line(frame.line_offset, frame.column), .column = frame.column, .inlined = frame.inlined};
  return hearth_builder_function_by_id(builder, frame.function, "", "", 0, &ret->function, c->in->err);
}

static hearth_status load_frame_array(hearth_llvm_stacks *stacks, hearth_builder *builder) {
  const hearth_llvm_section *s = stacks->section;
  hearth_llvm_cursor c;
  HEARTH_TRY(hearth_llvm_part(s->in, s->frames, s->frames_control, "the table of frames", &c));
  if (hearth_llvm_left(&c) % sizeof(hearth_llvm_frame) != 0)
    return hearth_llvm_corrupt(s->in, c.at, "its table of frames has an impossible size");
  size_t count = hearth_llvm_left(&c) / sizeof(hearth_llvm_frame);
  stacks->frames = calloc(count + 1, sizeof *stacks->frames);
  if (!stacks->frames)
    return hearth_error_nomem(s->in->err);
  for (size_t i = 0; i < count; i++)
    HEARTH_TRY(take_frame(&c, builder, &stacks->frames[i]));
  stacks->frame_count = count;
  return HEARTH_OK;
}

/* -------------------------------------------------- one call stack -------------------------------------------------- */

static hearth_status llvm_stack_reserve(hearth_llvm_stacks *stacks, size_t count) {
  return hearth_check_memory(
      hearth_array_reserve(&stacks->buffer, &stacks->buffer_room, 0, count, sizeof *stacks->buffer),
      stacks->section->in->err);
}

/* The next frame number. A jump leads forward, at least to the element behind it: so this ends. */
static hearth_status llvm_stack_take_number(hearth_llvm_cursor *c, uint32_t *ret) {
  for (;;) {
    hearth_llvm_cursor skipped;
    HEARTH_TRY(hearth_llvm_take(c, ret, sizeof *ret));
    if (*ret <= INT32_MAX)
      return HEARTH_OK;
    HEARTH_TRY(hearth_llvm_split(c, (uint64_t)(UINT32_MAX - *ret) * sizeof *ret, &skipped));
  }
}

/* -------------------------------------------------- all -------------------------------------------------- */

hearth_status hearth_llvm_stacks_load(const hearth_llvm_section *section, hearth_builder *builder,
                                      hearth_llvm_stacks *ret) {
  *ret = (hearth_llvm_stacks){.section = section};
  return load_frame_array(ret, builder);
}

void hearth_llvm_stacks_free(hearth_llvm_stacks *stacks) {
  free(stacks->frames);
  free(stacks->buffer);
}

hearth_status hearth_llvm_stacks_take(hearth_llvm_stacks *stacks, hearth_llvm_cursor *record,
                                      const hearth_builder_frame **ret_frames, size_t *ret_count) {
  const hearth_llvm_section *s = stacks->section;
  uint32_t index, depth, number;
  uint64_t at = record->at;
  hearth_llvm_cursor c;
  HEARTH_TRY(hearth_llvm_take(record, &index, sizeof index));
  HEARTH_TRY(hearth_llvm_part(s->in, s->stacks, s->stacks_control, "the array of call stacks", &c));
  if (index >= hearth_llvm_left(&c) / sizeof depth)
    return hearth_llvm_corrupt(record->in, at, "a call stack is missing");
  c.at += (uint64_t)index * sizeof depth;
  at = c.at;
  HEARTH_TRY(hearth_llvm_take(&c, &depth, sizeof depth));
  if (depth == 0 || depth > HEARTH_LLVM_STACK_LIMIT)
    return hearth_llvm_corrupt(s->in, at, "a call stack of impossible size");
  HEARTH_TRY(llvm_stack_reserve(stacks, depth));
  for (uint32_t i = 0; i < depth; i++) {
    at = c.at;
    HEARTH_TRY(llvm_stack_take_number(&c, &number));
    if (number >= stacks->frame_count)
      return hearth_llvm_corrupt(s->in, at, "a frame is missing");
    stacks->buffer[i] = stacks->frames[number];
  }
  *ret_frames = stacks->buffer;
  *ret_count = depth;
  return HEARTH_OK;
}
