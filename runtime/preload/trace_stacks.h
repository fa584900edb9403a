/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The forest of stack nodes that a trace's file has so far. Callers have the lock of the file. */
#ifndef HEARTH_RUNTIME_TRACE_STACKS_H
#define HEARTH_RUNTIME_TRACE_STACKS_H

#include "pack.h"

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
