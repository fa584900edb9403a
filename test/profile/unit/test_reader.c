/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The reader: what was written is read; what was damaged is refused, and never read wrongly. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile_fixture.h"
#include "reseal.h"

#include "hearth/ids.h"
#include "profile_verifier.h"

static void expect_status(bytes b, hearth_status expected, const char *message) {
  hearth_profile *profile;
  hearth_error err;
  assert_int_equal(hearth_profile_open_memory(b.data, b.size, "name", &profile, &err), expected);
  assert_null(profile);
  if (!strstr(err.message, message) || !strstr(err.message, "name: "))
    fail_msg("'%s' is not in '%s'", message, err.message);
}

static void rows_are_read_back(void **state) {
  bytes b = bytes_from_text(small_profile());
  hearth_profile *profile = open_bytes(b);
  hearth_function_info f;
  hearth_frame_info frame;
  hearth_error err;
  uint32_t row, node, frame_row, parent;
  char path[HEARTH_PATH_LIMIT];
  hearth_mib mib;
  (void)state;
  expect_ok(hearth_profile_verify(profile, &err), &err);
  assert_int_equal(hearth_profile_function_count(profile), 3);
  assert_int_equal(hearth_profile_frame_count(profile), 4);
  assert_int_equal(hearth_profile_stack_count(profile), 5);
  assert_int_equal(hearth_profile_context_count(profile), 2);
  assert_int_equal(hearth_profile_binary_count(profile), 1);

  uint64_t id = hearth_function_id("xmalloc", 7, "util.c");
  expect_ok(hearth_profile_find_function(profile, id, &row, &err), &err);
  expect_ok(hearth_profile_get_function(profile, row, &f, &err), &err);
  assert_string_equal(f.name, "xmalloc");
  assert_int_equal(f.start_line, 10);
  assert_int_equal(f.frame_count, 1);
  expect_ok(hearth_profile_get_path(profile, f.path, path, sizeof path, &err), &err);
  assert_string_equal(path, "src/util.c");
  expect_ok(hearth_profile_get_path(profile, f.path, path, 6, &err), &err);
  assert_string_equal(path, "src/u");
  expect_ok(hearth_profile_get_frame(profile, f.first_frame, &frame, &err), &err);
  assert_int_equal(frame.line, 2);
  assert_int_equal(frame.column, 9);
  assert_true(frame.stack_id == hearth_stack_id(id, 2, 9));
  assert_int_equal(frame.context_count, 2);

  uint64_t bytes_seen = 0;
  for (uint32_t i = 0; i < frame.context_count; i++) {
    expect_ok(hearth_profile_get_context(profile, frame.first_context + i, &node, &mib, &err), &err);
    bytes_seen += mib.TotalSize;
    expect_ok(hearth_profile_get_stack(profile, node, &frame_row, &parent, &err), &err);
    assert_int_equal(frame_row, f.first_frame);
    while (node != HEARTH_NONE)
      expect_ok(hearth_profile_get_stack(profile, node, &frame_row, &node, &err), &err);
  }
  assert_int_equal(bytes_seen, 67108864 + 32000);
  assert_int_equal(hearth_profile_find_function(profile, id + 1, &row, &err), HEARTH_E_NOT_FOUND);
  assert_int_equal(hearth_profile_get_context(profile, 2, &node, &mib, &err), HEARTH_E_CORRUPT);
  hearth_profile_close(profile);
  free(b.data);
}

