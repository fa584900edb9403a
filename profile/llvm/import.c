/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Allocation sites of LLVM's records into a builder. Call stacks that were seen are kept as 128-bit hashes (XXH3) with
 * the function that they count for; llvm_parts.h says which one that is. */
#include "llvm_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "builder_tables.h"
#include "hearth/llvm_profile.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* A call stack, known by the 128-bit hash of its frames, and the record that it counts in. */
typedef struct hearth_llvm_known_stack {
  XXH128_hash_t id;
  uint64_t last_mib; /* hash of the numbers added last */
  uint32_t owner;
  uint32_t repeats; /* how often LLVM repeats them in this record */
} known_stack;

static bool import_equal_stack(const void *owner, uint32_t row, const void *key) {
  const hearth_llvm_import *import = owner;
  return XXH128_isEqual(import->known[row].id, *(const XXH128_hash_t *)key);
}

/* A hash over copied members, since the structs have padding. Stacks that differ in inlining alone are two, as in
 * LLVM; matching sums them. */
static hearth_status import_stack_id(hearth_llvm_import *import, const hearth_builder_frame *frames, size_t n,
                                     XXH128_hash_t *ret) {
  HEARTH_TRY(hearth_check_memory(hearth_array_reserve(&import->key, &import->key_room, 0, 4 * n, sizeof *import->key),
                                 import->err));
  for (size_t i = 0; i < n; i++) {
    import->key[4 * i] = frames[i].function;
    import->key[4 * i + 1] = frames[i].line;
    import->key[4 * i + 2] = frames[i].column;
    import->key[4 * i + 3] = frames[i].inlined;
  }
  *ret = XXH3_128bits(import->key, 4 * n * sizeof *import->key);
  return HEARTH_OK;
}

static hearth_status import_add_known(hearth_llvm_import *import, XXH128_hash_t id, uint32_t owner, known_stack **ret) {
  HEARTH_TRY(id_table_reserve_row(&import->known_by_id, &import->known, &import->known_room, import->known_count,
                                  sizeof *import->known, import->err));
  id_table_insert(&import->known_by_id, id.low64, (uint32_t)import->known_count);
  *ret = &import->known[import->known_count++];
  **ret = (known_stack){.id = id, .owner = owner};
  return HEARTH_OK;
}

/* How often LLVM puts a context into the record of `function`: for each of its frames in the leaf's inline chain. */
static uint32_t copies_in_record(uint32_t function, const hearth_builder_frame *frames, size_t n) {
  uint32_t copies = 0;
  for (size_t i = 0; i < n; i++) {
    copies += frames[i].function == function;
    if (!frames[i].inlined)
      break;
  }
  return copies;
}

static hearth_status import_add_context(hearth_llvm_import *import, const hearth_builder_frame *frames, size_t n,
                                        const hearth_mib *mib) {
  if (mib->AllocCount == 0)
    return HEARTH_OK; /* damaged: the builder keeps no such context; it must not say which fields the run measured */
  const uint64_t times[] = {mib->DeallocTimestamp, mib->MaxLifetime, mib->TotalLifetime / mib->AllocCount};
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
    if (times[i] > import->longest_ns)
      import->longest_ns = times[i];
  import->any_access_count |= mib->TotalAccessCount > 0;
  import->any_density |= mib->TotalLifetimeAccessDensity > 0;
  import->contexts++;
  import->with_column += frames[0].column != 0;
  return hearth_builder_add(import->builder, frames, n, mib, import->err);
}

