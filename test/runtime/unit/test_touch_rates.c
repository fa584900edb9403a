/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counts of pages are read from any pieces of the system's text; rates of touches are those that the looks were made with. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "page_counts.h"
#include "touch_rates.h"

static hearth_page_counts found[8];
static unsigned found_count;

static void keep(const hearth_page_counts *counts) {
  assert_in_range(found_count, 0, 7);
  found[found_count++] = *counts;
}

static const char text[] =
    "00400000-00401000 r-xp 00000000 08:01 12   /bin/a-file-with-Rss:-in-its-name-that-is-rather-long-by-far\n"
    "Size:                  4 kB\nRss:                   4 kB\nReferenced:            4 kB\n"
    "100000000-10003f000 rw-p 00000000 00:00 0 \nSize:                252 kB\nRss:                 120 kB\n"
    "Shared_Dirty:          4 kB\nPss:                   8 kB\nReferenced:           20 kB\nAnonymous:             8 "
    "kB\nVmFlags: rd wr\n"
    "100040000-10007f000 rw-p 00000000 00:00 0 \nRss:                   0 kB\nReferenced:            0 kB\n"
    "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \nRss:                  44 kB\nReferenced:           44 kB\n";

static void test_text(void **state) {
  (void)state;
  for (size_t piece = 1; piece <= sizeof text - 1; ++piece) {
    hearth_page_counts_reader reader = {.length = 0};
    bool goes_on = true;
    found_count = 0;
    for (size_t at = 0; goes_on && at < sizeof text - 1; at += piece) {
      size_t rest = sizeof text - 1 - at;
      goes_on =
          hearth_page_counts_read(&reader, text + at, rest < piece ? rest : piece, 0x100000000, 0x200000000, keep);
    }
    assert_false(goes_on);
    assert_int_equal(found_count, 2);
    assert_int_equal(found[0].start, 0x100000000);
    assert_int_equal(found[0].accessed, 5);
    assert_int_equal(found[1].start, 0x100040000);
    assert_int_equal(found[1].accessed, 0);
    assert_true(found[0].shared && !found[1].shared);
  }
}

/* The looks that touches at this rate make, at intervals of 2 and 100 ms. */
static hearth_touch_sums looks_of(double rate) {
  static const double seconds[HEARTH_TOUCH_INTERVALS] = {0.002, 0.1};
  hearth_touch_sums sums;
  for (int i = 0; i < HEARTH_TOUCH_INTERVALS; ++i) {
    sums.of[i].looks = 1000000;
    sums.of[i].touched = (uint64_t)(1e6 * -expm1(-rate * seconds[i]) + 0.5);
    sums.of[i].ns = (uint64_t)(1e6 * seconds[i] * 1e9);
  }
  return sums;
}

static void test_rates(void **state) {
  (void)state;
  for (double rate = 0.01; rate < 5000; rate *= 1.7) {
    hearth_touch_sums sums = looks_of(rate);
    assert_true(fabs(hearth_touch_rate(&sums) / rate - 1) < 0.02);
  }
  hearth_touch_sums none = looks_of(0), all = looks_of(1e9);
  assert_true(hearth_touch_rate(&none) == 0);
  assert_true(hearth_touch_rate(&all) > 5000 && hearth_touch_rate(&all) < 1e5);
  assert_false(hearth_touch_rate_is_known(&(hearth_touch_sums){0}));
}

/* Two blocks of 100 bytes that live a second each, touched ten times in it. */
static void test_accesses(void **state) {
  (void)state;
  hearth_mib mib = {{.AllocCount = 2, .TotalSize = 200, .TotalLifetime = 2000000000}}, untouched = mib;

  hearth_touch_set_accesses(&untouched, 0);
  hearth_touch_set_accesses(&mib, 10);
  assert_int_equal(untouched.TotalAccessCount, 2 * 2 + 13);
  assert_int_equal(mib.TotalAccessCount - untouched.TotalAccessCount, 2 * 10 * 24);
  assert_int_equal(mib.MinAccessCount, mib.TotalAccessCount / 2);
  assert_int_equal(mib.MaxAccessCount, mib.MinAccessCount);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_rates),
                                     cmocka_unit_test(test_accesses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
