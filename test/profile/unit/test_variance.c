/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Differences between runs: levels, errors, what a class may be, and the section that holds the sums. */
#include "hearth/classify.h"

#include <math.h>

#include "profile_fixture.h"
#include "profile_verifier.h"
#include "reseal.h"

#define HEAD(runs) "hearth-profile-text 1\nrun duration_ns=1000000000 runs=" #runs "\n"
#define CONTEXT(line, accesses)                                                                                        \
  "context\n  frame f a.c 1 " #line " 1 0\n  AllocCount 1\n  TotalSize 64\n  TotalAccessCount " #accesses              \
  "\n  TotalLifetime 1000000000\n"

static hearth_variance run_of(uint64_t accesses) {
  hearth_mib mib = {{.AllocCount = 1, .TotalSize = 64, .TotalAccessCount = accesses, .TotalLifetime = 250000000}};
  hearth_variance variance;
  hearth_variance_of_run(&mib, 1000000000, &variance);
  return variance;
}

static void levels_count_doublings(void **state) {
  (void)state;
  hearth_variance variance = run_of(32); /* 2 a byte and second; a quarter of the run; 2^6 bytes */
  assert_int_equal(variance.density, 1024 + 16);
  assert_int_equal(variance.lifetime, 1024 - 32);
  assert_int_equal(variance.bytes, 1024 + 6 * 16);
  assert_int_equal(variance.bytes_squares, 1120 * 1120);
  assert_int_equal(run_of(64).density, 1024 + 32);
  assert_int_equal(run_of(48).density, 1024 + 24);    /* linear between powers of two */
  assert_int_equal(run_of(0).density, 1024 - 5 * 16); /* half an access */
  assert_int_equal(run_of(UINT64_MAX).density, 1024 + 60 * 16);
}

static void errors_shrink_by_the_root_of_the_runs(void **state) {
  (void)state;
  hearth_variance sum = {{0}}, low = run_of(32), high = run_of(128), weighted = {{0}};
  assert_true(hearth_variance_get_errors(&low).runs < 1.5 && hearth_variance_get_errors(&low).density == 0);
  hearth_variance_add(&sum, &low, 1);
  hearth_variance_add(&sum, &high, 1);
  /* Two doublings apart: a deviation of sqrt 2 of single runs, so 1 of the mean of two. */
  assert_true(fabs(hearth_variance_get_errors(&sum).density - 1) < 1e-9);
  assert_true(hearth_variance_get_errors(&sum).bytes == 0);
  for (int i = 0; i < 6; i++)
    hearth_variance_add(&sum, i % 2 ? &low : &high, 1);
  assert_true(fabs(hearth_variance_get_errors(&sum).density - sqrt(1. / 7)) < 1e-9);
  /* A scale common to all, as profiles of before may have, changes nothing. */
  hearth_variance_add(&weighted, &sum, 64);
  weighted.squares *= 64;
  assert_true(fabs(hearth_variance_get_errors(&weighted).density - sqrt(1. / 7)) < 1e-9);
  assert_true(fabs(hearth_variance_get_errors(&weighted).runs - 8) < 1e-9);
}

static uint64_t runs_of(bytes b, uint32_t context) {
  hearth_variance variance;
  hearth_error err;
  hearth_profile *profile = open_bytes(b);
  expect_ok(hearth_profile_verify(profile, &err), &err);
  expect_ok(hearth_profile_get_variance(profile, context, &variance, &err), &err);
  hearth_profile_close(profile);
  return variance.runs;
}

static void one_run_stores_none(void **state) {
  (void)state;
  bytes one = bytes_from_text(HEAD(1) CONTEXT(1, 5) CONTEXT(1, 7));
  assert_int_equal(((hearth_indexed_header *)one.data)->section_count, HEARTH_SECTION_CHECKSUMS);
  free(one.data);
  const char *const two[] = {HEAD(1) CONTEXT(1, 5) CONTEXT(2, 7), HEAD(1) CONTEXT(2, 5)};
  bytes both = merge_texts(two, 2);
  assert_int_equal(runs_of(both, 0), 1);
  assert_int_equal(runs_of(both, 1), 2);
  free(both.data);
}

/* A run in several files is one, and what is seen of it does not depend on which are merged first: its first file. */
static void a_run_in_parts_counts_once(void **state) {
  (void)state;
  const char *const files[] = {HEAD(1) CONTEXT(1, 5), HEAD(0) CONTEXT(1, 9000) CONTEXT(2, 7), HEAD(1) CONTEXT(1, 6)};
  bytes two = merge_texts(files, 2), all = merge_texts(files, 3), rest = merge_texts(files + 1, 2);
  assert_int_equal(runs_of(two, 0), 1); /* stored, as it is not that of the sums */
  assert_int_equal(runs_of(two, 1), 0);
  assert_int_equal(runs_of(all, 0), 2);
  bytes first = bytes_from_text(files[0]), parts[] = {rest, first}, tree = merge_bytes(parts, 2);
  expect_equal_bytes(all, tree);
  free(two.data);
  free(all.data);
  free(rest.data);
  free(first.data);
  free(tree.data);
}

static void bad_text_is_refused(void **state) {
  (void)state;
  static const bad_text cases[] = {
      {HEAD(2) CONTEXT(1, 1) "  variance number=1\n", "text:9: a variance has runs"},
      {HEAD(2) CONTEXT(1, 1) "  variance squares=1\n", "text:9: missing 'runs of the variance'"},
      {HEAD(2) CONTEXT(1, 1) "  variance runs=1\n  variance runs=1\n", "text:10: given twice"},
  };
  expect_bad_texts(cases, sizeof cases / sizeof *cases);
}

/* Every flip in the section, with right checksums, is found or gives other numbers. */
static void damage_is_found(void **state) {
  (void)state;
  const char *const two[] = {HEAD(1) CONTEXT(1, 5) CONTEXT(2, 7), HEAD(1) CONTEXT(2, 5) CONTEXT(3, 1)};
  bytes b = merge_texts(two, 2);
  hearth_indexed_section *s =
      (hearth_indexed_section *)((uint8_t *)b.data + sizeof(hearth_indexed_header)) + HEARTH_SECTION_CHECKSUMS;
  uint8_t *copy = malloc(b.size);
  unsigned refused = 0;
  assert_int_equal(s->id, HEARTH_SECTION_VARIANCES);
  assert_int_equal(s->count, 3);
  for (size_t at = s->offset; at < s->offset + s->size; at++)
    for (unsigned bit = 0; bit < 8; bit++) {
      hearth_variance variance;
      hearth_error err;
      memcpy(copy, b.data, b.size);
      copy[at] ^= (uint8_t)(1u << bit);
      reseal(copy, b.size);
      hearth_profile *profile = open_bytes((bytes){copy, b.size});
      if (hearth_profile_get_variance(profile, 0, &variance, &err) != HEARTH_OK) {
        assert_int_equal(err.status, HEARTH_E_CORRUPT);
        refused++;
      }
      hearth_profile_close(profile);
    }
  assert_true(refused > 100);
  free(copy);
  free(b.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(levels_count_doublings), cmocka_unit_test(errors_shrink_by_the_root_of_the_runs),
      cmocka_unit_test(one_run_stores_none),    cmocka_unit_test(a_run_in_parts_counts_once),
      cmocka_unit_test(bad_text_is_refused),    cmocka_unit_test(damage_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
