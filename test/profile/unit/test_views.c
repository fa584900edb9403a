/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Views: conditions of `hearth diff`, what can be compared, quantities. */
#include "profile_fixture.h"

#include "hearth/profile_diff.h"

static void conditions_are_read(void **state) {
  const struct {
    const char *text;
    hearth_condition expected;
  } rows[] = {
      {"cold_bytes<50%",
       {.set = HEARTH_SET_CLASS,
        .hotness = HEARTH_CLASS_COLD,
        .measure = HEARTH_QUANTITY_BYTES,
        .relation = HEARTH_LESS,
        .percent = true,
        .amount = 50}},
      {" live_allocs >= -1.5 % ",
       {.measure = HEARTH_QUANTITY_LIVE_ALLOCS,
        .relation = HEARTH_GREATER | HEARTH_EQUAL,
        .relative = true,
        .percent = true,
        .amount = -1.5}},
      {"live!=2KiB", {.measure = HEARTH_QUANTITY_LIVE, .relation = HEARTH_LESS | HEARTH_GREATER, .amount = 2048}},
      {"new_contexts==0",
       {.set = HEARTH_SET_CHANGE,
        .change = HEARTH_CHANGE_NEW,
        .measure = HEARTH_MEASURE_CONTEXTS,
        .relation = HEARTH_EQUAL}},
      {"notcold_byte_seconds<=+3",
       {.set = HEARTH_SET_CLASS,
        .hotness = HEARTH_CLASS_NOTCOLD,
        .measure = HEARTH_QUANTITY_BYTE_SECONDS,
        .relation = HEARTH_LESS | HEARTH_EQUAL,
        .relative = true,
        .amount = 3}},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const hearth_condition *e = &rows[i].expected;
    hearth_condition c;
    hearth_error err;
    expect_ok(hearth_condition_parse(rows[i].text, &c, &err), &err);
    assert_int_equal(c.set, e->set);
    assert_int_equal(c.hotness, e->hotness);
    assert_int_equal(c.change, e->change);
    assert_int_equal(c.measure, e->measure);
    assert_int_equal(c.relation, e->relation);
    assert_int_equal(c.relative, e->relative);
    assert_int_equal(c.percent, e->percent);
    assert_true(c.amount == e->amount);
  }
}

static void errors_name_the_column(void **state) {
  const struct {
    const char *text;
    size_t column;
  } rows[] = {
      {"", 1},
      {"size>1", 1},
      {"cold_size>1", 6},
      {"bytesx>1", 1},
      {"bytes", 6},
      {"bytes=1", 6},
      {"bytes>", 7},
      {"bytes>x", 7},
      {"bytes>+", 8},
      {"bytes>1.", 9},
      {"bytes>1kB", 8},
      {"allocs>1KiB", 9},
      {"new_bytes>+1", 11},
      {"bytes>1%%", 9},
      {"bytes>1 KiB x", 13},
      {"bytes>nan", 7},
      {"hot_contexts>1;", 15},
      {"changed_bytes> -2", 16},
      {"bytes>>1", 7},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    hearth_condition c;
    hearth_error err;
    char expected[32];
    assert_int_equal(hearth_condition_parse(rows[i].text, &c, &err), HEARTH_E_USAGE);
    snprintf(expected, sizeof expected, "column %zu:", rows[i].column);
    if (!strstr(err.message, expected))
      fail_msg("'%s': %s, expected %s", rows[i].text, err.message, expected);
  }
}

static void function_ids_of_two_kinds_do_not_compare(void **state) {
  bytes a = bytes_from_text(small_profile());
  bytes b = bytes_from_text_with("hearth-profile-text 1\nscheme llvm\nrun duration_ns=1\n", HEARTH_IDS_LLVM);
  hearth_profile *profiles[HEARTH_DIFF_SIDES] = {open_bytes(a), open_bytes(b)};
  const char *names[HEARTH_DIFF_SIDES] = {"a", "b"};
  hearth_diff *diff;
  hearth_error err;
  (void)state;
  assert_int_equal(hearth_diff_create(profiles, names, &(hearth_view_options){0}, &diff, &err), HEARTH_E_MISMATCH);
  assert_null(diff);
  assert_non_null(strstr(err.message, "b has LLVM's function ids and a has Hearth's"));
  hearth_profile_close(profiles[0]);
  hearth_profile_close(profiles[1]);
  free(a.data);
  free(b.data);
}

static void quantities_are_what_they_say(void **state) {
  hearth_mib mib = {.AllocCount = 4, .TotalSize = 100, .TotalLifetime = UINT64_C(8000000000), .LiveAtExit = 2};
  (void)state;
  assert_int_equal(hearth_quantity_of(HEARTH_QUANTITY_BYTE_SECONDS, &mib), 200);
  assert_int_equal(hearth_quantity_of(HEARTH_QUANTITY_LIVE, &mib), 50);
  mib.SizedAtExit = 1;
  mib.LiveBytes = 7; /* the other live block has the average size, 25 */
  assert_int_equal(hearth_quantity_of(HEARTH_QUANTITY_LIVE, &mib), 32);
  mib.SizedAtExit = 2;
  mib.LiveBytes = 0; /* blocks may be empty */
  assert_int_equal(hearth_quantity_of(HEARTH_QUANTITY_LIVE, &mib), 0);
  mib.LiveAtExit = 4; /* all are live: no estimate is needed */
  assert_int_equal(hearth_quantity_of(HEARTH_QUANTITY_LIVE, &mib), 100);
  mib.TotalSize = mib.TotalLifetime = UINT64_MAX;
  mib.AllocCount = 1;
  assert_true(hearth_quantity_of(HEARTH_QUANTITY_BYTE_SECONDS, &mib) == UINT64_MAX);
  assert_int_equal(hearth_quantity_of(HEARTH_QUANTITY_BYTE_SECONDS, &(hearth_mib){0}), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(conditions_are_read),
      cmocka_unit_test(errors_name_the_column),
      cmocka_unit_test(function_ids_of_two_kinds_do_not_compare),
      cmocka_unit_test(quantities_are_what_they_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
