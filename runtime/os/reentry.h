/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Guarded parts: while a thread is in one, its part of the runtime's data may be half changed. A signal handler can interrupt
 * a critical section and call malloc, free or _exit. It must not wait for a lock that is taken, since the holder may wait for one
 * of the interrupted critical section's:
 *
 *   nested malloc   takes from a size class that nobody has locked (heap.c), unless the thread's cache is free
 *   nested free     puts the block aside if it needs a lock that is taken (blocks.c)
 *   nested dump     keeps the locks that the thread has, and completes the update that it was making (mib_table.c)
 *   own handlers    wait for the end of the critical section, unless the thread itself raised the signal (signals.c)
 *   call stacks     are found without what the thread remembers of its stacks (unwind.c) */
#ifndef HEARTH_RUNTIME_REENTRY_H
#define HEARTH_RUNTIME_REENTRY_H

#include "lock.h"
#include "thread_state.h"

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
