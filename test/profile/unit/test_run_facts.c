/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Facts of runs: the same whatever the tree of merges, whatever the weights; the text form; damage. */
#include "hearth/profile.h"

#include "profile_fixture.h"
#include "profile_verifier.h"
#include "reseal.h"

#define HEAD    "hearth-profile-text 1\nrun duration_ns=1000000000\n"
#define CONTEXT "context\n  frame f a.c 1 1 1 0\n  AllocCount 1\n"

static const char *const texts[] = {HEAD CONTEXT,
                                    HEAD "facts peak=70\n" CONTEXT,
                                    HEAD "facts peak=9\ncommand \"tar cf a b\"\n" CONTEXT,
                                    HEAD "command \"tar cf a b\"\n" CONTEXT,
                                    HEAD "facts peak=80\ncommand ls\n" CONTEXT,
                                    HEAD "facts first_day=20780 last_day=20782\n" CONTEXT,
                                    HEAD "facts first_day=7 last_day=7 commands_differ=1\n" CONTEXT};
enum { TEXTS = sizeof texts / sizeof *texts };

static bytes merge(bytes a, bytes b, uint64_t weight) {
  hearth_error err;
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  hearth_profile *profiles[] = {open_bytes(a), open_bytes(b)};
  for (size_t i = 0; i < 2; i++) {
    hearth_builder_set_weight(builder, i ? weight : 1);
    expect_ok(hearth_builder_add_profile(builder, profiles[i], &err), &err);
    hearth_profile_close(profiles[i]);
  }
  bytes both = write_bytes(builder);
  hearth_builder_destroy(builder);
  return both;
}

/* Expects these facts, of which the string is compared now. */
static void expect_facts(bytes b, uint64_t peak, const char *command, bool differ) {
  hearth_error err;
  hearth_run_facts facts;
  hearth_profile *profile = open_bytes(b);
  expect_ok(hearth_profile_verify(profile, &err), &err);
  expect_ok(hearth_profile_get_run_facts(profile, &facts, &err), &err);
  assert_int_equal(facts.peak_bytes, peak);
  assert_string_equal(facts.command, command);
  assert_int_equal(facts.commands_differ, differ);
  hearth_profile_close(profile);
}

static void any_tree_has_one_result(void **state) {
  (void)state;
  bytes leaves[TEXTS];
  for (size_t i = 0; i < TEXTS; i++)
    leaves[i] = bytes_from_text(texts[i]);
  for (size_t i = 0; i < TEXTS * TEXTS * TEXTS; i++) {
    bytes a = leaves[i % TEXTS], b = leaves[i / TEXTS % TEXTS], c = leaves[i / TEXTS / TEXTS];
    bytes ab = merge(a, b, 1), left = merge(ab, c, 1), cb = merge(c, b, 1), right = merge(cb, a, 1);
    expect_equal_bytes(left, right);
    free(ab.data);
    free(left.data);
    free(cb.data);
    free(right.data);
  }
  for (size_t i = 0; i < TEXTS; i++)
    free(leaves[i].data);
}

static void equal_commands_stay_and_others_do_not(void **state) {
  (void)state;
  bytes some = bytes_from_text(texts[2]), same = bytes_from_text(texts[3]), other = bytes_from_text(texts[4]);
  bytes equal = merge(some, same, 1), differ = merge(some, other, 1000), none = bytes_from_text(texts[0]);
  expect_facts(equal, 9, "tar cf a b", false);
  expect_facts(differ, 80, "", true); /* a peak has no weight */
  expect_facts(none, 0, "", false);
  assert_int_equal(((hearth_indexed_header *)none.data)->section_count, HEARTH_SECTION_CHECKSUMS);
  bytes *const all[] = {&some, &same, &other, &equal, &differ, &none};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]->data);
}

static void days_are_the_first_and_the_last(void **state) {
  (void)state;
  bytes some = bytes_from_text(texts[5]), none = bytes_from_text(texts[4]), old = bytes_from_text(texts[6]);
  bytes with_none = merge(none, some, 9), all = merge(with_none, old, 1), *const both[] = {&with_none, &all};
  for (size_t i = 0; i < 2; i++) {
    hearth_error err;
    hearth_run_facts facts;
    hearth_profile *profile = open_bytes(*both[i]);
    expect_ok(hearth_profile_get_run_facts(profile, &facts, &err), &err);
    assert_int_equal(facts.first_day, i ? 7 : 20780);
    assert_int_equal(facts.last_day, 20782);
    hearth_profile_close(profile);
    free(both[i]->data);
  }
  free(some.data);
  free(none.data);
  free(old.data);
}

static void text_goes_there_and_back(void **state) {
  (void)state;
  for (size_t i = 0; i < TEXTS; i++) {
    bytes there = bytes_from_text(texts[i]);
    expect_text_twin(there, "");
    free(there.data);
  }
}

static void bad_text_is_refused(void **state) {
  (void)state;
  static const bad_text cases[] = {
      {HEAD "facts size=1\n", "text:3: facts have peak, commands_differ, first_day, last_day, but not 'size'"},
      {HEAD "facts first_day=3 last_day=2\n", "text:3: the last day of the runs is before the first"},
      {HEAD "facts last_day=2\n", "text:3: the last day"},
      {HEAD "facts commands_differ=2\n", "text:3: too great a number '2'"},
      {HEAD "command\n", "text:3: missing 'command line'"},
      {HEAD "command tar cf\n", "text:3: "},
  };
  expect_bad_texts(cases, sizeof cases / sizeof *cases);
}

static void damage_is_found(void **state) {
  (void)state;
  bytes b = bytes_from_text(texts[3]);
  hearth_indexed_section *s = section_of(b, HEARTH_SECTION_CHECKSUMS + 1);
  assert_int_equal(s->id, HEARTH_SECTION_RUN_FACTS);
  const struct {
    size_t at;
    uint8_t byte;
  } cases[] = {{8, 0}, {8 + 3, 255}, {12, 1}, {12, 2}, {16, 1}, {20, 1}};
  /* nothing, no string, a command of several, an unknown flag, one day without the other */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hearth_error err;
    hearth_run_facts facts;
    uint8_t *copy = malloc(b.size);
    memcpy(copy, b.data, b.size);
    if (i == 0)
      memset(copy + s->offset, 0, sizeof(hearth_indexed_run_facts));
    copy[s->offset + cases[i].at] = cases[i].byte;
    reseal(copy, b.size);
    hearth_profile *profile = open_bytes((bytes){copy, b.size});
    assert_int_equal(hearth_profile_get_run_facts(profile, &facts, &err), HEARTH_E_CORRUPT);
    hearth_profile_close(profile);
    free(copy);
  }
  free(b.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_tree_has_one_result),  cmocka_unit_test(equal_commands_stay_and_others_do_not),
      cmocka_unit_test(text_goes_there_and_back), cmocka_unit_test(bad_text_is_refused),
      cmocka_unit_test(damage_is_found),          cmocka_unit_test(days_are_the_first_and_the_last),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
