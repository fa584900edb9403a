/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Origins of runs: rows that do not fit, weights, the text form, and damage. Trees of merges: merge-trees.test. */
#include "hearth/origin.h"

#include "profile_fixture.h"
#include "reseal.h"

#define HEAD    "hearth-profile-text 1\nrun duration_ns=1000000000\n"
#define CONTEXT "context\n  frame f a.c 1 1 1 0\n  AllocCount 1\n"

static hearth_origins origins_of(bytes b) {
  hearth_error err;
  hearth_origins origins;
  hearth_profile *profile = open_bytes(b);
  expect_ok(hearth_profile_verify(profile, &err), &err);
  expect_ok(hearth_profile_get_origins(profile, &origins, &err), &err);
  hearth_profile_close(profile);
  for (size_t i = 0; i < origins.count; i++)
    origins.rows[i].host = ""; /* it is gone */
  return origins;
}

/* `count` rows of one build, day after day from a Monday on. */
static bytes days(unsigned count, const char *more) {
  static char text[32768];
  size_t at = (size_t)snprintf(text, sizeof text, HEAD "%s", more);
  for (unsigned i = 0; i < count; i++)
    at += (size_t)snprintf(text + at, sizeof text - at, "origin ab web day=%u runs=1 bytes=10\n", 4 + 7 * 1000 + i);
  snprintf(text + at, sizeof text - at, CONTEXT);
  return bytes_from_text(text);
}

static void rows_that_do_not_fit_become_coarser(void **state) {
  (void)state;
  bytes all = days(HEARTH_ORIGINS_MOST, ""), weeks = days(HEARTH_ORIGINS_MOST + 1, "");
  hearth_origins origins = origins_of(all);
  assert_int_equal(origins.granularity, HEARTH_ORIGINS_BY_DAY);
  assert_int_equal(origins.count, HEARTH_ORIGINS_MOST);
  origins = origins_of(weeks);
  assert_int_equal(origins.granularity, HEARTH_ORIGINS_BY_WEEK);
  assert_int_equal(origins.count, 37);
  assert_int_equal(origins.rows[0].day, 7004);
  assert_int_equal(origins.rows[0].runs, 7);
  assert_int_equal(origins.rows[0].total_bytes, 70);
  assert_int_equal(origins.rows[36].runs, 5);
  free(all.data);
  free(weeks.data);
}

static void nothing_known_is_stored_nowhere(void **state) {
  (void)state;
  bytes none = bytes_from_text(HEAD "origins granularity=3\norigin ab web day=9\n" CONTEXT);
  assert_int_equal(((hearth_indexed_header *)none.data)->section_count, HEARTH_SECTION_CHECKSUMS);
  free(none.data);
}

static void weights_count(void **state) {
  (void)state;
  bytes one = days(1, "");
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  hearth_builder_set_weight(builder, 5);
  add_bytes(builder, one);
  bytes five = write_bytes(builder);
  hearth_origins origins = origins_of(five);
  assert_int_equal(origins.rows[0].runs, 5);
  assert_int_equal(origins.rows[0].total_bytes, 50);
  hearth_builder_destroy(builder);
  free(one.data);
  free(five.data);
}

static void bad_text_is_refused(void **state) {
  (void)state;
  static const bad_text cases[] = {
      {HEAD "origins granularity=5\n", "text:3: too great a number '5'"},
      {HEAD "origins size=1\n", "text:3: origins have granularity, but not 'size'"},
      {HEAD "origin abc web runs=1\n", "text:3: a build id is up to 32 bytes"},
      {HEAD "origin ab\n", "text:3: missing 'name of the host'"},
      {HEAD "origin ab web week=1\n", "text:3: an origin has day, runs, bytes, but not 'week'"},
      {HEAD "origin ab web day=4294967296\n", "text:3: too great a number"},
  };
  expect_bad_texts(cases, sizeof cases / sizeof *cases);
}

/* Opens the copy, whose checksums are made right; returns whether its origins are refused. */
static bool is_refused(uint8_t *copy, size_t size) {
  hearth_error err;
  hearth_origins origins;
  reseal(copy, size);
  hearth_profile *profile = open_bytes((bytes){copy, size});
  hearth_status status = hearth_profile_get_origins(profile, &origins, &err);
  hearth_profile_close(profile);
  if (status != HEARTH_OK)
    assert_int_equal(status, HEARTH_E_CORRUPT);
  return status != HEARTH_OK;
}

static void damage_is_found(void **state) {
  (void)state;
  bytes b =
      bytes_from_text(HEAD "origins granularity=1\norigin ab web day=11 runs=1\norigin \"\" \"\" bytes=9\n" CONTEXT);
  hearth_indexed_section *s = section_of(b, HEARTH_SECTION_CHECKSUMS + 1);
  assert_int_equal(s->id, HEARTH_SECTION_ORIGINS);
  assert_int_equal(s->count, 2);
  const struct {
    size_t at;
    uint8_t byte;
  } cases[] = {
      {0, HEARTH_ORIGIN_GRANULARITIES}, /* unknown granularity */
      {0, HEARTH_ORIGINS_NO_HOST},
      {4, 1},            /* reserved */
      {8 + 8, 0},        /* neither runs nor bytes */
      {8 + 19, 255},     /* no string */
      {8 + 24, 33},      /* size of the build id */
      {8 + 28, 1},       /* reserved */
      {8 + 63, 1},       /* behind the build id */
      {8 + 64 + 20, 12}, /* no Monday */
      {8 + 64 + 24, 0},  /* a build id without a size */
  };
  uint8_t *copy = malloc(b.size);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    memcpy(copy, b.data, b.size);
    copy[s->offset + cases[i].at] = cases[i].byte;
    if (!is_refused(copy, b.size))
      fail_msg("case %zu is not refused", i);
  }
  memcpy(copy, b.data, b.size); /* rows in the wrong order */
  memcpy(copy + s->offset + 8, (uint8_t *)b.data + s->offset + 8 + 64, 64);
  memcpy(copy + s->offset + 8 + 64, (uint8_t *)b.data + s->offset + 8, 64);
  assert_true(is_refused(copy, b.size));
  static const uint32_t counts[] = {0, 1, 3, HEARTH_ORIGINS_MOST + 1, UINT32_MAX};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    memcpy(copy, b.data, b.size);
    section_of((bytes){copy, b.size}, HEARTH_SECTION_CHECKSUMS + 1)->count = counts[i];
    assert_true(is_refused(copy, b.size));
  }
  free(copy);
  free(b.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_that_do_not_fit_become_coarser),
      cmocka_unit_test(nothing_known_is_stored_nowhere),
      cmocka_unit_test(weights_count),
      cmocka_unit_test(bad_text_is_refused),
      cmocka_unit_test(damage_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
