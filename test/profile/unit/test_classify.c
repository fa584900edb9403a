/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Densities, cutoffs and classes. */
#include <math.h>

#include "profile_fixture.h"

static const uint64_t second = 1000000000;

static void density_is_accesses_per_byte_and_second(void **state) {
  hearth_mib mib = {.AllocCount = 10, .TotalSize = 1000, .TotalLifetime = 20 * second, .TotalAccessCount = 4000};
  (void)state;
  assert_true(hearth_mib_density(&mib) == 4000.0 / 100 / 20);
  mib.TotalLifetime = 0; /* counts as 1 us for each block */
  assert_true(fabs(hearth_mib_density(&mib) - 4000.0 / 100 / 10e-6) < 1);
  mib.TotalSize = 0; /* counts as 1 byte */
  mib.TotalLifetime = 20 * second;
  assert_true(hearth_mib_density(&mib) == 4000.0 / 20);
  assert_true(hearth_mib_density(&(hearth_mib){0}) == 0);
}

/* One line of the table: a context of one block of 1 byte. */
typedef struct row {
  uint64_t lifetime_ns, accesses;
  hearth_class expected;
} row;

static bytes profile_of(const row *rows, size_t n, uint64_t duration_ns, uint64_t runs, bool accesses) {
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  hearth_profile_summary run = {.runs = runs, .duration_ns = duration_ns, .accesses_counted = accesses};
  hearth_builder_frame frame = {0};
  hearth_error err;
  expect_ok(hearth_builder_add_run(builder, &run, &err), &err);
  expect_ok(hearth_builder_function(builder, "f", "a.c", 1, &frame.function, &err), &err);
  for (size_t i = 0; i < n; i++) {
    hearth_mib mib = {.AllocCount = 1,
                      .TotalSize = 1,
                      .TotalLifetime = rows[i].lifetime_ns,
                      .TotalAccessCount = rows[i].accesses,
                      .TotalLifetimeAccessDensity =
                          rows[i].lifetime_ns ? 100 * rows[i].accesses * second / rows[i].lifetime_ns : 0};
    frame.line = (uint32_t)i;
    expect_ok(hearth_builder_add(builder, &frame, 1, &mib, &err), &err);
  }
  bytes b = write_bytes(builder);
  hearth_builder_destroy(builder);
  return b;
}

static void expect_classes(const row *rows, size_t n, uint64_t duration_ns, uint64_t runs, bool accesses,
                           const hearth_classify_options *options) {
  bytes b = profile_of(rows, n, duration_ns, runs, accesses);
  hearth_profile *profile = open_bytes(b);
  hearth_classifier classifier;
  hearth_error err;
  hearth_mib mib;
  expect_ok(hearth_classifier_init(&classifier, profile, options, &err), &err);
  for (uint32_t i = 0; i < n; i++) { /* contexts are sorted by line */
    expect_ok(hearth_profile_get_context(profile, i, NULL, &mib, &err), &err);
    if (hearth_classify(&classifier, &mib) != rows[i].expected)
      fail_msg("row %u is %s, expected %s", i, hearth_class_name(hearth_classify(&classifier, &mib)),
               hearth_class_name(rows[i].expected));
  }
  hearth_profile_close(profile);
  free(b.data);
}

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static void auto_mode_splits_by_share_of_accesses(void **state) {
  const row rows[] = {
      {2 * second, 0, HEARTH_CLASS_COLD},      /* lasting, never accessed */
      {2 * second, 90, HEARTH_CLASS_COLD},     /* together with the next: 1 % */
      {second, 10, HEARTH_CLASS_COLD},         /* denser than nothing, less dense than the rest */
      {second / 10, 0, HEARTH_CLASS_NOTCOLD},  /* never accessed, but lives less than 1/8 of a run */
      {2 * second, 900, HEARTH_CLASS_NOTCOLD}, /* 9 %: too much for cold, not needed for 90 % */
      {second / 1000, 9000, HEARTH_CLASS_HOT}, /* 90 % */
  };
  (void)state;
  expect_classes(rows, COUNT(rows), 8 * second, 4, true, NULL);
}

