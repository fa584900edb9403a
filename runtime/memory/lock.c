/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A futex, on the lower half of the word. A thread that has slept takes the lock as one that others may sleep
 * for: nobody counts them. */
#include "lock.h"

#include <linux/futex.h>
#include <stddef.h>

/* Critical sections take some tens of nanoseconds, a sleep and wake-up some microseconds. */
#define SPINS_BEFORE_SLEEP 100

_Atomic uintptr_t hearth_forking_thread;
bool hearth_threads_known;

static void call_futex(hearth_lock *lock, int operation, uint32_t value) {
  hearth_os_call(SYS_futex, (long)(uintptr_t)&lock->holder, operation, value, 0, 0, 0);
}

static bool take_awaited(hearth_lock *lock) {
  uintptr_t nobody = 0;

  return atomic_compare_exchange_strong_explicit(&lock->holder, &nobody, hearth_lock_self() | HEARTH_LOCK_AWAITED,
                                                 memory_order_acquire, memory_order_relaxed);
}

void hearth_lock_wait(hearth_lock *lock) {
  for (unsigned i = 0; i < SPINS_BEFORE_SLEEP; ++i) {
    if (!atomic_load_explicit(&lock->holder, memory_order_relaxed) && hearth_lock_try(lock))
      return;
    hearth_os_pause();
  }
  while (!take_awaited(lock)) {
    uintptr_t holder = atomic_load_explicit(&lock->holder, memory_order_relaxed),
              awaited = holder | HEARTH_LOCK_AWAITED;
    if (holder &&
        (holder == awaited || atomic_compare_exchange_strong_explicit(&lock->holder, &holder, awaited,
                                                                      memory_order_relaxed, memory_order_relaxed)))
      call_futex(lock, FUTEX_WAIT_PRIVATE, (uint32_t)awaited);
  }
}

void hearth_lock_wake(hearth_lock *lock) { call_futex(lock, FUTEX_WAKE_PRIVATE, 1); }
