/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The lock of both heaps (lock.h): holders that others have to sleep for, its holder's name, and forks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lock.h"

#include <pthread.h>
#include <sched.h>

#define THREADS 4
#define ROUNDS  20000

static hearth_lock lock;
static unsigned count; /* under the lock */

static void *add(void *unused) {
  for (unsigned i = 0; i < ROUNDS; i++) {
    hearth_lock_take(&lock);
    unsigned seen = count;
    for (unsigned yields = i % 64 == 0 ? 20 : 0; yields > 0; yields--) /* others come, spin, and go to sleep */
      sched_yield();
    count = seen + 1;
    hearth_lock_give(&lock);
  }
  return unused;
}

static void one_thread_has_it_at_a_time(void **state) {
  pthread_t threads[THREADS];

  (void)state;
  for (unsigned i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, add, NULL), 0);
  for (unsigned i = 0; i < THREADS; i++)
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  assert_int_equal(count, THREADS * ROUNDS);
  assert_int_equal(lock.holder, 0);
}

static void *is_mine(void *unused) {
  (void)unused;
  return hearth_lock_is_mine(&lock) || hearth_lock_try(&lock) ? &lock : NULL;
}

static void *by_another_thread(void *(*function)(void *)) {
  pthread_t thread;
  void *result;

  assert_int_equal(pthread_create(&thread, NULL, function, NULL), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  return result;
}

static void it_knows_its_holder(void **state) {
  (void)state;
  assert_false(hearth_lock_is_mine(&lock));
  assert_true(hearth_lock_try(&lock));
  assert_true(hearth_lock_is_mine(&lock));
  assert_false(hearth_lock_try(&lock));
  assert_null(by_another_thread(is_mine));
  lock.holder |= HEARTH_LOCK_AWAITED;
  assert_true(hearth_lock_is_mine(&lock));
  hearth_lock_give(&lock);
  assert_int_equal(lock.holder, 0);
}

/* The thread that forks has all locks: taking and giving change nothing, for it alone. Of two that share the lock, the inner one
 * does not end the fork of the outer one. */
static void fork_handlers_may_allocate(void **state) {
  (void)state;
  hearth_lock_take(&lock);
  uintptr_t outer = hearth_fork_enter(), inner = hearth_fork_enter();
  hearth_lock_take(&lock);
  hearth_lock_give(&lock);
  assert_true(hearth_lock_is_mine(&lock));
  assert_null(by_another_thread(is_mine));
  hearth_fork_leave(inner);
  assert_true(hearth_this_thread_forks());
  hearth_fork_leave(outer);
  assert_false(hearth_this_thread_forks());
  hearth_lock_give(&lock);
  assert_int_equal(lock.holder, 0);
}

int main(void) {
  hearth_threads_known = true;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_thread_has_it_at_a_time),
      cmocka_unit_test(it_knows_its_holder),
      cmocka_unit_test(fork_handlers_may_allocate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
