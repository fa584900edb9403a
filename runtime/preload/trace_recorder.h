/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Traces: a record of every operation on the heap (docs/formats/trace.md). Each thread has a buffer of events; a full one
 * is packed and added to the file, with the stacks that the file does not have yet. Nothing is recorded in memory besides. */
#ifndef HEARTH_RUNTIME_TRACE_RECORDER_H
#define HEARTH_RUNTIME_TRACE_RECORDER_H

#include "unwind.h"

#include "hearth/trace_blocks.h"

#include <stdbool.h>
#include <stddef.h>

/* Begin the file. False, after a message: there is none. */
bool hearth_trace_begin(void);

/* The same after the end of a trace: what came too late for that one is forgotten. */
bool hearth_trace_begin_again(void);

/* The operations of blocks.h, recorded. */
void *hearth_trace_allocate(hearth_trace_kind kind, size_t size, size_t alignment, const hearth_frame *frame);
void *hearth_trace_allocate_zeroed(size_t count, size_t size, const hearth_frame *frame);
void *hearth_trace_resize(void *pointer, size_t size, const hearth_frame *frame);
void hearth_trace_release(hearth_trace_kind kind, void *pointer, const char *function, const hearth_frame *frame);

/* Add an event; `stack` is its context. */
void hearth_trace_add(const hearth_trace_event *event);

/* Write the contents of all threads' buffers. The dumping thread calls it. Returns whether they were written. */
bool hearth_trace_flush(void);

/* This thread ends: its buffer is written, and becomes another one's. In a critical section. */
void hearth_trace_end_thread(void);

/* In a forked child, before it records anything: forget the parent's events; a file of its own begins. */
void hearth_trace_begin_child(void);

#endif