static void every_function_is_found(void **state) {
  enum { FUNCTIONS = 1000 };
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  hearth_mib mib = {.AllocCount = 1};
  hearth_error err;
  uint32_t row;
  char name[32];
  (void)state;
  for (unsigned i = 0; i < FUNCTIONS; i++) {
    hearth_builder_frame frame = {.line = 1};
    snprintf(name, sizeof name, "function%u", i);
    expect_ok(hearth_builder_function(builder, name, "a.c", 1, &frame.function, &err), &err);
    expect_ok(hearth_builder_add(builder, &frame, 1, &mib, &err), &err);
  }
  bytes b = write_bytes(builder);
  hearth_profile *profile = open_bytes(b);
  expect_ok(hearth_profile_verify(profile, &err), &err);
  for (unsigned i = 0; i < 2 * FUNCTIONS; i++) {
    size_t length = (size_t)snprintf(name, sizeof name, "function%u", i);
    assert_int_equal(hearth_profile_find_function(profile, hearth_function_id(name, length, "a.c"), &row, &err),
                     i < FUNCTIONS ? HEARTH_OK : HEARTH_E_NOT_FOUND);
  }
  hearth_profile_close(profile);
  hearth_builder_destroy(builder);
  free(b.data);
}

/* Rows that are read in turn are decoded by the block, others one by one. */
static void contexts_are_the_same_in_any_order(void **state) {
  enum { CONTEXTS = 200 };
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  hearth_error err;
  (void)state;
  for (uint32_t i = 0; i < CONTEXTS; i++) {
    hearth_builder_frame frame = {.line = i, .column = 1};
    hearth_mib mib = {.AllocCount = 1 + i % 7, .TotalSize = i * i, .TotalLifetime = i % 5 ? 0 : UINT64_MAX - i};
    expect_ok(hearth_builder_function(builder, "f", "a.c", 1, &frame.function, &err), &err);
    expect_ok(hearth_builder_add(builder, &frame, 1, &mib, &err), &err);
  }
  bytes b = write_bytes(builder);
  hearth_profile *profile = open_bytes(b);
  hearth_mib backwards[CONTEXTS], mib;
  uint32_t nodes[CONTEXTS], node;
  uint64_t size;
  for (uint32_t row = CONTEXTS; row-- > 0;)
    expect_ok(hearth_profile_get_context(profile, row, &nodes[row], &backwards[row], &err), &err);
  for (uint32_t row = 0; row < CONTEXTS; row++) {
    expect_ok(hearth_profile_get_context_bytes(profile, row, &size, &err), &err);
    assert_true(size == backwards[row].TotalSize);
  }
  for (uint32_t row = 0; row < CONTEXTS; row++) { /* numbers of some only, while the block of the others is at hand */
    expect_ok(hearth_profile_get_context(profile, row, &node, row % 3 ? &mib : NULL, &err), &err);
    assert_int_equal(node, nodes[row]);
    if (row % 3)
      assert_memory_equal(&mib, &backwards[row], sizeof mib);
  }
  assert_int_equal(hearth_profile_get_context(profile, CONTEXTS, &node, &mib, &err), HEARTH_E_CORRUPT);
  assert_int_equal(hearth_profile_get_context_bytes(profile, CONTEXTS, &size, &err), HEARTH_E_CORRUPT);
  hearth_profile_close(profile);
  hearth_builder_destroy(builder);
  free(b.data);
}

static void columns_have_every_width(void **state) {
  static const uint64_t values[] = {0, UINT8_MAX, UINT8_MAX + 1, UINT16_MAX, UINT16_MAX + 1, UINT32_MAX, 1ull << 32};
  (void)state;
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    char text[256];
    hearth_mib mib;
    hearth_error err;
    snprintf(text, sizeof text,
             "hearth-profile-text 1\nrun\ncontext\nframe f a.c 1 1 1 0\nAllocCount 3\nMaxSize %llu\n"
             "context\nframe f a.c 1 1 2 0\nAllocCount 1\nMaxSize 1\n",
             (unsigned long long)values[i]);
    bytes b = bytes_from_text(text);
    hearth_profile *profile = open_bytes(b);
    expect_ok(hearth_profile_get_context(profile, 0, NULL, &mib, &err), &err);
    assert_true(mib.MaxSize == values[i] && mib.AllocCount == 3);
    expect_ok(hearth_profile_get_context(profile, 1, NULL, &mib, &err), &err);
    assert_true(mib.MaxSize == 1 && mib.AllocCount == 1);
    hearth_profile_close(profile);
    free(b.data);
  }
}

