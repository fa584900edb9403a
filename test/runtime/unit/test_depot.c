/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The depot of call stacks: identity, order of frames, callers in common, bounds, numbers of calls in a file, and threads that insert
 * the same stacks at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "depot.h"

#include <pthread.h>
#include <string.h>

static _Thread_local bool is_new; /* of the last insertion */

static void test_same_stack_has_one_id(void **state) {
  (void)state;
  hearth_depot depot;
  const uint64_t stack[] = {0x1000, 0x2000, 0x3000};
  uint64_t stored[3];

  assert_true(hearth_depot_create(&depot, 100, 8));
  uint32_t id = hearth_depot_insert(&depot, stack, 3, &is_new);
  assert_int_not_equal(id, 0);
  assert_true(is_new);
  assert_int_equal(hearth_depot_insert(&depot, stack, 3, &is_new), id);
  assert_false(is_new);
  assert_int_equal(hearth_depot_copy(&depot, id, stored), 3);
  assert_memory_equal(stored, stack, sizeof stack);
  assert_int_equal(hearth_depot_limit(&depot), id + 1);
}

static void test_order_and_length_matter(void **state) {
  (void)state;
  hearth_depot depot;
  const uint64_t stack[] = {0x1000, 0x2000, 0x3000}, swapped[] = {0x2000, 0x1000, 0x3000};

  assert_true(hearth_depot_create(&depot, 100, 8));
  uint32_t whole = hearth_depot_insert(&depot, stack, 3, &is_new);
  uint32_t part = hearth_depot_insert(&depot, stack, 2, &is_new);
  uint32_t other = hearth_depot_insert(&depot, swapped, 3, &is_new);
  assert_int_not_equal(whole, part);
  assert_int_not_equal(whole, other);
  assert_int_not_equal(part, other);
}

static void test_empty_stack_is_context_0(void **state) {
  (void)state;
  hearth_depot depot;
  uint64_t pc = 1;

  assert_true(hearth_depot_create(&depot, 100, 8));
  assert_int_equal(hearth_depot_insert(&depot, NULL, 0, &is_new), 0);
  assert_int_equal(hearth_depot_copy(&depot, 0, &pc), 0);
  assert_int_equal(hearth_depot_dropped(&depot), 0);
}

static void test_full_depot_counts_drops(void **state) {
  (void)state;
  hearth_depot depot;
  uint64_t pc = 0x1000;

  assert_true(hearth_depot_create(&depot, 3, 8));
  for (int i = 0; i < 10; ++i, pc += 0x10) {
    uint32_t id = hearth_depot_insert(&depot, &pc, 1, &is_new);
    assert_int_equal(id != 0, i < 3);
  }
  assert_int_equal(hearth_depot_dropped(&depot), 7);
  pc = 0x1010; /* known stacks are still found */
  assert_int_not_equal(hearth_depot_insert(&depot, &pc, 1, &is_new), 0);
  assert_int_equal(hearth_depot_dropped(&depot), 7);
}

static void test_callers_are_shared(void **state) {
  (void)state;
  hearth_depot depot;
  const uint64_t stack[] = {0x1000, 0x2000, 0x3000}, deeper[] = {0x4000, 0x1000, 0x2000, 0x3000},
                 other[] = {0x5000, 0x2000, 0x3000};

  assert_true(hearth_depot_create(&depot, 100, 8));
  hearth_depot_insert(&depot, stack, 3, &is_new);
  hearth_depot_insert(&depot, deeper, 4, &is_new);
  hearth_depot_insert(&depot, other, 3, &is_new);
  assert_int_equal(depot.call_count - 1, 5);
  uint32_t caller = hearth_depot_insert(&depot, stack + 1, 2, &is_new);
  assert_true(is_new); /* it was a caller, and no stack */
  assert_int_equal(depot.call_count - 1, 5);
  assert_int_equal(hearth_depot_insert(&depot, stack + 1, 2, &is_new), caller);
  assert_false(is_new);
}

static void test_numbers_of_listed_stacks(void **state) {
  (void)state;
  hearth_depot depot;
  const uint64_t left_out[] = {0x4000, 0x2000, 0x3000}, stack[] = {0x1000, 0x2000, 0x3000}, other[] = {0x5000};

  assert_true(hearth_depot_create(&depot, 100, 8));
  hearth_depot_insert(&depot, left_out, 3, &is_new);
  *hearth_depot_list(&depot, 0) = hearth_depot_insert(&depot, other, 1, &is_new);
  *hearth_depot_list(&depot, 1) = hearth_depot_insert(&depot, stack, 3, &is_new);
  for (uint32_t round = 0; round < 2; ++round) { /* numbers of the file before do not matter */
    uint32_t count = 0;
    assert_int_equal(hearth_depot_number_calls(&depot, 2), 4);
    for (uint32_t call = 1; call < depot.call_count; ++call) {
      const hearth_depot_call *at = &depot.calls[call];
      assert_int_equal(at->number != 0, at->pc != 0x4000);
      assert_true(at->number == 0 || (at->number == ++count && depot.calls[at->caller].number < at->number));
    }
    assert_int_equal(hearth_depot_number_calls(&depot, 1), 1);
  }
}

static void test_full_of_addresses_counts_drops(void **state) {
  (void)state;
  hearth_depot depot;
  uint64_t deep[64] = {0x1000};

  assert_true(hearth_depot_create(&depot, 10, 8)); /* 80 addresses */
  assert_int_not_equal(hearth_depot_insert(&depot, deep, 64, &is_new), 0);
  deep[63] = 0x2000;
  assert_int_equal(hearth_depot_insert(&depot, deep, 64, &is_new), 0);
  assert_int_equal(hearth_depot_dropped(&depot), 1);
  deep[63] = 0;
  assert_int_not_equal(hearth_depot_insert(&depot, deep + 1, 63, &is_new), 0); /* known calls are still found */
}

#define THREADS 4
#define STACKS  250000 /* more than the tables have places for */

static hearth_depot shared;
static uint32_t ids[THREADS][STACKS];

static void *insert_all(void *closure) {
  uint32_t *own = closure;

  for (uint64_t i = 0; i < STACKS; ++i) {
    const uint64_t stack[] = {i, i / 7, i / 49};
    own[i] = hearth_depot_insert(&shared, stack, 3, &is_new);
  }
  return NULL;
}

static void test_threads_agree(void **state) {
  (void)state;
  pthread_t threads[THREADS];

  /* Threads that lose a race leave an id without use behind. */
  assert_true(hearth_depot_create(&shared, THREADS * STACKS, 3));
  for (int i = 0; i < THREADS; ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, insert_all, ids[i]), 0);
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  assert_int_equal(hearth_depot_dropped(&shared), 0);
  for (uint64_t i = 0; i < STACKS; ++i) {
    const uint64_t stack[] = {i, i / 7, i / 49};
    uint64_t stored[3];
    for (int t = 1; t < THREADS; ++t)
      assert_int_equal(ids[t][i], ids[0][i]);
    assert_int_equal(hearth_depot_copy(&shared, ids[0][i], stored), 3);
    assert_memory_equal(stored, stack, sizeof stack);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_stack_has_one_id),
      cmocka_unit_test(test_order_and_length_matter),
      cmocka_unit_test(test_empty_stack_is_context_0),
      cmocka_unit_test(test_full_depot_counts_drops),
      cmocka_unit_test(test_callers_are_shared),
      cmocka_unit_test(test_numbers_of_listed_stacks),
      cmocka_unit_test(test_full_of_addresses_counts_drops),
      cmocka_unit_test(test_threads_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
