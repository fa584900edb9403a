/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers and records as raw profiles have them. */
#include "raw_files.h"

/* Numbers of every length and sign come back, whatever comes before them. */
static void test_packed_numbers(void **state) {
  (void)state;
  uint64_t random = 1;
  hearth_raw_mib previous = {0}, record, found;
  for (int round = 0; round < 20000; ++round) {
    uint8_t packed[HEARTH_RAW_MIB_MOST];
    for (size_t i = 0; i < HEARTH_MIB_COLUMNS; ++i) {
      random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      record.mib.v[i] = random >> 32 & 1 ? UINT64_MAX >> (random >> 58) : (random >> 20) >> (random >> 59);
    }
    record.stack = (uint32_t)(random >> 33);
    const uint8_t *end = hearth_raw_put_mib(packed, &record, &previous), *from = packed, *cut = packed;
    assert_true(end <= packed + sizeof packed);
    assert_true(hearth_raw_take_mib(&from, end, &previous, &found));
    assert_ptr_equal(from, end);
    assert_int_equal(found.stack, record.stack);
    assert_memory_equal(&found.mib, &record.mib, sizeof found.mib);
    assert_false(hearth_raw_take_mib(&cut, end - 1, &previous, &found));
    previous = record;
  }
}

/* Numbers of every length, passed over and taken: both end at the same byte, or both fail where they are cut. */
static void test_skipped_numbers(void **state) {
  uint8_t packed[64 * HEARTH_RAW_VARINT_MOST], *end = packed;
  const uint8_t *begins[65];
  uint64_t number = 1;
  (void)state;
  for (unsigned i = 0; i < 64; i++) {
    begins[i] = end;
    number = number * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    end = hearth_raw_put_varint(end, number >> (i * 7 + i / 16 * 5) % 64);
  }
  begins[64] = end;
  for (unsigned first = 0; first < 64; first++)
    for (unsigned count = 1; count <= 64 - first; count++)
      for (int cut = 0; cut < 3; cut++) {
        const uint8_t *skipped = begins[first], *taken = skipped, *stop = cut ? begins[first + count] + 1 - cut : end;
        bool good = true;
        for (unsigned i = 0; i < count && good; i++) {
          good = hearth_raw_take_varint(&taken, stop, &number);
          assert_true(!good || taken == begins[first + i + 1]);
        }
        assert_int_equal(hearth_raw_skip_varints(&skipped, stop, count), good);
        assert_true(!good || skipped == taken);
      }
}

/* More than 64 bits, and ten bytes that hold just so many. */
static void test_longest_numbers(void **state) {
  uint8_t packed[HEARTH_RAW_VARINT_MOST + 8] = {0};
  (void)state;
  for (unsigned last = 1; last < 4; last++) {
    const uint8_t *taken = packed, *skipped = packed;
    uint64_t number;
    memset(packed, 255, HEARTH_RAW_VARINT_MOST - 1);
    packed[HEARTH_RAW_VARINT_MOST - 1] = (uint8_t)last;
    assert_int_equal(hearth_raw_take_varint(&taken, packed + sizeof packed, &number), last == 1);
    assert_int_equal(hearth_raw_skip_varints(&skipped, packed + sizeof packed, 1), last == 1);
    if (last == 1)
      assert_true(number == UINT64_MAX && skipped == taken);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_packed_numbers),
      cmocka_unit_test(test_skipped_numbers),
      cmocka_unit_test(test_longest_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
