/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The golden files of the indexed format (test/golden, made by make-indexed.sh): released versions never change, stay
 * readable, and no truncated or flipped byte is ever read as something else. */
#include "profile_fixture.h"
#include "profile_verifier.h"

static bytes read_golden(const char *name) {
  char path[512];
  bytes b = {malloc(1 << 20), 0};
  snprintf(path, sizeof path, "%s/test/golden/%s", HEARTH_SOURCE_DIR, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  b.size = fread(b.data, 1, 1 << 20, file);
  fclose(file);
  assert_in_range(b.size, 1000, (1 << 20) - 1);
  return b;
}

/* Whatever alters these bytes is another version of the format. */
static void version_1_is_written_as_it_was(void **state) {
  bytes text = read_golden("indexed-2.txt"), golden = read_golden("indexed-2.prof");
  (void)state;
  ((char *)text.data)[text.size] = '\0';
  bytes now = bytes_from_text(text.data);
  expect_equal_bytes(golden, now);
  free(text.data);
  free(golden.data);
  free(now.data);
}

static void version_1_is_read_as_it_was(void **state) {
  bytes text = read_golden("indexed-2.txt"), golden = read_golden("indexed-2.prof");
  hearth_error err;
  (void)state;
  hearth_profile *profile = open_bytes(golden);
  expect_ok(hearth_profile_verify(profile, &err), &err);
  char *now = text_of(profile);
  assert_int_equal(strlen(now), text.size);
  assert_memory_equal(now, text.data, text.size);
  hearth_profile_close(profile);
  free(now);
  free(text.data);
  free(golden.data);
}

/* A message that names the file and what to do. */
static void expect_clear(const hearth_error *err) {
  if (!strstr(err->message, "memory: ") || !strstr(err->message, "hearth index"))
    fail_msg("unclear: %s", err->message);
}

static void every_truncation_is_a_clear_error(void **state) {
  bytes golden = read_golden("indexed-2.prof");
  (void)state;
  for (size_t size = 0; size < golden.size; size++) {
    hearth_profile *profile;
    hearth_error err;
    void *cut = malloc(size + !size); /* of the exact size, so that a sanitizer sees reads behind its end */
    memcpy(cut, golden.data, size);
    hearth_status status = hearth_profile_open_memory(cut, size, "memory", &profile, &err);
    assert_int_equal(status, size ? HEARTH_E_TRUNCATED : HEARTH_E_FORMAT);
    expect_clear(&err);
    free(cut);
  }
  free(golden.data);
}

/* Every bit of every byte: an error when it is opened, or when it is checked, and then the text is not printed at all or
 * is the right one. */
static void every_flipped_byte_is_a_clear_error_or_a_right_answer(void **state) {
  bytes golden = read_golden("indexed-2.prof"), text = read_golden("indexed-2.txt");
  (void)state;
  for (size_t at = 0; at < golden.size; at++) {
    hearth_profile *profile;
    hearth_error err;
    uint8_t *byte = (uint8_t *)golden.data + at, kept = *byte;
    *byte ^= at % 9 == 8 ? 0xff : (uint8_t)(1u << at % 9);
    hearth_status status = hearth_profile_open_memory(golden.data, golden.size, "memory", &profile, &err);
    if (status == HEARTH_OK) {
      char *now = text_of(profile);
      if (now) { /* the damage is where the text does not come from */
        assert_int_equal(strlen(now), text.size);
        assert_memory_equal(now, text.data, text.size);
        free(now);
      }
      assert_int_equal(hearth_profile_verify(profile, &err), HEARTH_E_CORRUPT);
      hearth_profile_close(profile);
    }
    assert_non_null(strstr(err.message, "memory: "));
    *byte = kept;
  }
  free(golden.data);
  free(text.data);
}

/* For make-indexed.sh, as `hearth merge` adds a plan. */
static int write_version_1(const char *path) {
  bytes text = read_golden("indexed-2.txt");
  ((char *)text.data)[text.size] = '\0';
  bytes now = bytes_from_text(text.data);
  FILE *file = fopen(path, "wb");
  bool ok = file && fwrite(now.data, 1, now.size, file) == now.size;
  ok = file && fclose(file) == 0 && ok;
  free(text.data);
  free(now.data);
  return !ok;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(version_1_is_written_as_it_was),
      cmocka_unit_test(version_1_is_read_as_it_was),
      cmocka_unit_test(every_truncation_is_a_clear_error),
      cmocka_unit_test(every_flipped_byte_is_a_clear_error_or_a_right_answer),
  };
  return argc == 2 ? write_version_1(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
