/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading raw profiles in LLVM's layout. */
#include "raw_files.h"

static void test_llvm_histograms(void **state) {
  (void)state;
  for (uint64_t version = 4; version <= 5; ++version) {
    file f = {0};
    hearth_raw_record record;
    append_llvm(&f, version);
    hearth_raw_dump dump = read_whole(&f);
    assert_true(hearth_raw_next_record(&dump, &record));
    assert_int_equal(record.histogram.size, 3);
    assert_int_equal(record.histogram.counts[0], 1);
    assert_int_equal(record.histogram.counts[1], 0);
    assert_int_equal(record.histogram.counts[2], version == 4 ? 70000 : 4095 << 5);
    assert_true(hearth_raw_next_record(&dump, &record));
    assert_int_equal(record.histogram.size, 0);
    hearth_raw_free(&dump);
  }
}

/* Rounded to 12 bits. */
static void test_llvm_counters(void **state) {
  (void)state;
  for (uint64_t count = 0; count < 4096; ++count)
    assert_int_equal(hearth_llvm_raw_counter(hearth_llvm_raw_put_counter(count)), count);
  for (uint64_t count = 4096, most = UINT64_C(4095) << 15; count < most; count += count / 64 + 1) {
    uint64_t stored = hearth_llvm_raw_counter(hearth_llvm_raw_put_counter(count));
    assert_in_range(stored, count - count / 4096, count + count / 4096);
  }
  assert_int_equal(hearth_llvm_raw_put_counter(8191), 2 << 12 | 2048);
  assert_int_equal(hearth_llvm_raw_put_counter(UINT64_MAX), 0xffff);
}

static void test_llvm_versions(void **state) {
  (void)state;
  for (uint64_t version = 3; version <= 5; ++version) {
    file f = {0};
    append_llvm(&f, version);
    hearth_raw_dump dump = read_whole(&f);
    check_llvm(&dump);
    hearth_raw_free(&dump);
  }
}

/* The layout cannot say that accesses were not counted: no access at all says it. */
static void test_llvm_without_accesses(void **state) {
  (void)state;
  file f = {0};
  append_llvm(&f, 5);
  for (size_t i = 0; i + sizeof llvm_mib <= f.size; ++i)
    if (memcmp(f.bytes + i, &llvm_mib, offsetof(hearth_llvm_raw_mib, histogram_size)) == 0)
      memset(f.bytes + i + offsetof(hearth_llvm_raw_mib, total_access_count), 0, 3 * sizeof(uint64_t));
  hearth_raw_dump dump = read_whole(&f);
  assert_int_equal(dump.record_count, 2);
  assert_int_equal(read_records(&dump)[1].mib.TotalAccessCount, 0);
  assert_false(dump.accesses_counted);
  hearth_raw_free(&dump);
}

/* LLVM's layout has none: a flip gives other numbers or an error, but never a reference outside. */
static void test_llvm_every_flip(void **state) {
  (void)state;
  file f = {0};
  append_llvm(&f, 5);
  for (size_t i = 0; i < f.size; ++i)
    for (unsigned bits = 1; bits < 256; bits += 2) {
      hearth_raw_dump dump;
      hearth_error err;
      size_t offset = 0;
      f.bytes[i] ^= (uint8_t)bits;
      if (read_at(&f, f.size, &offset, &dump, &err) == HEARTH_OK) {
        const hearth_raw_record *records = read_records(&dump);
        for (size_t r = 0; r < dump.record_count; ++r)
          assert_true(records[r].stack < dump.node_count || records[r].stack == HEARTH_RAW_NO_PARENT);
        hearth_raw_free(&dump);
      }
      f.bytes[i] ^= (uint8_t)bits;
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_llvm_histograms), cmocka_unit_test(test_llvm_counters),
      cmocka_unit_test(test_llvm_versions),   cmocka_unit_test(test_llvm_without_accesses),
      cmocka_unit_test(test_llvm_every_flip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
