/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A lock of four bytes that never allocates: pthread mutexes would do, but are ten times the size and their type is
 * not ours to reset in a forked child. Zero-initialised means unlocked. Not recursive, except around fork. */
#ifndef HEARTH_FUTEX_LOCK_H
#define HEARTH_FUTEX_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hearth_futex_lock {
  _Atomic uint32_t state; /* 0 free, 1 held, 2 held and somebody may sleep */
};

/* The calling thread holds all locks of the allocator while it forks. Fork handlers of the program that run meanwhile may
 * allocate and free: acquire and release do nothing then. */
extern _Thread_local bool hearth_thread_is_forking __attribute__((tls_model("initial-exec")));

void hearth_futex_lock_wait(struct hearth_futex_lock *lock);
void hearth_futex_lock_wake(struct hearth_futex_lock *lock);

static inline void hearth_futex_lock_acquire(struct hearth_futex_lock *lock) {
  uint32_t unlocked = 0;
  if (hearth_thread_is_forking)
    return;
  if (!atomic_compare_exchange_strong_explicit(&lock->state, &unlocked, 1, memory_order_acquire, memory_order_relaxed))
    hearth_futex_lock_wait(lock);
}

static inline void hearth_futex_lock_release(struct hearth_futex_lock *lock) {
  if (hearth_thread_is_forking)
    return;
  if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
    hearth_futex_lock_wake(lock);
}

#endif
