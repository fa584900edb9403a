/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runtime's state for a thread. It lies in the program's static TLS block, so that reading it never allocates. */
#ifndef HEARTH_RUNTIME_THREAD_STATE_H
#define HEARTH_RUNTIME_THREAD_STATE_H

#include "guard.h"

#include <stdbool.h>
#include <stdint.h>

/* Memory that stack frames may lie in; half open. */
typedef struct hearth_stack_range {
  uintptr_t low, high;
  bool lasting; /* a thread's own: readable as long as code runs on it; others may be unmapped in part any time */
} hearth_stack_range;

#define HEARTH_STACK_RANGES 2 /* the thread's own stack, and a signal stack or coroutine's */

/* The state of the thread's sample (sample.h). All zero: to be seeded. */
typedef struct hearth_sampler {
  uint64_t random;     /* state of the generator */
  uint64_t bytes_left; /* until the next byte that is drawn, that byte included */
} hearth_sampler;

/* How the thread's clock (clock.h) goes on from where the system's was read: at `ticks` it showed `ns`. */
typedef struct hearth_thread_clock {
  uint64_t ticks, ns;
  uint64_t rate;         /* ns per tick, times 2^HEARTH_CLOCK_SHIFT */
  uint64_t window;       /* ticks after which the system's clock is read again */
  uint64_t shown;        /* the last event's time */
  uint64_t shown_most;   /* a birth reads the ticks when it would be later */
  uint64_t epoch, began; /* of the last reading for an event, and the time of its first event */
  uint64_t random;       /* for the distance to the next reading */
} hearth_thread_clock;

struct hearth_mib_update;
struct hearth_thread_cache;
struct hearth_trace_buffer;

typedef struct hearth_thread_state {
  hearth_guard in_runtime; /* the runtime is calling foreign code, whose allocations are not recorded */
  uint32_t depth;          /* critical sections entered (lock.h); more than 1: a signal handler interrupted the first */
  uint64_t deferred; /* signals that came within a critical section and are handled at its end; bit N - 1 is signal N */
  const struct hearth_mib_update *update; /* NULL: none */
  hearth_sampler sampler;
  hearth_stack_range stacks[HEARTH_STACK_RANGES]; /* most recent first */
  uintptr_t root;                    /* of its own stack: frames from there on are start code; 0: not known */
  void *signal_stack;                /* that the runtime gave it; NULL: none */
  struct hearth_thread_cache *cache; /* thread_cache.h; NULL: none yet, or no more */
  bool ends;                         /* it gave its cache back */
  struct hearth_trace_buffer *trace; /* of a trace's events; NULL: none yet, or no more */
  uint32_t trace_number;             /* in a trace, from 1; 0: none yet */
  int64_t live_change;               /* bytes that were not told of yet (live_dump.h) */
  hearth_thread_clock clock;
} hearth_thread_state;

extern _Thread_local hearth_thread_state hearth_this_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* From the start of the run on; before, the program's TLS may not be there. */
extern bool hearth_threads_known __attribute__((visibility("hidden")));

/* Stacks that signal handlers run on. */

/* Give this thread a signal stack, so that the profile survives the overflow of its own; the main thread has one from the
 * start. At the thread's end it is taken back. */
void hearth_signal_stack_begin(void);
void hearth_signal_stack_end(void);

#endif
