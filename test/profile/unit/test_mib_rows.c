/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* MIBs in as few bytes as their columns need: what was put in comes out, however wide it gets. */
#include "profile_fixture.h"

#include "mib_rows.h"

enum { ROWS = 3000 };

static hearth_mib random_mib(uint64_t *seed, unsigned bits) {
  hearth_mib mib;
  for (size_t i = 0; i < HEARTH_MIB_COLUMNS; i++)
    mib.v[i] = (((uint64_t)next_random(seed) << 32) | next_random(seed)) >> (64 - next_random(seed) % bits - 1);
  return mib;
}

static void rows_keep_their_numbers(void **state) {
  static hearth_mib expected[ROWS];
  mib_rows rows = {0};
  uint64_t seed = 5;
  (void)state;
  for (size_t i = 0; i < ROWS; i++) {
    unsigned bits = i < ROWS / 2 ? 12 : 64; /* columns are widened while many rows are there */
    expected[i] = random_mib(&seed, bits);
    assert_true(hearth_mib_rows_append(&rows, &expected[i]));
    size_t changed = next_random(&seed) % (i + 1);
    expected[changed] = random_mib(&seed, bits);
    assert_true(hearth_mib_rows_set(&rows, changed, &expected[changed]));
  }
  assert_int_equal(rows.count, ROWS);
  for (size_t i = 0; i < ROWS; i++) {
    hearth_mib mib;
    hearth_mib_rows_get(&rows, i, &mib);
    assert_memory_equal(&mib, &expected[i], sizeof mib);
  }
  hearth_mib_rows_free(&rows);
}

static void small_numbers_take_little_room(void **state) {
  mib_rows rows = {0};
  hearth_mib mib = {.AllocCount = 255, .TotalSize = 256};
  (void)state;
  assert_true(hearth_mib_rows_append(&rows, &mib));
  assert_int_equal(rows.row_size, 3);
  mib.AllocCount = 0;
  assert_true(hearth_mib_rows_set(&rows, 0, &mib));
  hearth_mib_rows_get(&rows, 0, &mib);
  assert_int_equal(mib.TotalSize, 256);
  assert_int_equal(mib.AllocCount, 0);
  hearth_mib_rows_free(&rows);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_keep_their_numbers),
      cmocka_unit_test(small_numbers_take_little_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
