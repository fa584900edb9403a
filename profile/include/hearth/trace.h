/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading traces: every operation on a program's heap, as `hearth record --mode=trace` writes it
 * (docs/formats/trace.md). Words:
 *
 *   event   one operation: an allocation or a deallocation; realloc is one of each
 *   block   events of one thread that lie together in the file
 *   node    one address of a call stack, with the node of its caller
 *
 * A file that ends early (the program was killed) is valid as far as it goes. A trace may be read by one thread at a
 * time. */
#ifndef HEARTH_TRACE_H
#define HEARTH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hearth/status.h"
#include "hearth/trace_format.h"

HEARTH_C_BEGIN

typedef struct hearth_trace hearth_trace;

typedef struct hearth_trace_info {
  uint64_t pid;
  uint64_t start_ns, start_unix_ns; /* of the run; all other times count from there */
  uint64_t duration_ns;             /* to the last end that was written, or the last event */
  uint64_t events, nodes, mappings, blocks;
  uint64_t dropped_events, dropped_stacks;
  uint64_t size;           /* bytes of the file */
  uint64_t damaged_blocks; /* that were passed over: their checksums are wrong */
  uint32_t stack_depth;    /* most addresses of a stack */
  bool ended;              /* the program's end is in it; else it was killed, or goes on */
  bool truncated;          /* the file ends within a block */
  const char *command;     /* arguments, each with its NUL; borrowed from the trace */
  size_t command_size;
} hearth_trace_info;

typedef struct hearth_trace_mapping {
  uint64_t start, end;  /* half open */
  uint64_t file_offset; /* of `start` */
  const char *path;     /* NUL-terminated */
  const uint8_t *build_id;
  uint32_t build_id_size;
} hearth_trace_mapping;

/* Open a file, or a trace in memory (borrowed until hearth_trace_close). `name` is for messages; copied. Errors: E_IO,
 * E_FORMAT (no trace), E_VERSION, E_TRUNCATED (not even a header), E_CORRUPT, E_NOMEM. */
hearth_status hearth_trace_open(const char *path, hearth_trace **ret, hearth_error *err);
hearth_status hearth_trace_open_memory(const void *data, size_t size, const char *name, hearth_trace **ret,
                                       hearth_error *err);
void hearth_trace_close(hearth_trace *trace); /* accepts NULL */

/* Do these bytes begin like a trace, of any version? */
bool hearth_trace_is_trace(const void *data, size_t size);

void hearth_trace_get_info(const hearth_trace *trace, hearth_trace_info *ret);

/* Borrowed; as many as info says. HEARTH_TRACE_NO_STACK is the parent of a root. */
const hearth_raw_stack_node *hearth_trace_nodes(const hearth_trace *trace);
const hearth_trace_mapping *hearth_trace_mappings(const hearth_trace *trace);

/* Addresses of the stack of a node, itself included; 0 for HEARTH_TRACE_NO_STACK. */
uint32_t hearth_trace_depth(const hearth_trace *trace, uint32_t node);

/* The events of block `number`, below info.blocks.
 *   ret  room for HEARTH_TRACE_EVENTS_MOST; their stacks are nodes of the trace, or HEARTH_TRACE_NO_STACK
 * Errors: E_CORRUPT, E_NOMEM. */
hearth_status hearth_trace_read_block(hearth_trace *trace, uint64_t number, hearth_trace_event *ret,
                                      uint32_t *ret_count, uint32_t *ret_thread, hearth_error *err);

/* The thread of a block's events, from 1. */
uint32_t hearth_trace_block_thread(const hearth_trace *trace, uint64_t number);

/* Called for each event, whose thread is a number from 1; an error ends the visit. */
typedef hearth_status hearth_trace_visitor(void *data, const hearth_trace_event *event, uint32_t thread,
                                           hearth_error *err);

/* Visit all events by time: of a deallocation that is its begin, of an allocation its end, so that an address is
 * free before it is taken again. Errors: E_CORRUPT, E_NOMEM, and the visitor's. */
hearth_status hearth_trace_visit(hearth_trace *trace, hearth_trace_visitor *visit, void *data, hearth_error *err);

/* "malloc", "realloc-free" ...; NULL for a number that is no kind. */
const char *hearth_trace_kind_name(uint8_t kind);

/* Blocks that are live at a moment of a trace, by address. */
typedef struct hearth_live_block {
  uint64_t address;                /* 0: the row is free */
  uint64_t size, begin_ns, number; /* number: the caller's */
  uint32_t stack;
} hearth_live_block;

/* All zero: none are. */
typedef struct hearth_live_blocks {
  hearth_live_block *rows;
  size_t room, count; /* room: a power of two */
} hearth_live_blocks;

/* Add a block. One that is there already at its address is replaced: *ret_replaced is it then, else its address is
 * 0. False: out of memory. */
bool hearth_live_blocks_add(hearth_live_blocks *live, const hearth_live_block *block, hearth_live_block *ret_replaced);
/* False: no such block is known. */
bool hearth_live_blocks_remove(hearth_live_blocks *live, uint64_t address, hearth_live_block *ret);
void hearth_live_blocks_free(hearth_live_blocks *live);

/* Print all of a trace as text (docs/formats/trace.md, "Text"). Errors: E_CORRUPT, E_NOMEM; those of
 * writing stay in the stream. */
hearth_status hearth_trace_print(hearth_trace *trace, FILE *to, hearth_error *err);

HEARTH_C_END
#endif