static void contexts_of_one_density_stay_together(void **state) {
  const row rows[] = {
      {second, 6, HEARTH_CLASS_NOTCOLD}, /* each alone holds 0.6 %, both 1.2 % */
      {second, 6, HEARTH_CLASS_NOTCOLD},
      {second, 494, HEARTH_CLASS_HOT}, /* each alone holds 49.4 %; 90 % needs both */
      {second, 494, HEARTH_CLASS_HOT},
  };
  (void)state;
  expect_classes(rows, COUNT(rows), second, 1, true, NULL);
}

static void cold_is_far_below_the_mean(void **state) {
  const row rows[] = {
      {second, 90, HEARTH_CLASS_COLD},     /* less than a tenth of 991 */
      {second, 101, HEARTH_CLASS_NOTCOLD}, /* both hold 0.2 % of the accesses */
      {100 * second, 100000, HEARTH_CLASS_HOT},
  };
  const row equal[] = {
      {10 * second, 99900, HEARTH_CLASS_NOTCOLD}, /* 1 %, and 0.1 % less dense */
      {1000 * second, 10000000, HEARTH_CLASS_HOT},
  };
  (void)state;
  expect_classes(rows, COUNT(rows), second, 1, true, NULL);
  expect_classes(equal, COUNT(equal), second, 1, true, NULL);
}

static void cold_is_half_as_dense_as_hot_at_most(void **state) {
  const row rows[] = {
      {second, 50, HEARTH_CLASS_COLD}, /* a tenth of the mean would be 98 */
      {second, 60, HEARTH_CLASS_NOTCOLD},
      {100 * second, 11000, HEARTH_CLASS_HOT}, /* 110: needed for 90 % */
      {second / 1000, 89000, HEARTH_CLASS_HOT},
  };
  (void)state;
  expect_classes(rows, COUNT(rows), second, 1, true, NULL);
}

static void few_bytes_have_no_weight(void **state) {
  const hearth_classifier classifier = {.runs = 2, .total_bytes = 100000000, .total_accesses = 100000000}, other = {0};
  (void)state;
  assert_false(
      hearth_has_weight(&classifier, &(hearth_mib){.AllocCount = 3, .TotalSize = 999, .TotalAccessCount = 999}));
  assert_true(hearth_has_weight(&classifier, &(hearth_mib){.AllocCount = 3, .TotalSize = 1000}));
  assert_true(hearth_has_weight(&classifier, &(hearth_mib){.AllocCount = 3, .TotalAccessCount = 1000}));
  /* One block in each run: */
  assert_false(hearth_has_weight(&classifier, &(hearth_mib){.AllocCount = 2, .TotalSize = 99999}));
  assert_true(hearth_has_weight(&classifier, &(hearth_mib){.AllocCount = 2, .TotalSize = 100000}));
  assert_true(hearth_has_weight(&other, &(hearth_mib){.AllocCount = 1, .TotalSize = 1})); /* LLVM's rule */
}

static void shares_are_options(void **state) {
  const row rows[] = {
      {second, 6, HEARTH_CLASS_COLD},
      {second, 6, HEARTH_CLASS_COLD},
      {second, 988, HEARTH_CLASS_HOT},
  };
  const row none_cold[] = {
      {second, 6, HEARTH_CLASS_NOTCOLD},
      {second, 6, HEARTH_CLASS_NOTCOLD},
      {second, 988, HEARTH_CLASS_HOT},
  };
  (void)state;
  expect_classes(rows, COUNT(rows), second, 1, true, &(hearth_classify_options){.cold_share_ppm = 20000});
  /* not stored: the next stricter one, 10000 */
  expect_classes(none_cold, COUNT(none_cold), second, 1, true, &(hearth_classify_options){.cold_share_ppm = 19999});
  /* stricter than any */
  expect_classes(none_cold, COUNT(none_cold), second, 1, true, &(hearth_classify_options){.cold_share_ppm = 1});
}

static void one_context_is_hot(void **state) {
  const row rows[] = {{second, 5, HEARTH_CLASS_HOT}};
  (void)state;
  expect_classes(rows, COUNT(rows), second, 1, true, NULL);
}

