/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* docs/formats/indexed.md and the format agree: the table of fields, and the worked example byte for byte. */
#include "profile_fixture.h"

static char *read_document(void) {
  FILE *file = fopen(HEARTH_SOURCE_DIR "/docs/formats/indexed.md", "r");
  char *text = calloc(1, 1 << 20);
  assert_non_null(file);
  assert_non_null(text);
  assert_in_range(fread(text, 1, (1 << 20) - 1, file), 1, (1 << 20) - 2);
  fclose(file);
  return text;
}

static void every_field_is_described(void **state) {
  char *document = read_document();
  (void)state;
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description)                                     \
  if (!strstr(document, "| " #tag " | " #Name " | " #unit " | " #merge " | " description " |"))                        \
    fail_msg("field %s is missing or described differently", #Name);
#include "hearth/mib_fields.def"
  free(document);
}

/* Each line "    OFFSET  BYTES  |...|" behind "## Example" has the bytes of the file that the text before it gives. */
static void example_is_what_is_written(void **state) {
  char *document = read_document(), *example = strstr(document, "## Example\n");
  size_t seen = 0;
  (void)state;
  assert_non_null(example);
  char *text = strstr(example, "    hearth-profile-text"), *end = strstr(text, "\n\ngives");
  *end = '\0';
  bytes b = bytes_from_text(text + strlen("    "));
  for (char *line = end + 1; (line = strchr(line, '\n')); line++) {
    unsigned offset, byte;
    int used;
    if (sscanf(line + 1, "    %4x  %n", &offset, &used) != 1 || !strchr(line, '|'))
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
      cmocka_unit_test(every_field_is_described),
      cmocka_unit_test(example_is_what_is_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
