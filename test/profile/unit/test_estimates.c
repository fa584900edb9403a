/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Accesses estimated from looks: rates are those that the looks were made with, estimates depend on the merged sums alone, and
 * what was counted weighs more. */
#include <math.h>

#include "builder_tables.h"
#include "profile_fixture.h"

static void set_looks(hearth_mib *mib, double rate, double scale) {
  mib->Looks = mib->ShortLooks = (uint64_t)(1e6 * scale);
  mib->LookTime = (uint64_t)(1e6 * scale * 0.1e9);
  mib->ShortLookTime = (uint64_t)(1e6 * scale * 0.002e9);
  mib->TouchedLooks = (uint64_t)(1e6 * scale * -expm1(-rate * 0.1) + 0.5);
  mib->TouchedShortLooks = (uint64_t)(1e6 * scale * -expm1(-rate * 0.002) + 0.5);
}

static void rates_are_found(void **state) {
  (void)state;
  hearth_mib mib = {{0}};
  for (double rate = 0.01; rate < 5000; rate *= 1.7) {
    set_looks(&mib, rate, 1);
    hearth_touch_rate found = hearth_touch_rate_of(&mib);
    assert_true(fabs(found.per_second / rate - 1) < 0.02);
    assert_true(found.error > 0 && found.error < 0.1 * rate);
  }
  set_looks(&mib, 0, 1);
  assert_true(hearth_touch_rate_of(&mib).per_second == 0 && hearth_touch_rate_of(&mib).error > 0);
  set_looks(&mib, 1e9, 1);
  assert_true(hearth_touch_rate_of(&mib).per_second > 5000 && hearth_touch_rate_of(&mib).per_second < 1e5);
  assert_true(hearth_touch_rate_of(&(hearth_mib){{0}}).per_second == -1);
}

/* The error of one in ten of n looks shrinks with the root of n. */
static void errors_shrink_with_looks(void **state) {
  (void)state;
  hearth_mib few = {{0}}, many = {{0}};
  set_looks(&few, 1, 0.01);
  set_looks(&many, 1, 1);
  assert_true(fabs(hearth_touch_rate_of(&few).error / hearth_touch_rate_of(&many).error - 10) < 0.1);
}

/* Two blocks of 100 bytes that live a second each. */
static const hearth_mib two_blocks = {
    {.AllocCount = 2, .TotalSize = 200, .TotalLifetime = 2000000000, .LookedLifetime = 2000000000}};

static void touches_become_accesses(void **state) {
  (void)state;
  hearth_mib untouched = two_blocks, touched = two_blocks;
  hearth_mib_estimate(&untouched, 0);
  hearth_mib_estimate(&touched, 10);
  assert_int_equal(untouched.TotalAccessCount, 2 * 8 + 200 / 4);
  assert_int_equal(touched.TotalAccessCount - untouched.TotalAccessCount, 2 * 10 * 24);
  assert_int_equal(touched.MinAccessCount, touched.TotalAccessCount / 2);
  assert_int_equal(touched.EstimatedAccessCount, touched.TotalAccessCount);
  hearth_mib again = touched;
  hearth_mib_estimate(&again, 10);
  assert_memory_equal(&again, &touched, sizeof again);
  hearth_mib_forget_estimate(&again);
  assert_memory_equal(&again, &two_blocks, sizeof again);
}

/* Looks know nothing of it, so they would say 66 accesses. Half of the life was counted. */
static void counted_evidence_weighs_more(void **state) {
  (void)state;
  hearth_mib mixed = two_blocks, counted = {{.AllocCount = 2,
                                             .TotalSize = 200,
                                             .TotalLifetime = 2000000000,
                                             .TotalAccessCount = 10000,
                                             .MinAccessCount = 1,
                                             .MaxAccessCount = 9999}};
  hearth_mib_estimate(&mixed, 0);
  hearth_mib_forget_estimate(&mixed);
  hearth_mib_merge(&mixed, &counted);
  hearth_mib_estimate(&mixed, 0);
  double expected = (HEARTH_COUNTED_WEIGHT * 10000.0 + 66) / ((HEARTH_COUNTED_WEIGHT + 1) / 2.0);
  assert_true(fabs((double)mixed.TotalAccessCount - expected) <= 1);
  assert_int_equal(mixed.TotalAccessCount - mixed.EstimatedAccessCount, 10000);
  assert_int_equal(mixed.MaxAccessCount, 9999);
  hearth_mib alone = counted;
  hearth_mib_estimate(&alone, 1000);
  assert_memory_equal(&alone, &counted, sizeof alone);
}

#define HEAD(looks) "hearth-profile-text 1\nrun duration_ns=1000000000 runs=1 accesses=1 " looks "\n"
#define CONTEXT(line, numbers)                                                                                         \
  "context\n  frame f a.c 1 " #line " 1 0\n  AllocCount 4\n  TotalSize 400\n  TotalLifetime 2000000000\n" numbers
#define LOOKS(all, touched)                                                                                            \
  "  LookedLifetime 2000000000\n  Looks " #all "\n  TouchedLooks " #touched                                            \
  "\n  LookTime 6000000000\n  ShortLooks " #all "\n  TouchedShortLooks 1\n  ShortLookTime 200000000\n"

static bytes merge(bytes a, bytes b) { return merge_bytes((bytes[]){a, b}, 2); }

/* One of the three has too few looks alone, and one was counted. */
static void grouping_does_not_matter(void **state) {
  (void)state;
  bytes a = bytes_from_text(HEAD("estimated=1") CONTEXT(1, LOOKS(100, 30)) CONTEXT(2, LOOKS(90, 2)));
  bytes b = bytes_from_text(HEAD("estimated=1") CONTEXT(1, LOOKS(3, 1)) CONTEXT(3, LOOKS(2, 2)));
  bytes c = bytes_from_text(HEAD("") CONTEXT(1, "  TotalAccessCount 7000\n") CONTEXT(3, "  TotalAccessCount 5\n"));
  bytes ab = merge(a, b), bc = merge(b, c), left = merge(ab, c), right = merge(a, bc);
  expect_equal_bytes(left, right);
  bytes all[] = {a, b, c, ab, bc, left, right};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    free(all[i].data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rates_are_found), cmocka_unit_test(errors_shrink_with_looks),
                                     cmocka_unit_test(touches_become_accesses),
                                     cmocka_unit_test(counted_evidence_weighs_more),
                                     cmocka_unit_test(grouping_does_not_matter)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
