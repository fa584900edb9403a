/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Growing arrays, comparisons and binary search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "array.h"

static void elements_stay_where_they_were_put(void **state) {
  (void)state;
  uint32_t *numbers = NULL;
  size_t capacity = 0;
  for (uint32_t i = 0; i < 1000; i++) {
    assert_true(hearth_array_grow(&numbers, &capacity, i, sizeof *numbers));
    assert_true(capacity > i);
    numbers[i] = i * 3;
  }
  size_t before = capacity;
  assert_true(hearth_array_reserve(&numbers, &capacity, 1000, before - 1000, sizeof *numbers));
  assert_int_equal(capacity, before);
  assert_true(hearth_array_reserve(&numbers, &capacity, 1000, 50000, sizeof *numbers));
  assert_true(capacity >= 51000);
  for (uint32_t i = 0; i < 1000; i++)
    assert_int_equal(numbers[i], i * 3);
  free(numbers);
}

/* No sum or product wraps round to a small size. */
static void impossible_sizes_are_refused(void **state) {
  (void)state;
  uint64_t *numbers = NULL;
  size_t capacity = 0;
  const size_t most[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 8, SIZE_MAX / 8 + 2, SIZE_MAX / 16 + 1};
  for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
    assert_false(hearth_array_reserve(&numbers, &capacity, 0, most[i], sizeof *numbers));
    assert_null(numbers);
    assert_int_equal(capacity, 0);
  }
}

static void new_array_is_zero_and_never_null(void **state) {
  (void)state;
  uint64_t *none, *some;
  assert_int_equal(hearth_array_create(&none, 0, sizeof *none, NULL), HEARTH_OK);
  assert_non_null(none);
  assert_int_equal(hearth_array_create(&some, 9, sizeof *some, NULL), HEARTH_OK);
  for (size_t i = 0; i < 10; i++)
    assert_int_equal(some[i], 0);
  free(none);
  free(some);
}

typedef struct row {
  uint64_t id;
  char name;
} row;

static void numbers_are_compared_whole(void **state) {
  (void)state;
  row low = {UINT64_C(1) << 63, 'a'}, high = {UINT64_MAX, 'b'};
  assert_true(hearth_compare_u64(&low, &high) < 0);
  assert_true(hearth_compare_u64(&high, &low) > 0);
  assert_int_equal(hearth_compare_u64(&low, &(row){low.id, 'c'}), 0);
}

/* Behind all that are equal, too. */
static int never_equal(const void *key, const void *item) { return hearth_compare_u64(key, item) < 0 ? -1 : 1; }

/* Against a linear search, in arrays of each length with each item twice. */
static void bounds_are_those_of_a_linear_search(void **state) {
  (void)state;
  row rows[40];
  for (size_t count = 0; count <= 40; count++) {
    for (size_t i = 0; i < count; i++)
      rows[i] = (row){10 * (i / 2 + 1), 'x'};
    for (uint64_t key = 0; key < 220; key++) {
      size_t lower = 0, upper = 0;
      while (lower < count && rows[lower].id < key)
        lower++;
      while (upper < count && rows[upper].id <= key)
        upper++;
      assert_int_equal(hearth_lower_bound(&key, rows, count, sizeof *rows, hearth_compare_u64), lower);
      assert_int_equal(hearth_lower_bound(&key, rows, count, sizeof *rows, never_equal), upper);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elements_stay_where_they_were_put),   cmocka_unit_test(impossible_sizes_are_refused),
      cmocka_unit_test(new_array_is_zero_and_never_null),    cmocka_unit_test(numbers_are_compared_whole),
      cmocka_unit_test(bounds_are_those_of_a_linear_search),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