hearth_status hearth_llvm_import_site(hearth_llvm_import *import, uint32_t function, const hearth_builder_frame *frames,
                                      size_t n, const hearth_mib *mib) {
  bool of_leaf = frames[0].function == function;
  if (of_leaf != (import->pass == HEARTH_LLVM_PASS_LEAF))
    return HEARTH_OK;
  known_stack *stack = NULL;
  XXH128_hash_t id;
  HEARTH_TRY(import_stack_id(import, frames, n, &id));
  uint32_t row = id_table_find(&import->known_by_id, id.low64, import_equal_stack, import, &id);
  if (row == HEARTH_NONE)
    HEARTH_TRY(import_add_known(import, id, function, &stack));
  else
    stack = &import->known[row];
  if (stack->owner != function)
    return HEARTH_OK;

  uint64_t mib_hash = XXH3_64bits(mib, sizeof *mib);
  if (stack->repeats > 0 && stack->last_mib == mib_hash) {
    stack->repeats--;
    return HEARTH_OK;
  }
  uint32_t copies = copies_in_record(function, frames, n);
  stack->repeats = copies ? copies - 1 : 0;
  stack->last_mib = mib_hash;
  return import_add_context(import, frames, n, mib);
}

/* LLVM stores neither how many runs there were nor how long they took: taken for one, as long as its blocks show. */
hearth_status hearth_llvm_import_finish(hearth_llvm_import *import, hearth_llvm_skipped *ret) {
  hearth_profile_summary run = {.runs = 1,
                                .duration_ns = import->longest_ns,
                                .accesses_counted = import->any_access_count,
                                .densities_only = import->any_density && !import->any_access_count};
  ret->columns = import->contexts > 0 && import->with_column == 0;
  if (import->contexts == 0) /* call sites alone: nothing is known of a run, nor were accesses left out of it */
    return HEARTH_OK;
  HEARTH_TRY(hearth_builder_end_run(import->builder, &run, import->err));
  return hearth_builder_add_run(import->builder, &run, import->err);
}

void hearth_llvm_import_free(hearth_llvm_import *import) {
  HEARTH_FREE(import->key, import->known, import->known_by_id.slots);
}

/* Puts into words the data that LLVM's format cannot hold. */

bool hearth_llvm_describe_losses(const hearth_llvm_losses *losses, char *buffer, size_t size) {
  size_t used = 0;
  buffer[0] = '\0';
#define APPEND(...)                                                                                                    \
  do {                                                                                                                 \
    int n_ = snprintf(buffer + used, size - used, __VA_ARGS__);                                                        \
    used = n_ < 0 || (size_t)n_ >= size - used ? size - 1 : used + (size_t)n_;                                         \
  } while (0)
  for (int i = 0, any = 0; i < HEARTH_MIB_COLUMNS; i++)
    if (losses->columns & UINT64_C(1) << i)
      APPEND("%s%s", any++ ? ", " : "LLVM's format has no field for ", hearth_mib_column_name(i));
  if (losses->histograms)
    APPEND("%shistograms of accesses are left out", used ? "; " : "");
  if (losses->summed)
    APPEND("%s%llu contexts differ from others only in fields that it does not hold, and are summed", used ? "; " : "",
           (unsigned long long)losses->summed);
  if (losses->partial)
    APPEND("%saccesses that are known of some runs only are left out", used ? "; " : "");
  if (losses->taken_for_cold)
    APPEND("%saccesses were not counted, so that LLVM takes %llu contexts for cold that live long", used ? "; " : "",
           (unsigned long long)losses->taken_for_cold);
  if (losses->cut)
    APPEND("%s%llu values are too great for their field and stored as its greatest", used ? "; " : "",
           (unsigned long long)losses->cut);
#undef APPEND
  return used > 0;
}

/* ------------------------------------------------ stacks ------------------------------------------------ */

/* Call stacks of a MemProf section. Frames are an array, and all call stacks are one array of u32: at a stack's
 * index its depth, then frame numbers, leaf first; a negative number -k goes on k elements further, in the middle of
 * another stack: shared callers are stored once. */

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
  HEARTH_TRY(hearth_check_memory(stacks->frames, s->in->err));
  for (size_t i = 0; i < count; i++)
    HEARTH_TRY(take_frame(&c, builder, &stacks->frames[i]));
  stacks->frame_count = count;
  return HEARTH_OK;
}

/* ---------------------------------------- one call stack ---------------------------------------- */

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
