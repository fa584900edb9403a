/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The MemProf section of an LLVM profile, versions 2 to 4: its head, and the call stacks that its records refer to. */
#ifndef HEARTH_LLVM_SECTION_H
#define HEARTH_LLVM_SECTION_H

#include "hash_table.h"
#include "hearth/builder.h"
#include "hearth/llvm_container.h"
#include "records.h"

/* More frames than any profile has: a damaged length must not cost time and memory without end. */
#define HEARTH_LLVM_STACK_LIMIT 65536u

typedef struct hearth_llvm_section {
  const hearth_llvm_input *in;
  uint32_t version;
  uint32_t tags[HEARTH_LLVM_MIB_LIMIT]; /* the schema */
  uint32_t tag_count, mib_bytes;
  uint64_t records, records_control; /* payload and control block of the table of records */
  uint64_t frames, frames_control;   /* version 2: hash tables, by id; later arrays: begin and end */
  uint64_t stacks, stacks_control;
  uint64_t data_accesses; /* version 4: of the profile of static data; 0: none */
} hearth_llvm_section;

hearth_status hearth_llvm_section_open(const hearth_llvm_input *in, uint64_t offset, hearth_llvm_section *ret);

typedef struct hearth_llvm_stack_row {
  uint64_t id;
  hearth_llvm_cursor frame_ids;
} hearth_llvm_stack_row;

/* Frames, with the builder's numbers of their functions; and in version 2 where each call stack stands. */
typedef struct hearth_llvm_stacks {
  const hearth_llvm_section *section;
  hearth_builder_frame *frames;
  uint64_t *frame_ids;         /* version 2: of `frames`, ascending */
  hearth_llvm_stack_row *rows; /* version 2: by id */
  size_t frame_count, row_count;
  hearth_builder_frame *buffer; /* the call stack read last */
  size_t buffer_room;
} hearth_llvm_stacks;

/* Read all frames; functions are added to `builder`. To be freed also after an error. */
hearth_status hearth_llvm_stacks_load(const hearth_llvm_section *section, hearth_builder *builder,
                                      hearth_llvm_stacks *ret);
void hearth_llvm_stacks_free(hearth_llvm_stacks *stacks);
/* Take the reference to a call stack from a record, and read its frames, leaf first, at least one. They live until the
 * next call. */
hearth_status hearth_llvm_stacks_take(hearth_llvm_stacks *stacks, hearth_llvm_cursor *record,
                                      const hearth_builder_frame **ret_frames, size_t *ret_count);

#endif