static void nothing_is_hot_without_any_access(void **state) {
  const row rows[] = {{second, 0, HEARTH_CLASS_COLD}, {0, 0, HEARTH_CLASS_NOTCOLD}};
  (void)state;
  expect_classes(rows, COUNT(rows), second, 1, true, NULL);
}

static void uncounted_accesses_say_nothing(void **state) {
  const row rows[] = {{300 * second, 0, HEARTH_CLASS_NOTCOLD}, {second, 9, HEARTH_CLASS_NOTCOLD}};
  (void)state;
  expect_classes(rows, COUNT(rows), second, 1, false, NULL);
  expect_classes(rows, COUNT(rows), second, 1, false, &(hearth_classify_options){.mode = HEARTH_CLASSIFY_LLVM});
}

static void llvm_mode_has_absolute_thresholds(void **state) {
  const row rows[] = {
      {200 * second, 9, HEARTH_CLASS_COLD},     /* 0.045 */
      {200 * second, 10, HEARTH_CLASS_NOTCOLD}, /* 0.05 */
      {199 * second, 0, HEARTH_CLASS_NOTCOLD},  {second, 1000, HEARTH_CLASS_NOTCOLD}, {second, 1001, HEARTH_CLASS_HOT},
  };
  const row others[] = {{second, 0, HEARTH_CLASS_COLD}, {second, 12, HEARTH_CLASS_HOT}};
  (void)state;
  expect_classes(rows, COUNT(rows), second, 1, true, &(hearth_classify_options){.mode = HEARTH_CLASSIFY_LLVM});
  expect_classes(
      others, COUNT(others), second, 1, true,
      &(hearth_classify_options){.mode = HEARTH_CLASSIFY_LLVM, .llvm_cold_lifetime_s = 0.5, .llvm_hot_density = 10});
}

/* 0 says none, not the default. */
static void options_have_a_text_form(void **state) {
  const row rows[] = {{1, 0, HEARTH_CLASS_COLD}, {second, 1, HEARTH_CLASS_HOT}};
  hearth_classify_options options;
  hearth_error err;
  (void)state;
  expect_ok(hearth_classify_parse("llvm,cold-lifetime=0,hot-density=0", &options, &err), &err);
  expect_classes(rows, COUNT(rows), second, 1, true, &options);
  expect_ok(hearth_classify_parse("auto,cold-accesses=0.5,hot-accesses=95", &options, &err), &err);
  assert_int_equal(options.mode, HEARTH_CLASSIFY_AUTO);
  assert_int_equal(options.cold_share_ppm, 5000);
  assert_int_equal(options.hot_share_ppm, 950000);
  assert_int_equal(hearth_classify_parse("auto,cold-accesses=nan", &options, &err), HEARTH_E_USAGE);
  assert_int_equal(options.cold_share_ppm, 5000);
}

static void empty_records_are_unknown(void **state) {
  hearth_classifier classifier = {.cold_max_density = 1, .hot_min_density = 2};
  (void)state;
  assert_int_equal(hearth_classify(&classifier, &(hearth_mib){0}), HEARTH_CLASS_UNKNOWN);
  assert_string_equal(hearth_class_name(HEARTH_CLASS_UNKNOWN), "unknown");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(density_is_accesses_per_byte_and_second),
      cmocka_unit_test(auto_mode_splits_by_share_of_accesses),
      cmocka_unit_test(contexts_of_one_density_stay_together),
      cmocka_unit_test(cold_is_far_below_the_mean),
      cmocka_unit_test(cold_is_half_as_dense_as_hot_at_most),
      cmocka_unit_test(few_bytes_have_no_weight),
      cmocka_unit_test(shares_are_options),
      cmocka_unit_test(one_context_is_hot),
      cmocka_unit_test(nothing_is_hot_without_any_access),
      cmocka_unit_test(uncounted_accesses_say_nothing),
      cmocka_unit_test(llvm_mode_has_absolute_thresholds),
      cmocka_unit_test(options_have_a_text_form),
      cmocka_unit_test(empty_records_are_unknown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
