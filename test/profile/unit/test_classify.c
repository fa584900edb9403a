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

/* One line of the table: a context of one page, of its own line. */
typedef struct row {
  uint64_t lifetime_ns, accesses;
  hearth_class expected;
  uint64_t used, idle; /* pages */
  uint64_t touched, look_ns, looks, short_touched, short_looks;
} row;

enum { PAGE = 4096, FIRST_USE = 8 + PAGE / 4 /* accesses */ };

static bytes profile_of(const row *rows, size_t n, uint64_t duration_ns, uint64_t runs, bool accesses) {
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  hearth_profile_summary run = {.runs = runs, .duration_ns = duration_ns, .accesses_counted = accesses};
  hearth_builder_frame frame = {0};
  hearth_error err;
  expect_ok(hearth_builder_add_run(builder, &run, &err), &err);
  expect_ok(hearth_builder_function(builder, "f", "a.c", 1, &frame.function, &err), &err);
  for (size_t i = 0; i < n; i++) {
    hearth_mib mib = {.AllocCount = 1,
                      .TotalSize = PAGE,
                      .TotalLifetime = rows[i].lifetime_ns,
                      .TotalAccessCount = rows[i].accesses,
                      .UsedPageBytes = rows[i].used * PAGE,
                      .IdlePageBytes = rows[i].idle * PAGE,
                      .TouchedLooks = rows[i].touched,
                      .LookTime = rows[i].look_ns,
                      .Looks = rows[i].looks,
                      .TouchedShortLooks = rows[i].short_touched,
                      .ShortLooks = rows[i].short_looks,
                      .TotalLifetimeAccessDensity =
                          rows[i].lifetime_ns ? 100 * rows[i].accesses * second / rows[i].lifetime_ns / PAGE : 0};
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

static const uint64_t busy = 1000000000;

/* The average run takes 80 s, so idle is what is left alone for 10. */
static void idle_pages_are_cold(void **state) {
  const row rows[] = {
      {60 * second, 100000, HEARTH_CLASS_COLD, .used = 5, .idle = 15}, /* however much it was used before */
      {60 * second, 100000, HEARTH_CLASS_NOTCOLD, .used = 6, .idle = 15},
      {60 * second, 0, HEARTH_CLASS_NOTCOLD, .used = 4},
      {9 * second, 0, HEARTH_CLASS_NOTCOLD, .idle = 20}, /* lives too short */
      {60 * second, busy, HEARTH_CLASS_COLD, .idle = 4},
      {60 * second, busy, HEARTH_CLASS_HOT, .used = 10, .idle = 20},
  };
  (void)state;
  expect_classes(rows, COUNT(rows), 160 * second, 2, true, NULL);
}

static void sums_decide_where_no_witness_has_seen_enough(void **state) {
  const row rows[] = {
      {60 * second, FIRST_USE, HEARTH_CLASS_COLD},
      {60 * second, FIRST_USE + 1, HEARTH_CLASS_COLD},
      {60 * second, FIRST_USE + 2, HEARTH_CLASS_NOTCOLD}, /* 2 in 60 s are a third in 10 */
      {60 * second, FIRST_USE, HEARTH_CLASS_COLD, .used = 0, .idle = 3},
      {60 * second, FIRST_USE, HEARTH_CLASS_NOTCOLD, .used = 1, .idle = 2}, /* but few moments may show use */
      {60 * second, FIRST_USE + 2, HEARTH_CLASS_COLD, .idle = 4},
      {60 * second, busy, HEARTH_CLASS_HOT},
  };
  (void)state;
  expect_classes(rows, COUNT(rows), 160 * second, 2, true, NULL);
}

static void what_only_pages_show_is_unknown(void **state) {
  const row rows[] = {
      {60 * second, 0, HEARTH_CLASS_UNKNOWN, .idle = 20, .touched = 5, .look_ns = 20 * second},
      {60 * second, 0, HEARTH_CLASS_COLD, .idle = 20, .touched = 1, .look_ns = 40 * second},
      {60 * second, 0, HEARTH_CLASS_COLD, .idle = 20, .touched = 3, .look_ns = 20 * second}, /* perhaps by chance */
      {60 * second, 0, HEARTH_CLASS_COLD, .idle = 20, .touched = 5, .look_ns = 90 * second}, /* no clear use */
      {60 * second, 0, HEARTH_CLASS_COLD, .idle = 20, .look_ns = 40 * second, .looks = 700, .short_touched = 800,
       .short_looks = 1000}, /* a walk in a short interval, which no long one saw */
      {60 * second, 0, HEARTH_CLASS_NOTCOLD, .used = 20, .touched = 5, .look_ns = 20 * second},
      {60 * second, FIRST_USE, HEARTH_CLASS_NOTCOLD, .touched = 5, .look_ns = 20 * second},
      {60 * second, 100000, HEARTH_CLASS_COLD, .look_ns = 20 * second}, /* however much it was used before */
      {60 * second, busy, HEARTH_CLASS_HOT, .idle = 20, .touched = 5, .look_ns = 20 * second},
  };
  (void)state;
  expect_classes(rows, COUNT(rows), 160 * second, 2, true, NULL);
}

/* Of 200 pages five are touched in each interval, however short it is: they say nothing of the others. */
static void what_each_look_touches_is_a_part_of_the_pages(void **state) {
  const row rows[] = {
      {60 * second, FIRST_USE, HEARTH_CLASS_COLD, .touched = 500, .looks = 20000, .look_ns = 2000 * second,
       .short_touched = 500, .short_looks = 20000},
      {60 * second, FIRST_USE, HEARTH_CLASS_NOTCOLD, .touched = 500, .looks = 20000, .look_ns = 2000 * second,
       .short_touched = 5, .short_looks = 20000},
      {60 * second, FIRST_USE, HEARTH_CLASS_NOTCOLD, .touched = 6000, .looks = 20000, .look_ns = 2000 * second,
       .short_touched = 6000, .short_looks = 20000},
      {60 * second, busy, HEARTH_CLASS_HOT},
  };
  (void)state;
  expect_classes(rows, COUNT(rows), 160 * second, 2, true, NULL);
}

static void hot_contexts_hold_most_accesses(void **state) {
  const row rows[] = {
      {60 * second, 0, HEARTH_CLASS_COLD},
      {60 * second, 5000, HEARTH_CLASS_NOTCOLD}, /* the next two hold 90 % */
      {60 * second, 20000, HEARTH_CLASS_HOT},
      {second / 10, 30000, HEARTH_CLASS_HOT},
  };
  const row equal[] = {
      /* each alone holds 49.4 %; 90 % needs both */
      {60 * second, 1200, HEARTH_CLASS_NOTCOLD},
      {60 * second, 49400, HEARTH_CLASS_HOT},
      {60 * second, 49400, HEARTH_CLASS_HOT},
  };
  (void)state;
  expect_classes(rows, COUNT(rows), 160 * second, 2, true, NULL);
  expect_classes(equal, COUNT(equal), 160 * second, 2, true, NULL);
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

static void idle_time_and_share_are_options(void **state) {
  const row rows[] = {
      {600 * second, 2000, HEARTH_CLASS_NOTCOLD, .used = 4, .idle = 6},
      {600 * second, 7000, HEARTH_CLASS_NOTCOLD, .used = 1, .idle = 1},
      {600 * second, 91000, HEARTH_CLASS_HOT},
  };
  const row shorter[] = {
      {600 * second, 2000, HEARTH_CLASS_COLD, .used = 4, .idle = 6}, /* 0.4 in 30 s are 0.2 in 15 */
      {600 * second, 7000, HEARTH_CLASS_HOT, .used = 1, .idle = 1},
      {600 * second, 91000, HEARTH_CLASS_HOT},
  };
  (void)state;
  expect_classes(rows, COUNT(rows), 1000 * second, 1, true, NULL);
  expect_classes(shorter, COUNT(shorter), 1000 * second, 1, true,
                 &(hearth_classify_options){.cold_idle_s = 15, .hot_share_ppm = 950000});
  /* not stored: the next stricter one, 900000 */
  expect_classes(rows, COUNT(rows), 1000 * second, 1, true, &(hearth_classify_options){.hot_share_ppm = 949999});
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
      {200 * second, 9 * PAGE, HEARTH_CLASS_COLD},     /* 0.045 */
      {200 * second, 10 * PAGE, HEARTH_CLASS_NOTCOLD}, /* 0.05 */
      {199 * second, 0, HEARTH_CLASS_NOTCOLD},         {second, 1000 * PAGE, HEARTH_CLASS_NOTCOLD},
      {second, 1001 * PAGE, HEARTH_CLASS_HOT},
  };
  const row others[] = {{second, 0, HEARTH_CLASS_COLD}, {second, 12 * PAGE, HEARTH_CLASS_HOT}};
  (void)state;
  expect_classes(rows, COUNT(rows), second, 1, true, &(hearth_classify_options){.mode = HEARTH_CLASSIFY_LLVM});
  expect_classes(
      others, COUNT(others), second, 1, true,
      &(hearth_classify_options){.mode = HEARTH_CLASSIFY_LLVM, .llvm_cold_lifetime_s = 0.5, .llvm_hot_density = 10});
}

/* 0 says none, not the default. */
static void options_have_a_text_form(void **state) {
  const row rows[] = {{1, 0, HEARTH_CLASS_COLD}, {second, PAGE, HEARTH_CLASS_HOT}};
  hearth_classify_options options;
  hearth_error err;
  (void)state;
  expect_ok(hearth_classify_parse("llvm,cold-lifetime=0,hot-density=0", &options, &err), &err);
  expect_classes(rows, COUNT(rows), second, 1, true, &options);
  expect_ok(hearth_classify_parse("auto,cold-idle=0.5,hot-accesses=95", &options, &err), &err);
  assert_int_equal(options.mode, HEARTH_CLASSIFY_AUTO);
  assert_true(options.cold_idle_s == 0.5);
  assert_int_equal(options.hot_share_ppm, 950000);
  assert_int_equal(hearth_classify_parse("auto,cold-idle=nan", &options, &err), HEARTH_E_USAGE);
  assert_true(options.cold_idle_s == 0.5);
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
      cmocka_unit_test(idle_pages_are_cold),
      cmocka_unit_test(sums_decide_where_no_witness_has_seen_enough),
      cmocka_unit_test(what_only_pages_show_is_unknown),
      cmocka_unit_test(what_each_look_touches_is_a_part_of_the_pages),
      cmocka_unit_test(hot_contexts_hold_most_accesses),
      cmocka_unit_test(few_bytes_have_no_weight),
      cmocka_unit_test(idle_time_and_share_are_options),
      cmocka_unit_test(one_context_is_hot),
      cmocka_unit_test(nothing_is_hot_without_any_access),
      cmocka_unit_test(uncounted_accesses_say_nothing),
      cmocka_unit_test(llvm_mode_has_absolute_thresholds),
      cmocka_unit_test(options_have_a_text_form),
      cmocka_unit_test(empty_records_are_unknown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
