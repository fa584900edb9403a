/* The thread that has cold memory leave makes its rounds when the program says, not by the clock. */
#ifndef COLD_ROUNDS_H
#define COLD_ROUNDS_H

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic unsigned cold_waits, cold_allowed; /* how often the thread has begun to wait, and may go on */

static void cold_change(_Atomic unsigned *word) {
  ++*word;
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void cold_await(_Atomic unsigned *word, unsigned least) {
  for (unsigned at; (at = *word) < least;)
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, at, NULL, NULL, 0);
}

/* In place of the C library's, for the thread. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
  (void)clock, (void)flags, (void)time, (void)left;
  cold_change(&cold_waits);
  cold_await(&cold_allowed, cold_waits);
  return 0;
}

/* Until the thread has begun. There must be one. */
static void await_cold_thread(void) { cold_await(&cold_waits, 1); }

/* A whole round. */
static void cold_round(void) {
  await_cold_thread();
  cold_change(&cold_allowed);
  cold_await(&cold_waits, cold_allowed + 1);
}

/* In a forked child, which has no such thread yet. */
static inline void forget_cold_thread(void) { cold_waits = cold_allowed = 0; }

#endif
