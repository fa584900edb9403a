/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Spin lock for critical sections of a few instructions. Never held while foreign code runs. All zero is unlocked.
 *
 * Order, outermost first: dump, mappings, list of thread caches, stopper (thread_cache.h), use of thread caches,
 * registers of allocators in ascending order, records in ascending order, histograms, size classes in ascending order,
 * spans. Only these threads hold two: one that takes all locks (a dump, a fork), that uses a thread's cache, that ends
 * an allocator's block, that needs memory for a record's histogram, or that needs a span for a size class.
 *
 * A lock knows its holder: a signal handler may have interrupted its own thread while that holds a lock, and must not
 * wait for it. */
#ifndef HEARTH_RUNTIME_LOCK_H
#define HEARTH_RUNTIME_LOCK_H

#include "os.h"
#include "thread_state.h"

typedef struct hearth_lock {
  uintptr_t holder; /* hearth_lock_self() of the thread that has it, 0: none has */
  bool kept;        /* hearth_lock_take_or_keep() did not get it */
} hearth_lock;

/* The thread (its thread pointer) that holds all locks because it forks, 0 if none does. Other libraries' fork handlers
 * run meanwhile and may allocate: for that thread, taking and giving do nothing. Not thread-local: locks are taken
 * before a program's TLS is there. */
extern uintptr_t hearth_forking_thread __attribute__((visibility("hidden")));

static inline bool hearth_this_thread_forks(void) {
  uintptr_t thread = __atomic_load_n(&hearth_forking_thread, __ATOMIC_RELAXED);

  return __builtin_expect(thread != 0, false) && thread == hearth_os_thread_pointer();
}

/* Before threads are known there is one. */
static inline uintptr_t hearth_lock_self(void) { return hearth_threads_known ? hearth_os_thread_pointer() : 1; }

static inline bool hearth_lock_is_mine(const hearth_lock *lock) {
  return __atomic_load_n(&lock->holder, __ATOMIC_RELAXED) == hearth_lock_self();
}

static inline void hearth_lock_take(hearth_lock *lock) {
  uintptr_t self, nobody = 0;
  unsigned waited = 0;

  if (hearth_this_thread_forks())
    return;
  self = hearth_lock_self();
  while (!__atomic_compare_exchange_n(&lock->holder, &nobody, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    while (__atomic_load_n(&lock->holder, __ATOMIC_RELAXED)) {
      /* The holder may have been preempted: then only yielding helps. */
      if (++waited % 128 == 0)
        hearth_os_yield();
      else
        hearth_os_pause();
    }
    nobody = 0;
  }
}

static inline void hearth_lock_give(hearth_lock *lock) {
  if (!hearth_this_thread_forks())
    __atomic_store_n(&lock->holder, 0, __ATOMIC_RELEASE);
}

static inline bool hearth_lock_try(hearth_lock *lock) {
  uintptr_t nobody = 0;

  return hearth_this_thread_forks() || __atomic_compare_exchange_n(&lock->holder, &nobody, hearth_lock_self(), false,
                                                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

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

/* Guarded parts: while a thread is in one, its part of the runtime's data may be half changed. A signal handler can interrupt
 * a critical section and call malloc, free or _exit. It must not wait for a lock that is taken, since the holder may wait for one
 * of the interrupted critical section's:
 *
 *   nested malloc   takes from a size class that nobody has locked (heap.c), unless the thread's cache is free
 *   nested free     puts the block aside if it needs a lock that is taken (blocks.c)
 *   nested dump     keeps the locks that the thread has, and completes the update that it was making (mib_table.c)
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