static void empty_profile_is_readable(void **state) {
  bytes b = bytes_from_text("hearth-profile-text 1\nrun\n");
  hearth_profile *profile = open_bytes(b);
  hearth_error err;
  uint32_t row;
  (void)state;
  expect_ok(hearth_profile_verify(profile, &err), &err);
  assert_int_equal(hearth_profile_find_function(profile, 1, &row, &err), HEARTH_E_NOT_FOUND);
  hearth_profile_close(profile);
  free(b.data);
}

static void every_truncation_is_refused(void **state) {
  bytes b = bytes_from_text(small_profile());
  (void)state;
  for (size_t size = 0; size < b.size; size++) {
    /* A copy of the exact size, so that a sanitizer sees reads behind its end. */
    bytes cut = {malloc(size ? size : 1), size};
    memcpy(cut.data, b.data, size);
    if (size == 0)
      expect_status(cut, HEARTH_E_FORMAT, "empty");
    else
      expect_status(cut, HEARTH_E_TRUNCATED, "truncated");
    free(cut.data);
  }
  bytes longer = {calloc(1, b.size + 1), b.size + 1};
  memcpy(longer.data, b.data, b.size);
  expect_status(longer, HEARTH_E_CORRUPT, "follow");
  free(longer.data);
  free(b.data);
}

/* Everything that can be asked of a profile; the answers as text, NULL if one was an error. */
static char *ask_everything(bytes b) {
  hearth_profile *profile;
  hearth_error err;
  double density;
  uint32_t row;
  if (hearth_profile_open_memory(b.data, b.size, "memory", &profile, &err) != HEARTH_OK)
    return NULL;
  char *text = text_of(profile), *all = NULL;
  uint64_t id = hearth_function_id("main", 4, "store.c");
  if (text && hearth_profile_find_function(profile, id, &row, &err) == HEARTH_OK &&
      hearth_profile_get_hot_cutoff(profile, 900000, &density, &err) == HEARTH_OK) {
    all = malloc(strlen(text) + 64);
    sprintf(all, "%s%u %.17g", text, row, density);
  }
  free(text);
  hearth_profile_close(profile);
  return all;
}

static void every_flipped_byte_is_noticed(void **state) {
  bytes b = bytes_from_text(small_profile());
  char *answers = ask_everything(b);
  (void)state;
  assert_non_null(answers);
  for (size_t i = 0; i < b.size; i++) {
    hearth_profile *profile;
    hearth_error err;
    uint8_t *byte = (uint8_t *)b.data + i, kept = *byte;
    *byte ^= (uint8_t)(1u << i % 8);
    if (hearth_profile_open_memory(b.data, b.size, "memory", &profile, &err) == HEARTH_OK) {
      assert_int_equal(hearth_profile_verify(profile, &err), HEARTH_E_CORRUPT);
      hearth_profile_close(profile);
      char *now = ask_everything(b);
      if (now)
        assert_string_equal(now, answers);
      free(now);
    }
    *byte = kept;
  }
  free(answers);
  free(b.data);
}

/* Damage that carries right checksums is a writer's mistake or malice: any answer is fine, a crash or hang is not. */
static void resealed_damage_is_survived(void **state) {
  bytes b = bytes_from_text(small_profile()), copy = {malloc(b.size), b.size};
  uint64_t seed = 99;
  size_t refused = 0, rounds = 20000;
  (void)state;
  for (size_t i = 0; i < rounds; i++) {
    hearth_profile *profile;
    hearth_error err;
    memcpy(copy.data, b.data, b.size);
    for (uint32_t changes = 1 + next_random(&seed) % 3; changes > 0; changes--) {
      static const uint8_t values[] = {0, 1, 2, 0x7f, 0x80, 0xff};
      uint32_t choice = next_random(&seed);
      ((uint8_t *)copy.data)[next_random(&seed) % b.size] = choice & 1 ? values[choice / 2 % 6] : (uint8_t)(choice / 2);
    }
    reseal(copy.data, copy.size);
    free(ask_everything(copy));
    if (hearth_profile_open_memory(copy.data, copy.size, "memory", &profile, &err) != HEARTH_OK) {
      refused++;
      continue;
    }
    refused += hearth_profile_verify(profile, &err) != HEARTH_OK;
    hearth_profile_close(profile);
  }
  assert_true(refused > rounds / 4 && refused < rounds);
  free(copy.data);
  free(b.data);
}

