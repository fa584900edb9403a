/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A futex with three states: free, taken, taken and waited for. */
#define _GNU_SOURCE
#include "futex_lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sections under these locks take some tens of nanoseconds, a sleep and wake-up some microseconds. */
enum { SPINS_BEFORE_SLEEP = 100 };

_Thread_local bool hearth_thread_is_forking __attribute__((tls_model("initial-exec")));

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

void hearth_futex_lock_wait(struct hearth_futex_lock *lock) {
  for (int i = 0; i < SPINS_BEFORE_SLEEP; i++) {
    uint32_t unlocked = 0;
    if (!atomic_load_explicit(&lock->state, memory_order_relaxed) &&
        atomic_compare_exchange_strong_explicit(&lock->state, &unlocked, 1, memory_order_acquire, memory_order_relaxed))
      return;
    pause_briefly();
  }
  int saved_errno = errno;
  while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire))
    syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
  errno = saved_errno;
}

void hearth_futex_lock_wake(struct hearth_futex_lock *lock) {
  int saved_errno = errno;
  syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  errno = saved_errno;
}
