/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The golden files of raw profiles (test/golden/raw, made by make.sh): each layout and version is read as it was, and no
 * truncated or flipped byte leads astray. */
#include "profile_fixture.h"
#include "raw_dump.h"

static const char *const files[] = {"hearth2", "llvm3", "llvm4", "llvm5"};
enum { FILE_COUNT = sizeof files / sizeof files[0], HAVE_CHECKSUM = 1 /* of them, the first */ };

static bytes read_golden(const char *name, const char *suffix) {
  char path[512];
  bytes b = {malloc(1 << 16), 0};
  snprintf(path, sizeof path, "%s/test/golden/raw/%s%s", HEARTH_SOURCE_DIR, name, suffix);
  FILE *file = fopen(path, "rb");
  if (!file)
    fail_msg("%s: cannot be opened", path);
  b.size = fread(b.data, 1, (1 << 16) - 1, file);
  ((char *)b.data)[b.size] = '\0';
  fclose(file);
  assert_true(b.size > 100);
  return b;
}

/* As test/golden/raw/print.py does. */
static char *print(hearth_raw_dump *dump) {
  char *text;
  size_t size;
  hearth_raw_record record;
  FILE *stream = open_memstream(&text, &size);
  for (size_t i = 0; i < dump->map_count; i++) {
    const hearth_raw_map *map = &dump->maps[i];
    fprintf(stream, "map %llx %llx %llx ", (unsigned long long)map->start, (unsigned long long)map->end,
            (unsigned long long)map->base);
    for (uint32_t k = 0; k < map->build_id_size; k++)
      fprintf(stream, "%02x", map->build_id[k]);
    fputc('\n', stream);
  }
  while (hearth_raw_next_record(dump, &record)) {
    fprintf(stream, "record %llu %llu %llu", (unsigned long long)record.mib.AllocCount,
            (unsigned long long)record.mib.TotalSize, (unsigned long long)record.mib.TotalAccessCount);
    for (uint32_t node = record.stack; node != HEARTH_RAW_NO_PARENT; node = dump->nodes[node].parent) {
      assert_in_range(node, 0, dump->node_count - 1);
      fprintf(stream, " %llx", (unsigned long long)dump->nodes[node].pc);
    }
    fputc('\n', stream);
  }
  fclose(stream);
  return text;
}

/* Text of a dump in memory of exactly this size, so that a sanitizer sees reads behind it; NULL, with an error that says
 * where, if it is refused. */
static char *text_of_raw(const void *data, size_t size, hearth_error *err) {
  uint8_t *copy = memcpy(malloc(size + !size), data, size);
  hearth_file file = {.data = copy, .size = size};
  hearth_raw_dump dump;
  size_t offset = 0;
  char *text = NULL;
  if (hearth_raw_read("golden", &file, &offset, &dump, err) == HEARTH_OK)
    text = print(&dump);
  else
    assert_int_equal(strncmp(err->message, "golden: offset ", 15), 0);
  hearth_raw_free(&dump);
  free(copy);
  return text;
}

static void every_version_is_read_as_it_was(void **state) {
  (void)state;
  for (size_t i = 0; i < FILE_COUNT; i++) {
    hearth_error err;
    bytes raw = read_golden(files[i], ""), expected = read_golden(files[i], ".txt");
    char *text = text_of_raw(raw.data, raw.size, &err);
    if (!text)
      fail_msg("%s: %s", files[i], err.message);
    assert_string_equal(text, expected.data);
    free(text);
    free(raw.data);
    free(expected.data);
  }
}

static void every_truncation_is_a_clear_error(void **state) {
  (void)state;
  for (size_t i = 0; i < FILE_COUNT; i++) {
    bytes raw = read_golden(files[i], "");
    for (size_t size = 0; size < raw.size; size++) {
      hearth_error err;
      assert_null(text_of_raw(raw.data, size, &err));
      assert_int_equal(err.status, HEARTH_E_TRUNCATED);
    }
    free(raw.data);
  }
}

/* LLVM's layout has no checksum: a changed number is a number, but nothing leads outside. */
static void every_flipped_bit_is_a_clear_error_or_another_number(void **state) {
  size_t refused = 0;
  (void)state;
  for (size_t i = 0; i < FILE_COUNT; i++) {
    bytes raw = read_golden(files[i], "");
    for (size_t bit = 0; bit < 8 * raw.size; bit++) {
      hearth_error err;
      uint8_t *byte = (uint8_t *)raw.data + bit / 8;
      *byte ^= (uint8_t)(1u << bit % 8);
      char *text = text_of_raw(raw.data, raw.size, &err);
      assert_true(!text || i >= HAVE_CHECKSUM);
      refused += !text;
      free(text);
      *byte ^= (uint8_t)(1u << bit % 8);
    }
    free(raw.data);
  }
  assert_true(refused > 5000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_version_is_read_as_it_was),
      cmocka_unit_test(every_truncation_is_a_clear_error),
      cmocka_unit_test(every_flipped_bit_is_a_clear_error_or_another_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