static void unknown_sections_and_fields_are_skipped(void **state) {
  bytes b = bytes_from_text(small_profile());
  hearth_profile *profile;
  hearth_error err;
  hearth_mib mib;
  (void)state;
  /* Known ones under unknown numbers: to the reader there is no difference. */
  hearth_indexed_field *schema = section_data(b, HEARTH_SECTION_SCHEMA);
  assert_int_equal(schema[0].tag, HEARTH_TAG_StackID);
  for (size_t i = 0; i < section_of(b, HEARTH_SECTION_SCHEMA)->count; i++)
    if (schema[i].tag == HEARTH_TAG_MaxSize)
      schema[i].tag = 1000;
  reseal(b.data, b.size);
  profile = open_bytes(b);
  expect_ok(hearth_profile_get_context(profile, 0, NULL, &mib, &err), &err);
  assert_int_equal(mib.MaxSize, 0);
  assert_true(mib.AllocCount > 0);
  hearth_profile_close(profile);

  section_of(b, HEARTH_SECTION_BINARIES)->id = 77;
  reseal(b.data, b.size);
  expect_status(b, HEARTH_E_CORRUPT, "section 9 is missing");
  free(b.data);
}

static void unknown_versions_and_flags_are_refused(void **state) {
  bytes b = bytes_from_text(small_profile());
  hearth_indexed_header *header = b.data, kept = *header;
  (void)state;
  header->version = HEARTH_INDEXED_VERSION + 1;
  reseal(b.data, b.size);
  expect_status(b, HEARTH_E_VERSION, "version ");
  *header = kept;
  header->required_flags |= 2;
  reseal(b.data, b.size);
  expect_status(b, HEARTH_E_VERSION, "flags 0x3");
  *header = kept;
  header->id_scheme = 9;
  reseal(b.data, b.size);
  expect_status(b, HEARTH_E_VERSION, "scheme 9");
  *header = kept;
  header->optional_flags = 0xff; /* may be ignored */
  reseal(b.data, b.size);
  hearth_profile_close(open_bytes(b));
  free(b.data);
}

static hearth_indexed_column *packed_columns(bytes b, uint32_t id) {
  return (hearth_indexed_column *)((hearth_indexed_packed *)section_data(b, id) + 1);
}

/* The only block of a small packed table. */
static uint8_t *packed_block(bytes b, uint32_t id) {
  hearth_indexed_packed *table = section_data(b, id);
  return (uint8_t *)(packed_columns(b, id) + table->column_count) + 2 * sizeof(uint32_t);
}

static void verify_finds_disorder(void **state) {
  (void)state;
  for (int what = 0; what < 5; what++) {
    bytes b = bytes_from_text(small_profile());
    hearth_error err;
    if (what == 0)
      ((hearth_indexed_function *)section_data(b, HEARTH_SECTION_FUNCTIONS))[1].id = 1;
    if (what == 1)
      packed_columns(b, HEARTH_SECTION_FRAMES)[HEARTH_FRAME_FUNCTION].base ^= 1;
    if (what == 2) /* the last frame of the first context's leaf */
      packed_block(b, HEARTH_SECTION_STACKS)[HEARTH_STACK_COLUMNS] ^= 1;
    if (what == 3)
      packed_columns(b, HEARTH_SECTION_CONTEXTS)[0].base ^= 1;
    if (what == 4)
      ((char *)section_data(b, HEARTH_SECTION_STRINGS))[1] = 'z';
    reseal(b.data, b.size);
    hearth_profile *profile = open_bytes(b);
    if (hearth_profile_verify(profile, &err) != HEARTH_E_CORRUPT)
      fail_msg("damage %d is not found", what);
    hearth_profile_close(profile);
    free(b.data);
  }
}

