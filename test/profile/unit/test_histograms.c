/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Histograms in indexed profiles and their text twin. */
#include "profile_fixture.h"
#include "profile_verifier.h"
#include "reseal.h"

#define HEAD                "hearth-profile-text 1\nrun duration_ns=8\n"
#define CONTEXT(line, rest) "context\n  frame f a.c 1 " #line " 1 0\n  AllocCount 1\n  TotalAccessCount 9\n" rest

static const char one[] = HEAD CONTEXT(1, "  histogram 1 0 300\n") CONTEXT(2, "")
    CONTEXT(3, "  histogram 0 18446744073709551615 7 0 0\n") CONTEXT(4, "  histogram 0 0\n");
static const char other[] =
    HEAD CONTEXT(1, "  histogram 1 1 1 1\n") CONTEXT(2, "  histogram 5\n") CONTEXT(3, "  histogram 1 1\n");

/* Histograms of all contexts, one after the other. */
static void expect_histograms(bytes b, const char *expected) {
  char found[512] = "";
  hearth_error err;
  hearth_profile *profile = open_bytes(b);
  expect_ok(hearth_profile_verify(profile, &err), &err);
  for (uint32_t i = 0; i < hearth_profile_context_count(profile); i++) {
    hearth_histogram h;
    expect_ok(hearth_profile_get_histogram(profile, i, &h, &err), &err);
    for (uint64_t k = 0; k < h.size; k++)
      sprintf(found + strlen(found), "%llu ", (unsigned long long)h.counts[k]);
    strcat(found, "| ");
  }
  assert_string_equal(found, expected);
  hearth_profile_close(profile);
}

static void are_stored_without_zeros_behind(void **state) {
  (void)state;
  bytes b = bytes_from_text(one);
  expect_histograms(b, "1 0 300 | | 0 18446744073709551615 7 | | ");
  free(b.data);
}

static void survive_text(void **state) {
  (void)state;
  bytes b = bytes_from_text(one);
  expect_text_twin(b, "\n  histogram 0 18446744073709551615 7\n");
  free(b.data);
}

/* A file without histograms has no section for them: it is what it was before there were any. */
static void cost_nothing_where_there_are_none(void **state) {
  (void)state;
  bytes b = bytes_from_text(HEAD CONTEXT(1, "")), zeros = bytes_from_text(HEAD CONTEXT(1, "  histogram 0 0\n"));
  expect_equal_bytes(b, zeros);
  assert_int_equal(((hearth_indexed_header *)b.data)->section_count, HEARTH_SECTION_CHECKSUMS);
  free(b.data);
  free(zeros.data);
}

static bytes merged(const char *first, const char *second, uint64_t weight) {
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  bytes a = bytes_from_text(first), b = bytes_from_text(second);
  add_bytes(builder, a);
  hearth_builder_set_weight(builder, weight);
  add_bytes(builder, b);
  bytes result = write_bytes(builder);
  hearth_builder_destroy(builder);
  free(a.data);
  free(b.data);
  return result;
}

static void are_added(void **state) {
  (void)state;
  bytes ab = merged(one, other, 1), ba = merged(other, one, 1), weighted = merged(one, other, 3);
  expect_histograms(ab, "2 1 301 1 | 5 | 1 18446744073709551615 7 | | ");
  expect_equal_bytes(ab, ba);
  expect_histograms(weighted, "4 3 303 3 | 15 | 3 18446744073709551615 7 | | ");
  free(ab.data);
  free(ba.data);
  free(weighted.data);
}

static void go_with_the_accesses(void **state) {
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  bytes b = bytes_from_text(one);
  (void)state;
  hearth_builder_leave_unrecorded(builder, UINT64_C(1) << HEARTH_COL_TotalAccessCount);
  add_bytes(builder, b);
  bytes without = write_bytes(builder);
  expect_histograms(without, "| | | | ");
  hearth_builder_destroy(builder);
  free(without.data);
  free(b.data);
}

/* Whatever the bytes are, with right checksums: an error, or histograms that lie in the file. */
static void damage_is_found(void **state) {
  bytes b = bytes_from_text(one);
  uint8_t *data = b.data;
  unsigned errors = 0;
  (void)state;
  for (size_t at = 0; at < b.size; at++)
    for (unsigned bits = 1; bits < 256; bits *= 2) {
      uint8_t *damaged = malloc(b.size);
      hearth_profile *profile;
      hearth_histogram h;
      hearth_error err;
      memcpy(damaged, data, b.size);
      damaged[at] ^= (uint8_t)bits;
      reseal(damaged, b.size);
      if (hearth_profile_open_memory(damaged, b.size, "memory", &profile, &err) == HEARTH_OK) {
        for (uint32_t i = 0; i < hearth_profile_context_count(profile) && i < 8; i++)
          if (hearth_profile_get_histogram(profile, i, &h, &err) != HEARTH_OK)
            errors++;
          else if (h.size > 0)
            assert_true(h.counts[h.size - 1] != 0);
        hearth_profile_close(profile);
      }
      free(damaged);
    }
  assert_true(errors > 0);
  free(b.data);
}

static void bad_text_is_refused(void **state) {
  static const char *const texts[] = {HEAD CONTEXT(1, "  histogram\n"), HEAD CONTEXT(1, "  histogram 1 x\n"),
                                      HEAD CONTEXT(1, "  histogram 1\n  histogram 2\n"), HEAD "histogram 1\n"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
    hearth_error err;
    assert_int_equal(hearth_builder_read_text(builder, texts[i], strlen(texts[i]), "text", &err), HEARTH_E_FORMAT);
    assert_non_null(strstr(err.message, "text:"));
    hearth_builder_destroy(builder);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(are_stored_without_zeros_behind),
      cmocka_unit_test(survive_text),
      cmocka_unit_test(cost_nothing_where_there_are_none),
      cmocka_unit_test(are_added),
      cmocka_unit_test(go_with_the_accesses),
      cmocka_unit_test(damage_is_found),
      cmocka_unit_test(bad_text_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
