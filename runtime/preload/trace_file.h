/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A trace's file, to which blocks are added. Callers have its lock. */
#ifndef HEARTH_RUNTIME_TRACE_FILE_H
#define HEARTH_RUNTIME_TRACE_FILE_H

#include "thread_state.h"

#include "hearth/trace_blocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern hearth_lock hearth_trace_file_lock __attribute__((visibility("hidden")));

/* Create the file, with its header. Returns 0 or an error number. */
int hearth_trace_file_begin(void);

/* Add a block; sizes and checksum of `block` are filled in here. False: this or an earlier one could not be written, which
 * a message told; the file ends with the last whole one. */
bool hearth_trace_file_add(hearth_trace_block *block, const void *payload, size_t size);

const char *hearth_trace_file_name(void);

/* Say where the file is, if that is wanted. */
void hearth_trace_file_tell(void);

/* Payloads of a trace's blocks: columns, each compressed for itself (docs/formats/trace.md, "Columns"). zstd works in
 * memory that is given to it and calls no allocator. */

typedef struct hearth_packer {
  void *compressor; /* ZSTD_CCtx */
  uint8_t *packed;  /* the payload so far */
  size_t size, room;
} hearth_packer;

/* Memory that a packer needs for payloads of `most` bytes before compression. */
size_t hearth_packer_memory(size_t most);

/* Set up in that memory. False: zstd refuses it. */
bool hearth_packer_create(hearth_packer *packer, void *memory, size_t most);

/* Begin a payload; earlier columns are gone. */
void hearth_packer_begin(hearth_packer *packer);

/* Add the next column; stored uncompressed where compression gains nothing. */
void hearth_packer_add(hearth_packer *packer, const void *column, size_t size);

/* The block of mappings of a trace. Callers have the lock of the file. */

/* Write all mappings that are known, if there are more of them than before. */
void hearth_trace_mappings_add(hearth_packer *packer);

/* The file is another one: it has none. */
void hearth_trace_mappings_forget(void);

/* The forest of stack nodes that a trace's file has so far. Callers have the lock of the file. */

/* Room for the stacks of so many contexts. False: no address space. */
bool hearth_trace_stacks_create(uint32_t most_contexts);

/* The node of a context's innermost frame; HEARTH_TRACE_NO_STACK if it has none, or there is no room. New nodes are
 * gathered for the next block, and written when that is full. */
uint32_t hearth_trace_stacks_node(uint32_t context, hearth_packer *packer);

/* Write the block that was gathered, before anything refers to it. */
void hearth_trace_stacks_flush(hearth_packer *packer);

/* The file is another one: it has no nodes. */
void hearth_trace_stacks_forget(void);

/* Contexts that found no room. */
uint64_t hearth_trace_stacks_dropped(void);

#endif
