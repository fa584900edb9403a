/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums over windows in indexed profiles and their text twin. */
#include "hearth/together.h"
#include "profile_fixture.h"
#include "reseal.h"

#define HEAD                "hearth-profile-text 1\nrun duration_ns=8\n"
#define CONTEXT(line, rest) "context\n  frame f a.c 1 " #line " 1 0\n  AllocCount 1\n  TotalAccessCount 9\n" rest

/* Two orders of the same contexts: their rows are 1, 2, 3. */
static const char one[] = HEAD "windows count=10 ns=50 sampled_pages=100 pages=400 lost_pairs=1\n" CONTEXT(
    3, "  touched live=90 windows=9 blocks=30 lines=20 pages=7\n")
    CONTEXT(1, "  touched live=10 windows=5 blocks=5 lines=6 pages=18446744073709551615\n  with 0 windows=4 lines=40\n")
        CONTEXT(2, "  with 1 windows=0 lines=0\n");
static const char other[] = HEAD "windows count=1\nwindows ns=2 lost_pairs=4\n" CONTEXT(2, "  touched live=7\n")
    CONTEXT(1, "  touched pages=5\n  with 0 windows=1 lines=2\n")
        CONTEXT(3, "  with 0 windows=3 lines=3\n  with 1 windows=1 lines=1\n");

/* Totals | rows | pairs. */
static void expect(bytes b, const char *expected) {
  char found[1024];
  hearth_error err;
  hearth_together t;
  hearth_profile *profile = open_bytes(b);
  expect_ok(hearth_profile_verify(profile, &err), &err);
  expect_ok(hearth_profile_get_together(profile, &t, &err), &err);
  sprintf(found, "%llu %llu %llu %llu %llu", (unsigned long long)t.totals.windows,
          (unsigned long long)t.totals.window_ns, (unsigned long long)t.totals.sampled_pages,
          (unsigned long long)t.totals.pages, (unsigned long long)t.totals.lost_pairs);
  for (size_t i = 0; i < t.row_count; i++) {
    hearth_touched s = hearth_together_find(&t, t.rows[i].context);
    sprintf(found + strlen(found), " | %u: %llu %llu %llu %llu %llu", t.rows[i].context, (unsigned long long)s.live,
            (unsigned long long)s.windows, (unsigned long long)s.blocks, (unsigned long long)s.lines,
            (unsigned long long)s.pages);
  }
  for (size_t i = 0; i < t.pair_count; i++)
    sprintf(found + strlen(found), " | %u-%u: %llu %llu", t.pairs[i].a, t.pairs[i].b,
            (unsigned long long)t.pairs[i].windows, (unsigned long long)t.pairs[i].lines);
  assert_string_equal(found, expected);
  hearth_profile_close(profile);
}

static void are_stored_by_row(void **state) {
  (void)state;
  bytes b = bytes_from_text(one);
  expect(b, "10 50 100 400 1 | 0: 10 5 5 6 18446744073709551615 | 2: 90 9 30 20 7 | 0-2: 4 40");
  free(b.data);
}

static void are_found_by_context(void **state) {
  (void)state;
  hearth_together t;
  hearth_error err;
  bytes b = bytes_from_text(other);
  hearth_profile *profile = open_bytes(b);
  expect_ok(hearth_profile_get_together(profile, &t, &err), &err);
  assert_int_equal(hearth_together_find(&t, 1).live, 7);
  assert_int_equal(hearth_together_find(&t, 2).pages, 0);
  assert_int_equal(t.pair_count, 3); /* 0-1, 0-2, 1-2 */
  assert_int_equal(hearth_together_first_pair(&t, 0), 0);
  assert_int_equal(hearth_together_first_pair(&t, 1), 2);
  assert_int_equal(hearth_together_first_pair(&t, 2), 3);
  hearth_profile_close(profile);
  free(b.data);
}

static void survive_text(void **state) {
  (void)state;
  const char *texts[] = {one, other};
  for (size_t i = 0; i < 2; i++) {
    bytes b = bytes_from_text(texts[i]);
    hearth_profile *profile = open_bytes(b);
    char *text = text_of(profile);
    bytes again = bytes_from_text(text);
    expect_equal_bytes(b, again);
    hearth_profile_close(profile);
    free(text);
    free(again.data);
    free(b.data);
  }
}

static void cost_nothing_where_there_are_none(void **state) {
  (void)state;
  bytes b = bytes_from_text(HEAD CONTEXT(1, "")),
        zeros = bytes_from_text(HEAD "windows count=0\n" CONTEXT(1, "  touched live=0\n"));
  expect_equal_bytes(b, zeros);
  expect(b, "0 0 0 0 0");
  assert_int_equal(((hearth_indexed_header *)b.data)->section_count, HEARTH_SECTION_CHECKSUMS);
  free(b.data);
  free(zeros.data);
}

static void add(hearth_builder *builder, bytes b) {
  hearth_error err;
  hearth_profile *profile = open_bytes(b);
  expect_ok(hearth_builder_add_profile(builder, profile, &err), &err);
  hearth_profile_close(profile);
}

/* `first`, and `second` by a weight, through a builder and another one. */
static bytes merged(const char *first, const char *second, uint64_t weight, uint64_t unrecorded) {
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH), *all = hearth_builder_create(HEARTH_IDS_HEARTH);
  bytes a = bytes_from_text(first), b = bytes_from_text(second);
  hearth_error err;
  hearth_builder_leave_unrecorded(builder, unrecorded);
  add(builder, a);
  hearth_builder_set_weight(builder, weight);
  add(builder, b);
  expect_ok(hearth_builder_add_builder(all, builder, &err), &err);
  bytes result = write_bytes(all);
  hearth_builder_destroy(builder);
  hearth_builder_destroy(all);
  free(a.data);
  free(b.data);
  return result;
}

