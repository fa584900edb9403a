/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The additional work of `hearth record`: preload/ sets this table before the start. Everywhere else it is NULL, and
 * the program is an instrumented one. */
#ifndef HEARTH_RUNTIME_RECORDER_H
#define HEARTH_RUNTIME_RECORDER_H

#include "unwind.h"

#include "hearth/trace_blocks.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct hearth_recorder_table {
  /* There is no address space to record in: have the program run unrecorded, before anything of it ran. Returns if that is not
   * possible. */
  void (*give_up)(void);

  /* Begin the file of a trace. False, after a message: there is none. */
  bool (*begin)(void);

  /* The operations of blocks.h, recorded in the trace. */
  void *(*allocate)(hearth_trace_kind kind, size_t size, size_t alignment, const hearth_frame *frame);
  void *(*allocate_zeroed)(size_t count, size_t size, const hearth_frame *frame);
  void *(*resize)(void *pointer, size_t size, const hearth_frame *frame);
  void (*release)(hearth_trace_kind kind, void *pointer, const char *function, const hearth_frame *frame);

  /* Write the contents of all threads' buffers. The dumping thread calls it. Returns whether they were written. */
  bool (*flush)(void);

  /* This thread ends: its buffer is written, and becomes another one's. In a critical section. */
  void (*end_thread)(void);

  /* In a forked child, before it records anything: forget the parent's events; a file of its own begins. */
  void (*begin_child)(void);

  /* The last profile, trace or heap dump was written: tell where it is. */
  void (*tell_result)(void);
} hearth_recorder_table;

extern const hearth_recorder_table *hearth_recorder __attribute__((visibility("hidden")));

#endif
