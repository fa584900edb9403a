/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The text twin: both round trips, quoting, and errors that name their line. */
#include "file.h"
#include "profile_fixture.h"

#define HEAD "hearth-profile-text 1\nrun duration_ns=8\n"

/* Text to binary to text to binary: the second pair equals the first. */
static void expect_round_trip(const char *text, enum hearth_id_scheme scheme) {
  hearth_error err;
  bytes first = bytes_from_text_with(text, scheme);
  hearth_profile *profile = open_bytes(first);
  expect_ok(hearth_profile_verify(profile, &err), &err);
  char *printed = text_of(profile);
  bytes second = bytes_from_text_with(printed, scheme);
  expect_equal_bytes(first, second);
  hearth_profile *again = open_bytes(second);
  char *printed_again = text_of(again);
  assert_string_equal(printed, printed_again);
  hearth_profile_close(profile);
  hearth_profile_close(again);
  free(printed);
  free(printed_again);
  free(first.data);
  free(second.data);
}

static void printed_form_is_a_fixed_point(void **state) {
  (void)state;
  bytes b = bytes_from_text(small_profile());
  hearth_profile *profile = open_bytes(b);
  char *text = text_of(profile);
  assert_string_equal(text, small_profile());
  free(text);
  hearth_profile_close(profile);
  free(b.data);
}

static void round_trips(void **state) {
  (void)state;
  expect_round_trip(small_profile(), HEARTH_IDS_HEARTH);
  expect_round_trip(HEAD, HEARTH_IDS_HEARTH);
  expect_round_trip("hearth-profile-text 1\nrun runs=0 accesses=0\n", HEARTH_IDS_HEARTH);
  expect_round_trip("hearth-profile-text 1\nscheme llvm\nrun\ncontext\n frame _Z1fv a.c 1 2 3 4\n AllocCount 1\n",
                    HEARTH_IDS_LLVM);
  expect_round_trip("hearth-profile-text 1\r\nrun\r\nbinary \"\"\r\nbinary a 00ff\r\nbinary 00ff\r\n",
                    HEARTH_IDS_HEARTH);
  expect_round_trip(HEAD "context # comment\n"
                         " frame \"odd \\\"name\\\" \\\\ \\n \\t \\x1b \\xc3\\xa4\" \"my dir/#file.c\" 1 ? 0 0\n"
                         " frame \"0xname\" \"/\" 4294967295 4294967295 4294967295 4294967295 inlined\n"
                         " frame 0x00000000deadbeef \"\" 0 0 0 0\n"
                         " frame \"?\" //a//b.c 1 1 1 1\n"
                         " frame f /x/y/ 1 1 1 1\n"
                         " frame \"#\" . 1 1 1 1\n"
                         " AllocCount 18446744073709551615 # no newline at the end",
                    HEARTH_IDS_HEARTH);
}

/* Those about looks are no fields of runs that counted (test_estimates.c). */
static void every_field_survives(void **state) {
  char text[4096];
  size_t size = (size_t)snprintf(text, sizeof text, HEAD "context\n  frame f a.c 1 1 1 0\n");
  hearth_mib mib;
  hearth_error err;
  (void)state;
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description)                                     \
  if (tag < HEARTH_TAG_LookedLifetime)                                                                                 \
    size += (size_t)snprintf(text + size, sizeof text - size, "  " #Name " %llu\n",                                    \
                             (unsigned long long)1 << (tag % 4 * 16 + 3));
#include "hearth/mib_fields.def"
  bytes b = bytes_from_text(text);
  hearth_profile *profile = open_bytes(b);
  expect_ok(hearth_profile_get_context(profile, 0, NULL, &mib, &err), &err);
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description)                                     \
  assert_true(mib.Name == (tag < HEARTH_TAG_LookedLifetime ? UINT64_C(1) << (tag % 4 * 16 + 3) : 0));
#include "hearth/mib_fields.def"
  hearth_profile_close(profile);
  free(b.data);
  expect_round_trip(text, HEARTH_IDS_HEARTH);
}

static void text_is_recognised(void **state) {
  (void)state;
  assert_true(hearth_is_text_profile("hearth-profile-text 1\n", 22));
  assert_true(hearth_is_text_profile("hearth-profile-text 2", 21));
  assert_false(hearth_is_text_profile("hearth-profile-text", 19));
  assert_false(hearth_is_text_profile("hearth-profile-textual", 22));
  assert_false(hearth_is_text_profile("", 0));
}