static void add_up(void **state) {
  (void)state;
  bytes ab = merged(one, other, 1, 0), ba = merged(other, one, 1, 0), twice = merged(one, other, 2, 0);
  expect_equal_bytes(ab, ba);
  expect(ab, "11 52 100 400 5 | 0: 10 5 5 6 18446744073709551615 | 1: 7 0 0 0 0 | 2: 90 9 30 20 7"
             " | 0-1: 1 2 | 0-2: 5 41 | 1-2: 3 3");
  expect(twice, "12 54 100 400 9 | 0: 10 5 5 6 18446744073709551615 | 1: 14 0 0 0 0 | 2: 90 9 30 20 7"
                " | 0-1: 2 4 | 0-2: 6 42 | 1-2: 6 6");
  free(ab.data);
  free(ba.data);
  free(twice.data);
}

static void go_with_the_accesses(void **state) {
  (void)state;
  bytes b = merged(one, other, 1, UINT64_C(1) << HEARTH_COL_TotalAccessCount);
  expect(b, "0 0 0 0 0");
  free(b.data);
}

/* Contexts that folding makes one are no pair; their sums are one. */
static void fold_with_their_contexts(void **state) {
  (void)state;
  static const char text[] = HEAD "context\n  frame f a.c 1 1 1 0\n  frame g a.c 9 1 1 0\n  AllocCount 1\n"
                                  "  touched live=1 windows=1 blocks=1 lines=1 pages=1\n"
                                  "context\n  frame f a.c 1 1 1 0\n  frame g a.c 9 1 1 0\n  frame g a.c 9 1 1 0\n"
                                  "  AllocCount 1\n  touched live=2 windows=1 blocks=2 lines=2 pages=2\n"
                                  "  with 0 windows=1 lines=1\n"
                                  "context\n  frame h a.c 30 1 1 0\n  AllocCount 1\n  with 0 windows=2 lines=3\n"
                                  "  with 1 windows=4 lines=5\n";
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  bytes whole = bytes_from_text(text);
  hearth_builder_fold_recursion(builder, true);
  add(builder, whole);
  bytes folded = write_bytes(builder);
  expect(folded, "0 0 0 0 0 | 0: 3 2 3 3 3 | 0-1: 6 8");
  hearth_builder_destroy(builder);
  free(whole.data);
  free(folded.data);
}

static void bad_text_is_refused(void **state) {
  (void)state;
  static const bad_text cases[] = {
      {HEAD "windows number=1\n" CONTEXT(1, ""), "text:3: windows have count"},
      {HEAD CONTEXT(1, "  touched bytes=1\n"), "text:7: what was touched has live"},
      {HEAD CONTEXT(1, "  touched live=1\n  touched live=1\n"), "text:8: given twice"},
      {HEAD CONTEXT(1, "  with 0 windows=1\n"), "text:7: no earlier context"},
      {HEAD CONTEXT(1, "") CONTEXT(2, "  with 0 live=1\n"), "text:11: a pair has windows"},
      {HEAD CONTEXT(1, "") CONTEXT(2, "  with windows=1\n"), "text:11: not a number"},
  };
  expect_bad_texts(cases, sizeof cases / sizeof *cases);
}

/* Every flip in the section, with right checksums, is found or gives other numbers, which lie inside. */
static void damage_is_found(void **state) {
  (void)state;
  bytes b = bytes_from_text(other);
  hearth_profile *profile = open_bytes(b);
  hearth_indexed_section *s = (hearth_indexed_section *)((uint8_t *)b.data + sizeof(hearth_indexed_header)) + 11;
  uint8_t *copy = malloc(b.size);
  unsigned refused = 0;
  assert_int_equal(s->id, HEARTH_SECTION_TOGETHER);
  hearth_profile_close(profile);
  for (size_t at = s->offset; at < s->offset + s->size; at++)
    for (unsigned bit = 0; bit < 8; bit++) {
      hearth_together t;
      hearth_error err;
      memcpy(copy, b.data, b.size);
      copy[at] ^= (uint8_t)(1u << bit);
      reseal(copy, b.size);
      profile = open_bytes((bytes){copy, b.size});
      if (hearth_profile_get_together(profile, &t, &err) != HEARTH_OK) {
        assert_int_equal(err.status, HEARTH_E_CORRUPT);
        refused++;
      } else {
        for (size_t i = 0; i < t.pair_count; i++)
          assert_true(t.pairs[i].a < t.pairs[i].b && t.pairs[i].b < 3);
        for (size_t i = 0; i < t.row_count; i++)
          assert_true(t.rows[i].context < 3);
      }
      hearth_profile_close(profile);
    }
  assert_true(refused > 100);
  free(copy);
  free(b.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(are_stored_by_row),
      cmocka_unit_test(are_found_by_context),
      cmocka_unit_test(survive_text),
      cmocka_unit_test(cost_nothing_where_there_are_none),
      cmocka_unit_test(add_up),
      cmocka_unit_test(go_with_the_accesses),
      cmocka_unit_test(fold_with_their_contexts),
      cmocka_unit_test(bad_text_is_refused),
      cmocka_unit_test(damage_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
