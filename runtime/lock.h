/* Spin lock for sections of a few instructions. Never held while foreign code runs. All zero is unlocked.
 *
 * Order, outermost first: dump, size classes in ascending order, runs of units, records in ascending order. */
#ifndef HEARTH_RUNTIME_LOCK_H
#define HEARTH_RUNTIME_LOCK_H

#include "os.h"

typedef struct hearth_lock {
  uint32_t taken;
} hearth_lock;

static inline void hearth_lock_take(hearth_lock *lock) {
  unsigned waited = 0;

  while (__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE))
    while (__atomic_load_n(&lock->taken, __ATOMIC_RELAXED)) {
      /* The holder may have been preempted: then only yielding helps. */
      if (++waited % 128 == 0)
        hearth_os_yield();
      else
        __builtin_ia32_pause();
    }
}

static inline void hearth_lock_give(hearth_lock *lock) { __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE); }

#endif
