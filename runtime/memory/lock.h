/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Locks, and guards around foreign code. A lock is never held while foreign code runs. All zero is unlocked; not
 * recursive, except around fork. A thread that has to wait spins for a while, then sleeps.
 *
 * A lock knows its holder: a signal handler may have interrupted its own thread while that holds a lock, and must not
 * wait for it (thread_state.h). */
#ifndef HEARTH_MEMORY_LOCK_H
#define HEARTH_MEMORY_LOCK_H

#include "machine.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct hearth_lock {
  _Atomic uintptr_t holder; /* hearth_lock_self() of the thread that has it, 0: none has; and HEARTH_LOCK_AWAITED */
  bool kept;                /* hearth_lock_take_or_keep() did not get it (thread_state.h) */
} hearth_lock;

#define HEARTH_LOCK_AWAITED ((uintptr_t)1) /* somebody may sleep */

/* The thread (its thread pointer) that holds all locks because it forks, 0 if none does. Other libraries' fork handlers
 * run meanwhile and may allocate: for that thread, taking and giving do nothing. Not thread-local: locks are taken
 * before a program's TLS is there. */
extern _Atomic uintptr_t hearth_forking_thread __attribute__((visibility("hidden")));

static inline bool hearth_this_thread_forks(void) {
  uintptr_t thread = atomic_load_explicit(&hearth_forking_thread, memory_order_relaxed);

  return __builtin_expect(thread != 0, false) && thread == hearth_os_thread_pointer();
}

/* This thread has taken all locks and forks; and has forked, in parent and child. The runtime and the allocator may
 * be in one static program, and each has fork handlers: the value that the first one returns is the second one's
 * argument. */
static inline uintptr_t hearth_fork_enter(void) {
  return atomic_exchange_explicit(&hearth_forking_thread, hearth_os_thread_pointer(), memory_order_relaxed);
}

static inline void hearth_fork_leave(uintptr_t outer) {
  atomic_store_explicit(&hearth_forking_thread, outer, memory_order_relaxed);
}

/* From the start of a profiled run on; before, there is one thread, and the program's TLS may not be there. */
extern bool hearth_threads_known __attribute__((visibility("hidden")));

static inline uintptr_t hearth_lock_self(void) {
  return hearth_threads_known ? hearth_os_thread_pointer() : 2 * HEARTH_LOCK_AWAITED;
}

static inline bool hearth_lock_is_mine(const hearth_lock *lock) {
  return (atomic_load_explicit(&lock->holder, memory_order_relaxed) & ~HEARTH_LOCK_AWAITED) == hearth_lock_self();
}

static inline bool hearth_lock_try(hearth_lock *lock) {
  uintptr_t nobody = 0;

  return hearth_this_thread_forks() ||
         atomic_compare_exchange_strong_explicit(&lock->holder, &nobody, hearth_lock_self(), memory_order_acquire,
                                                 memory_order_relaxed);
}

/* For the two below. */
void hearth_lock_wait(hearth_lock *lock) __attribute__((visibility("hidden")));
void hearth_lock_wake(hearth_lock *lock) __attribute__((visibility("hidden")));

static inline void hearth_lock_take(hearth_lock *lock) {
  if (!hearth_lock_try(lock))
    hearth_lock_wait(lock);
}

static inline void hearth_lock_give(hearth_lock *lock) {
  if (!hearth_this_thread_forks() &&
      atomic_exchange_explicit(&lock->holder, 0, memory_order_release) & HEARTH_LOCK_AWAITED)
    hearth_lock_wake(lock);
}

/* Guards around foreign code: a flag that says that this thread (or this program) is within a call of a function
 * that is not ours, and that may call us again on its way, as dlsym calls free.
 *
 * The flag has to be in memory while that function runs, and no compiler sees the use of it: glibc declares dlsym,
 * pthread_setspecific, sigaction and most others `leaf`, which promises that they do not come back into the file that
 * calls them, so that to gcc a store to a static flag before the call is dead. They do come back, by the names of ours
 * that stand before libc's. So the flag is volatile, and only the code below reads and writes it. */

typedef struct hearth_guard {
  volatile bool held; /* all zero: not held */
} hearth_guard;

static inline bool hearth_guard_is_held(const hearth_guard *guard) { return guard->held; }

/* Returns whether it was held already, which is hearth_guard_leave's second argument: guards nest. */
static inline bool hearth_guard_enter(hearth_guard *guard) {
  bool outer = guard->held;
  guard->held = true;
  return outer;
}

static inline void hearth_guard_leave(hearth_guard *guard, bool outer) { guard->held = outer; }

#endif