static void errors_name_line_and_reason(void **state) {
  static const struct {
    const char *text, *message;
    hearth_status status;
  } rows[] = {
      {"", "text:1: missing 'hearth-profile-text'", HEARTH_E_FORMAT},
      {"hello\n", "text:1: not a text profile", HEARTH_E_FORMAT},
      {"hearth-profile-text 2\n", "text:1: this release", HEARTH_E_VERSION},
      {"hearth-profile-text 1\n", "there is no 'run' line", HEARTH_E_FORMAT},
      {"hearth-profile-text 1\nscheme llvm\n", "text:2: ", HEARTH_E_MISMATCH},
      {"hearth-profile-text 1\nscheme md5\n", "text:2: ", HEARTH_E_FORMAT},
      {"hearth-profile-text 1\nrun duration=8\n", "text:2: a run has", HEARTH_E_FORMAT},
      {"hearth-profile-text 1\nrun runs\n", "text:2: not NAME=VALUE: 'runs'", HEARTH_E_FORMAT},
      {"hearth-profile-text 1\nrun accesses=2\n", "text:2: too great a number '2'", HEARTH_E_FORMAT},
      {"hearth-profile-text 1\nrun runs=\n", "text:2: not a number", HEARTH_E_FORMAT},
      {HEAD "binary\n", "text:3: missing 'name of the binary'", HEARTH_E_FORMAT},
      {HEAD "binary a 012\n", "text:3: a build id", HEARTH_E_FORMAT},
      {HEAD "AllocCount 1\n", "text:3: outside a context", HEARTH_E_FORMAT},
      {HEAD "context\n\nAllocCount 1\n", "text:3: the context has no frame", HEARTH_E_FORMAT},
      {HEAD "context x\n", "text:3: unexpected 'x'", HEARTH_E_FORMAT},
      {HEAD "context\nframe f a.c 1 1 1 0\ncontext\n", "text:3: the context has no AllocCount", HEARTH_E_FORMAT},
      {HEAD "context\nframe f a.c 1 1 1\n", "text:4: missing 'discriminator'", HEARTH_E_FORMAT},
      {HEAD "context\nframe f a.c 1 1 -1 0\n", "text:4: not a number '-1'", HEARTH_E_FORMAT},
      {HEAD "context\nframe f a.c 1 4294967296 1 0\n", "text:4: too great a number", HEARTH_E_FORMAT},
      {HEAD "context\nframe f a.c 1 1 1 0 inline\n", "text:4: a frame may end", HEARTH_E_FORMAT},
      {HEAD "context\nframe f a.c 1 1 1 0 inlined 7\n", "text:4: a frame may end", HEARTH_E_FORMAT},
      {HEAD "context\nframe \"\" a.c 1 1 1 0\n", "text:4: a function without a name", HEARTH_E_FORMAT},
      {HEAD "context\nframe \"f a.c 1 1 1 0\n", "text:4: a quote is not closed", HEARTH_E_FORMAT},
      {HEAD "context\nframe \"f\"a.c 1 1 1 0\n", "text:4: a blank is missing", HEARTH_E_FORMAT},
      {HEAD "context\nframe \"\\x00\" a.c 1 1 1 0\n", "text:4: an escape", HEARTH_E_FORMAT},
      {HEAD "context\nframe f a.c 1 1 1 0\nAveSize 3\n", "text:5: no statement or field", HEARTH_E_FORMAT},
      {HEAD "context\nframe f a.c 1 1 1 0\nMinSize 3\nMinSize 3\n", "text:6: given twice", HEARTH_E_FORMAT},
      {HEAD "context\nframe f a.c 1 1 1 0\nMinSize 18446744073709551616\n", "text:5: too great", HEARTH_E_FORMAT},
      {HEAD "context\nframe f a.c 1 1 1 0\nMinSize\n", "text:5: missing 'number'", HEARTH_E_FORMAT},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    hearth_error err = {0};
    hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
    assert_int_equal(hearth_builder_read_text(builder, rows[i].text, strlen(rows[i].text), "text", &err),
                     rows[i].status);
    if (!strstr(err.message, rows[i].message))
      fail_msg("row %zu: '%s' is not in '%s'", i, rows[i].message, err.message);
    hearth_builder_destroy(builder);
  }
}

static void nul_characters_are_refused(void **state) {
  static const char text[] = HEAD "con\0text\n";
  hearth_error err;
  (void)state;
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  assert_int_equal(hearth_builder_read_text(builder, text, sizeof text - 1, "text", &err), HEARTH_E_FORMAT);
  hearth_builder_destroy(builder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(printed_form_is_a_fixed_point), cmocka_unit_test(round_trips),
      cmocka_unit_test(every_field_survives),          cmocka_unit_test(text_is_recognised),
      cmocka_unit_test(errors_name_line_and_reason),   cmocka_unit_test(nul_characters_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
