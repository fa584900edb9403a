/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Traces: a record of every operation on the heap (docs/formats/trace.md). Each thread has a buffer of events; a
 * full one is packed and added to the file, with the stacks that the file does not have yet. Nothing is recorded in
 * memory besides. */
#ifndef HEARTH_RUNTIME_TRACE_RECORDER_H
#define HEARTH_RUNTIME_TRACE_RECORDER_H

#include "running_profile.h"
#include "thread_state.h"

#include "hearth/trace_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tables of `hearth record`: for a program that it starts; and for one that ran already, which is not executed
 * anew, is neither ended nor told of anything, and whose signals stay as they are. */
extern const hearth_recorder_table hearth_trace_recorder __attribute__((visibility("hidden")));
extern const hearth_recorder_table hearth_trace_guest __attribute__((visibility("hidden")));

/* Add an event; `stack` is its context. */
void hearth_trace_add(const hearth_trace_event *event);

/* preload_start.c; see hearth_recorder_table. */
void hearth_preload_give_up(void);
void hearth_preload_tell_result(void);

/* A trace's file, to which blocks are added. Callers have its lock. */

extern hearth_lock hearth_trace_file_lock __attribute__((visibility("hidden")));

/* Create the file, with its header; it has neither stacks nor mappings. Returns 0 or an error number. */
int hearth_trace_file_begin(void);

/* Add a block; sizes and checksum of `block` are filled in here. False: this or an earlier one could not be written,
 * which a message told; the file ends with the last whole one. */
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

/* The forest of stack nodes that a trace's file has so far. Callers have the lock of the file. */

/* False: no address space. */
bool hearth_trace_stacks_create(void);

/* The node of a context's innermost frame; HEARTH_TRACE_NO_STACK if it has none, or there is no room. New nodes are
 * gathered for the next block, and written when that is full. */
uint32_t hearth_trace_stacks_node(uint32_t context, hearth_packer *packer);

/* Write the block that was gathered, before anything refers to it. */
void hearth_trace_stacks_flush(hearth_packer *packer);

/* Contexts that found no room. */
uint64_t hearth_trace_stacks_dropped(void);

#endif
