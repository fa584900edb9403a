/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runtime's state for a thread, and its critical sections. The state lies in the program's static TLS block, so
 * that reading it never allocates.
 *
 * Order of locks, outermost first: dump, mappings, list of thread caches, stopper (blocks.h), use of thread
 * caches, registers of allocators, records in ascending order, size classes in ascending order, watched blocks,
 * spans. A dump also takes the picks' lock (picks.c), a trace a thread's buffer and then the file
 * (trace_recorder.c). Only these threads hold two: one that takes all locks (a dump, a fork), that uses a thread's
 * cache, that ends an allocator's block, or that needs a span for a size class. */
#ifndef HEARTH_RUNTIME_THREAD_STATE_H
#define HEARTH_RUNTIME_THREAD_STATE_H

#include "lock.h"
#include "os.h"

#include <stdbool.h>
#include <stdint.h>

/* Memory that stack frames may lie in; half open. */
typedef struct hearth_stack_range {
  uintptr_t low, high;
  bool lasting; /* a thread's own: readable as long as code runs on it; others may be unmapped in part any time */
} hearth_stack_range;

#define HEARTH_STACK_RANGES 2 /* the thread's own stack, and a signal stack or coroutine's */

/* The state of the thread's sample (block.h). All zero: to be seeded. */
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

struct hearth_thread_cache;
struct hearth_trace_buffer;

typedef struct hearth_thread_state {
  hearth_guard in_runtime; /* the runtime is calling foreign code, whose allocations are not recorded */
  uint32_t depth;          /* critical sections entered; more than 1: a signal handler interrupted the first */
  uint64_t deferred; /* signals that came within a critical section and are handled at its end; bit N - 1 is signal N */
  hearth_sampler sampler;
  hearth_stack_range stacks[HEARTH_STACK_RANGES]; /* most recent first */
  uintptr_t root;                    /* of its own stack: frames from there on are start code; 0: not known */
  void *signal_stack;                /* that the runtime gave it; NULL: none */
  struct hearth_thread_cache *cache; /* blocks.h; NULL: none yet, or no more */
  bool ends;                         /* it gave its cache back */
  struct hearth_trace_buffer *trace; /* of a trace's events; NULL: none yet, or no more */
  uint32_t trace_number;             /* in a trace, from 1; 0: none yet */
  int64_t live_change;               /* bytes that were not told of yet (history.h) */
  hearth_thread_clock clock;
} hearth_thread_state;

extern _Thread_local hearth_thread_state hearth_this_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Stacks that signal handlers run on. */

/* Give this thread a signal stack, so that the profile survives the overflow of its own; the main thread has one
 * from the start. At the thread's end it is taken back. */
void hearth_signal_stack_begin(void);
void hearth_signal_stack_end(void);

/* -- critical sections ----------------------------------------------------------------------------------------------- */

/* How long a thread that takes all locks has waited for one. All zero: not yet. */
typedef struct hearth_patience {
  uint64_t start_ns;
} hearth_patience;

/* Let others run. False: that was enough. */
bool hearth_patience_left(hearth_patience *patience);

/* For a thread that takes all locks. The interrupted thread keeps a lock that it has. Another thread, too, keeps a lock
 * that it does not give up for long: it is then a signal handler's that waits for us. Returns false in this last
 * case. */
bool hearth_lock_take_or_keep(hearth_lock *lock);
void hearth_lock_give_or_keep(hearth_lock *lock);

/* True while a forked child gives back the locks: those that threads of its parent keep are nobody's there. */
extern bool hearth_lock_others_are_gone __attribute__((visibility("hidden")));

/* Guarded parts: while a thread is in one, its part of the runtime's data may be half changed. A signal handler can
 * interrupt a critical section and call malloc, free or _exit. It must not wait for a lock that is taken, since the
 * holder may wait for one of the interrupted critical section's:
 *
 *   nested malloc   takes a span of its own (heap.c) if it needs a size class that is locked
 *   nested free     puts the block aside if it needs a lock that is taken (blocks.c)
 *   nested dump     keeps the locks that the thread has; what was being added may count in part
 *   own handlers    wait for the end of the critical section, unless the thread itself raised the signal (signals.c)
 *   call stacks     are found without what the thread remembers of its stacks (unwind.c) */

/* The compiler must not move accesses to data that a signal handler looks at. */
#define HEARTH_SIGNAL_FENCE() __atomic_signal_fence(__ATOMIC_SEQ_CST)

static inline void hearth_reentry_enter(void) {
  if (hearth_threads_known)
    ++hearth_this_thread.depth;
  HEARTH_SIGNAL_FENCE();
}

/* Handle signals that came within the critical section that ended. */
void hearth_signals_resume(void);

static inline void hearth_reentry_leave(void) {
  HEARTH_SIGNAL_FENCE();
  if (!hearth_threads_known)
    return;
  --hearth_this_thread.depth;
  HEARTH_SIGNAL_FENCE();
  if (__builtin_expect(hearth_this_thread.deferred != 0, false) && hearth_this_thread.depth == 0)
    hearth_signals_resume();
}

/* The same for a thread that is in no critical section, once threads are known: storing the depth waits for no load. */
static inline void hearth_reentry_enter_first(void) {
  hearth_this_thread.depth = 1;
  HEARTH_SIGNAL_FENCE();
}

/* Returns whether signals came meanwhile: the caller resumes them, or enters another critical section. */
static inline bool hearth_reentry_leave_first(void) {
  HEARTH_SIGNAL_FENCE();
  hearth_this_thread.depth = 0;
  HEARTH_SIGNAL_FENCE();
  return __builtin_expect(hearth_this_thread.deferred != 0, false);
}

/* Did a signal handler enter this critical section while its thread was in one? The second once threads are known. */
static inline bool hearth_reentry_is_nested(void) { return hearth_threads_known && hearth_this_thread.depth > 1; }
static inline bool hearth_reentry_interrupted(void) { return __builtin_expect(hearth_this_thread.depth > 1, false); }

/* Does not wait in a nested critical section. Returns whether the lock was taken. */
static inline bool hearth_reentry_take(hearth_lock *lock) {
  if (__builtin_expect(hearth_reentry_is_nested(), false))
    return hearth_lock_try(lock);
  hearth_lock_take(lock);
  return true;
}

#endif
