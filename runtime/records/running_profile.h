/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The running profile, which all parts from here on share. It is defined where the program starts
 * (linked/program_entry.c, process/library_entry.c), so that an archive's objects always come with their start.
 * Written while the program has one thread, before its constructors run; afterwards only through the parts' own
 * functions. */
#ifndef HEARTH_RUNTIME_RUNNING_PROFILE_H
#define HEARTH_RUNTIME_RUNNING_PROFILE_H

#include "depot.h"
#include "mib_table.h"
#include "os.h"
#include "runtime_options.h"
#include "thread_state.h"
#include "unwind.h"

#include "hearth/trace_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Access counting needs counters, and code that adds to them. */
typedef enum hearth_access_state {
  HEARTH_ACCESSES_NONE, /* nothing has been instrumented so far: counters are all 0 */
  HEARTH_ACCESSES_COUNTED,
  HEARTH_ACCESSES_UNSUPPORTED /* the counters hold something else (histogram mode), or there are none */
} hearth_access_state;

/* The fast paths of malloc and free (blocks.c). */
typedef enum hearth_path {
  HEARTH_PATH_SLOW, /* there is none: nothing is recorded, contexts are verified, or the counters are those of histogram mode */
  HEARTH_PATH_RECORD, /* all blocks are recorded, with the values of their counters, if there are any */
  HEARTH_PATH_LIVE,   /* all blocks have a context while they are live, and leave no record */
  HEARTH_PATH_SAMPLE, /* most blocks are not recorded */
  HEARTH_PATH_TRACE   /* each operation is recorded for itself (blocks.h) */
} hearth_path;

typedef struct hearth_runtime {
  bool recording;   /* from the end of the start on */
  bool tracing;     /* recording, and each operation for itself; of the preloaded runtime only */
  uint8_t path;     /* hearth_path: of malloc and free, if nothing stands in its way */
  uint8_t accesses; /* hearth_access_state */
  bool live;        /* heap dumps are written, and not profiles: ended blocks are not recorded */
  bool counts_live; /* recording, and live bytes are counted, for their peak */
  bool tracks_peak; /* the same, and there are heap dumps of peaks */
  bool paused;      /* no sample is taken, though the program samples; atomic */
  bool ended;       /* the last profile is written, though code of libraries may still run */
  uint64_t start_ns, start_unix_ns;
  uint64_t pid;            /* of the process that records */
  uint64_t start_number;   /* random: tells processes of one number apart, on other hosts and in other containers */
  uint64_t fork_ns;        /* since the start: blocks allocated before are those of the process that forked this one */
  uint64_t next_due_ns;    /* since the start: when a periodic dump is due; UINT64_MAX: never; atomic */
  uint64_t dropped_blocks; /* not recorded: allocated by foreign code that the runtime called; atomic */
  uint64_t verified_contexts, differing_contexts; /* with verify_contexts=1; atomic */
  hearth_runtime_options options;
  hearth_depot depot;
  hearth_mib_table mibs;
} hearth_runtime;

extern hearth_runtime hearth_rt __attribute__((visibility("hidden")));

/* The additional work of `hearth record`: preload/ sets this table before the start. Everywhere else it is NULL, and
 * the program is an instrumented one. */

typedef struct hearth_recorder_table {
  /* The program ran already: its signals and its loader are left alone, and its blocks are its own allocator's. */
  bool is_guest;

  /* There is no address space to record in: have the program run unrecorded, before anything of it ran. Returns if
   * that is not possible. */
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
