/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The additional work of `hearth record`: preload/ sets this table before the start. Everywhere else it is NULL, and
 * the program is an instrumented one. */
#ifndef HEARTH_RUNTIME_RECORDER_H
#define HEARTH_RUNTIME_RECORDER_H

#include "lock.h"
#include "unwind.h"

#include "hearth/trace_blocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hearth_recorder_table {
  /* The program ran already: its signals and its loader are left alone, and its blocks are its own allocator's. */
  bool is_guest;

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

/* Calls from the heap up into process/, which sets them at the start. */

typedef struct hearth_heap_hooks {
  /* Write the dumps that are due now, in ns since the start. Outside of critical sections. */
  void (*dump_due)(uint64_t now_ns);

  /* In a forked child, forget its parent's records, before anything is recorded; other libraries' fork handlers may
   * allocate before the runtime's own. Does nothing at other times. */
  void (*watch_child)(void);
} hearth_heap_hooks;

/* Until the start, both do nothing. */
extern hearth_heap_hooks hearth_hooks __attribute__((visibility("hidden")));

static inline void hearth_watch_forks(void) {
  if (hearth_this_thread_forks())
    hearth_hooks.watch_child();
}

#endif
