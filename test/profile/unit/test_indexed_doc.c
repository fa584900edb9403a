/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The worked example of docs/formats/indexed-example.txt is what is written, byte for byte. */
#include "profile_fixture.h"

static char *read_document(void) {
  FILE *file = fopen(HEARTH_SOURCE_DIR "/docs/formats/indexed-example.txt", "r");
  char *text = calloc(1, 1 << 20);
  assert_non_null(file);
  assert_non_null(text);
  assert_in_range(fread(text, 1, (1 << 20) - 1, file), 1, (1 << 20) - 2);
  fclose(file);
  return text;
}

/* Each line "OFFSET  BYTES  |...|" has bytes of the file that the text before it gives. */
static void example_is_what_is_written(void **state) {
  char *document = read_document(), *text = strstr(document, "hearth-profile-text");
  size_t seen = 0;
  (void)state;
  assert_non_null(text);
  char *end = strstr(text, "\n\ngives");
  assert_non_null(end);
  *end = '\0';
  bytes b = bytes_from_text(text);
  for (char *line = end + 1; (line = strchr(line, '\n')); line++) {
    unsigned offset, byte;
    int used;
    if (sscanf(line + 1, "%4x  %n", &offset, &used) != 1 || !strchr(line, '|'))
      continue;
    for (char *hex = line + 1 + used; sscanf(hex, "%2x%n", &byte, &used) == 1; hex += used, offset++, seen++) {
      assert_in_range(offset, 0, b.size - 1);
      assert_int_equal(((uint8_t *)b.data)[offset], byte);
    }
  }
  assert_in_range(seen, 500, b.size);
  free(b.data);
  free(document);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(example_is_what_is_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
