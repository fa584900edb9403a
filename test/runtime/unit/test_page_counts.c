/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counts of pages are read from any pieces of the system's text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "own_thread.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
