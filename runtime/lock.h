/* Spin lock for sections of a few instructions. Never held while foreign code runs. All zero is unlocked.
 *
 * Order, outermost first: dump, size classes in ascending order, runs of units, records in ascending order. */
#ifndef HEARTH_RUNTIME_LOCK_H
#define HEARTH_RUNTIME_LOCK_H

#include "os.h"

typedef struct hearth_lock {
  uint32_t taken;
} hearth_lock;

/* The thread (its thread pointer) that holds all locks because it forks, 0 if none does. Other libraries' fork handlers
 * run meanwhile and may allocate: for that thread, taking and giving do nothing. Not thread-local: locks are taken
 * before a program's TLS is there. */
extern uintptr_t hearth_forking_thread __attribute__((visibility("hidden")));

static inline bool hearth_this_thread_forks(void) {
  uintptr_t thread = __atomic_load_n(&hearth_forking_thread, __ATOMIC_RELAXED);

  return __builtin_expect(thread != 0, false) && thread == hearth_os_thread_pointer();
}

static inline void hearth_lock_take(hearth_lock *lock) {
  unsigned waited = 0;

  if (hearth_this_thread_forks())
    return;
  while (__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE))
    while (__atomic_load_n(&lock->taken, __ATOMIC_RELAXED)) {
      /* The holder may have been preempted: then only yielding helps. */
      if (++waited % 128 == 0)
        hearth_os_yield();
      else
        __builtin_ia32_pause();
    }
}

static inline void hearth_lock_give(hearth_lock *lock) {
  if (!hearth_this_thread_forks())
    __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
}

#endif