static void bytes_at_an_odd_address_are_refused(void **state) {
  bytes b = bytes_from_text(small_profile());
  char *copy = malloc(b.size + 1);
  hearth_profile *profile;
  hearth_error err;
  (void)state;
  memcpy(copy + 1, b.data, b.size);
  assert_int_equal(hearth_profile_open_memory(copy + 1, b.size, "memory", &profile, &err), HEARTH_E_USAGE);
  free(copy);
  free(b.data);
}

static void foreign_files_are_named(void **state) {
  static const struct {
    const char *begin;
    size_t size;
    const char *message;
  } rows[] = {
      {"abcd\n", 5, "(starts with 'abcd.')"},
      {"hearth-profile-text 1\n", 22, "text form"},
      {"\x7f"
       "ELF\2\1\1",
       7, "program or library"},
      {"\x81HRHRAW\x81", 8, "a raw profile: use 'hearth index'"},
      {"\x81HTRTAW\x81", 8, "a trace: use 'hearth trace', 'hearth report' or 'hearth index'"},
      {"hearth-trace-text 1\n", 20, "the text of a trace: use the trace itself"},
      {"---\n# MemProfSummary:\n", 23, "LLVM's YAML: make an indexed profile of it with 'llvm-profdata merge"},
      {"---\nHeapProfileRecords:\n", 24, "LLVM's YAML: make"},
      {"---\nDataAccessProfiles:\n", 24, "LLVM's YAML: make"},
      {"\x81rforpm\xff", 8, "raw profile of LLVM's MemProf"},
      {"\x81rforpl\xff", 8, "-fprofile-generate"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    expect_status((bytes){(void *)rows[i].begin, rows[i].size}, HEARTH_E_FORMAT, rows[i].message);
}

static void expect_open_error(const char *path, hearth_status expected, const char *message) {
  hearth_profile *profile;
  hearth_error err;
  assert_int_equal(hearth_profile_open(path, &profile, &err), expected);
  assert_null(profile);
  if (!strstr(err.message, message) || !strstr(err.message, path))
    fail_msg("'%s' is not in '%s'", message, err.message);
}

static void files_that_are_no_files_are_refused(void **state) {
  char directory[] = "/tmp/hearth-test-XXXXXX", fifo[64], empty[64];
  (void)state;
  assert_non_null(mkdtemp(directory));
  snprintf(fifo, sizeof fifo, "%s/fifo", directory);
  snprintf(empty, sizeof empty, "%s/empty", directory);
  assert_int_equal(mkfifo(fifo, 0600), 0);
  close(open(empty, O_WRONLY | O_CREAT, 0600));
  expect_open_error("/no/such/profile", HEARTH_E_IO, "No such file");
  expect_open_error(directory, HEARTH_E_IO, "directory");
  expect_open_error(fifo, HEARTH_E_IO, "device or pipe"); /* and does not wait for a writer */
  expect_open_error("/dev/null", HEARTH_E_IO, "device or pipe");
  expect_open_error(empty, HEARTH_E_FORMAT, "empty");
  unlink(fifo);
  unlink(empty);
  rmdir(directory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_read_back),
      cmocka_unit_test(every_function_is_found),
      cmocka_unit_test(contexts_are_the_same_in_any_order),
      cmocka_unit_test(columns_have_every_width),
      cmocka_unit_test(empty_profile_is_readable),
      cmocka_unit_test(every_truncation_is_refused),
      cmocka_unit_test(every_flipped_byte_is_noticed),
      cmocka_unit_test(resealed_damage_is_survived),
      cmocka_unit_test(unknown_sections_and_fields_are_skipped),
      cmocka_unit_test(unknown_versions_and_flags_are_refused),
      cmocka_unit_test(verify_finds_disorder),
      cmocka_unit_test(bytes_at_an_odd_address_are_refused),
      cmocka_unit_test(foreign_files_are_named),
      cmocka_unit_test(files_that_are_no_files_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
