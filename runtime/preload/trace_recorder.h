/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Traces: a record of every operation on the heap (docs/formats/trace.md). Each thread has a buffer of events; a full one
 * is packed and added to the file, with the stacks that the file does not have yet. Nothing is recorded in memory besides. */
#ifndef HEARTH_RUNTIME_TRACE_RECORDER_H
#define HEARTH_RUNTIME_TRACE_RECORDER_H

#include "running_profile.h"

#include "hearth/trace_blocks.h"

/* The tables of `hearth record`: for a program that it starts; and for one that ran already, which is not executed anew,
 * is neither ended nor told of anything, and whose signals stay as they are. */
extern const hearth_recorder_table hearth_trace_recorder __attribute__((visibility("hidden")));
extern const hearth_recorder_table hearth_trace_guest __attribute__((visibility("hidden")));

/* Add an event; `stack` is its context. */
void hearth_trace_add(const hearth_trace_event *event);

/* preload_start.c; see hearth_recorder_table. */
void hearth_preload_give_up(void);
void hearth_preload_tell_result(void);

#endif
