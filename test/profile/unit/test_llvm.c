/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's formats: damage, what counts once, what cannot be held, what is refused. Golden files: test/golden/llvm. */
#include "profile_fixture.h"

#include "hearth/ids.h"
#include "hearth/llvm_files.h"
#include "hearth/llvm_profile.h"
#include "llvm_parts.h"
#include "profile_verifier.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* -------------------------------------------------- fixture -------------------------------------------------- */

static bytes read_golden(const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", HEARTH_GOLDEN_DIR, name);
  FILE *file = fopen(path, "rb");
  if (!file)
    fail_msg("%s: cannot be opened", path);
  fseek(file, 0, SEEK_END);
  bytes b = {.size = (size_t)ftell(file)};
  rewind(file);
  b.data = malloc(b.size + 1);
  assert_int_equal(fread(b.data, 1, b.size, file), b.size);
  ((char *)b.data)[b.size] = '\0';
  fclose(file);
  return b;
}

/* Text of a container's heap profile; NULL, with `err` filled in, if it is refused. */
static char *text_of_container(const void *data, size_t size, hearth_error *err) {
  hearth_profile *profile;
  char *text = NULL;
  if (hearth_profile_open_memory(data, size, "golden", &profile, err) != HEARTH_OK)
    return NULL;
  if (hearth_profile_verify(profile, err) == HEARTH_OK)
    text = text_of(profile);
  hearth_profile_close(profile);
  return text;
}

static const char *const binary_files[] = {"v3", "v3-plain", "v4", "llvm22"};

/* -------------------------------------------------- golden files -------------------------------------------------- */

static void expect_golden_text(const char *name, char *text) {
  bytes expected = read_golden("expected.txt");
  if (!text || strcmp(text, expected.data) != 0)
    fail_msg("%s reads as:\n%s", name, text ? text : "(refused)");
  free(text);
  free(expected.data);
}

static void test_golden(void **state) {
  static const char *const containers[] = {"v3", "v4", "both14", "both22"};
  hearth_error err;
  (void)state;
  for (size_t i = 0; i < sizeof containers / sizeof containers[0]; i++) {
    bytes b = read_golden(containers[i]);
    expect_golden_text(containers[i], text_of_container(b.data, b.size, &err));
    free(b.data);
  }
}

/* -------------------------------------------------- damage -------------------------------------------------- */

/* A clear error, or what the whole file says: what lies behind the section may be missing. */
static void test_truncated(void **state) {
  static const char *const files[] = {"v3", "v3-plain", "v4", "llvm22", "both14", "both22"};
  hearth_error err;
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    bytes b = read_golden(files[i]);
    char *whole = text_of_container(b.data, b.size, &err);
    size_t refused = 0;
    for (size_t size = 0; size < b.size; size++) {
      void *part = memcpy(malloc(size + 1), b.data, size);
      char *text = text_of_container(part, size, &err);
      refused += !text;
      if (text)
        assert_string_equal(text, whole);
      else if (!strstr(err.message, "golden: "))
        fail_msg("%s cut to %zu: %s", files[i], size, err.message);
      free(text);
      free(part);
    }
    assert_true(refused > b.size / 4);
    free(whole);
    free(b.data);
  }
}

/* LLVM's format has no checksums: a changed number is a number. But nothing leads astray. */
static void test_flipped(void **state) {
  hearth_error err;
  size_t refused = 0;
  (void)state;
  for (size_t i = 0; i < sizeof binary_files / sizeof binary_files[0]; i++) {
    bytes b = read_golden(binary_files[i]);
    for (size_t at = 0; at < b.size; at++)
      for (unsigned flip = 1; flip < 256; flip = flip * 2 + (flip == 128)) {
        ((uint8_t *)b.data)[at] ^= flip;
        char *text = text_of_container(b.data, b.size, &err);
        if (!text && !strstr(err.message, "golden"))
          fail_msg("%s: byte %zu: %s", binary_files[i], at, err.message);
        refused += !text;
        free(text);
        ((uint8_t *)b.data)[at] ^= flip;
      }
    free(b.data);
  }
  assert_true(refused > 1000);
}

/* The trailer and what it leads to are covered by checksums: every flipped byte of the golden file that is not LLVM's is
 * found. */
static void test_flipped_trailer(void **state) {
  hearth_error err;
  hearth_llvm_contents contents;
  bytes b = read_golden("both14");
  (void)state;
  expect_ok(hearth_llvm_inspect(b.data, b.size, "golden", &contents, &err), &err);
  assert_int_equal(contents.trailer_offset + contents.trailer_size + sizeof(hearth_trailer), b.size);
  for (size_t at = contents.trailer_offset; at < b.size; at++) {
    ((uint8_t *)b.data)[at] ^= 0x10;
    char *text = text_of_container(b.data, b.size, &err);
    if (text)
      fail_msg("byte %zu is not covered", at);
    ((uint8_t *)b.data)[at] ^= 0x10;
  }
  free(b.data);
}

/* Without the trailer, the profile that it leads to would be passed over for the section before it, or for none. */
static void test_lost_trailer(void **state) {
  static const char *const files[] = {"both14", "both22"};
  hearth_error err;
  hearth_llvm_contents contents;
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    bytes b = read_golden(files[i]);
    expect_ok(hearth_llvm_inspect(b.data, b.size, "golden", &contents, &err), &err);
    for (size_t size = contents.trailer_offset + 1; size < b.size + 20; size++) {
      uint8_t *part = calloc(1, size);
      memcpy(part, b.data, size < b.size ? size : b.size);
      hearth_llvm_contents found;
      if (size != b.size && (hearth_llvm_inspect(part, size, "golden", &found, &err) != HEARTH_E_TRUNCATED ||
                             !strstr(err.message, "golden: offset ") || !strstr(err.message, "'hearth merge'")))
        fail_msg("%s of %zu bytes with %zu: %s", files[i], b.size, size, err.message);
      free(part);
    }
    expect_ok(hearth_llvm_inspect(b.data, contents.trailer_offset, "golden", &contents, &err), &err);
    assert_int_equal(contents.trailer_size, 0);
    free(b.data);
  }
}

/* A profile of ours stands behind the container, whatever a trailer with the right checksum says. */
static void test_trailer_into_container(void **state) {
  hearth_error err;
  hearth_llvm_contents contents;
  hearth_trailer trailer;
  bytes b = read_golden("both22");
  uint64_t end = b.size - sizeof trailer, functions;
  memcpy(&functions, (char *)b.data + offsetof(hearth_llvm_header, functions_offset), sizeof functions);
  const uint64_t offsets[] = {0, 8, sizeof(hearth_llvm_header) - 8, functions, functions + 8};
  (void)state;
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
    trailer = (hearth_trailer){.offset = offsets[i], .size = end - offsets[i], .magic = HEARTH_TRAILER_MAGIC};
    trailer.checksum = XXH3_64bits(&trailer, offsetof(hearth_trailer, checksum));
    memcpy((char *)b.data + end, &trailer, sizeof trailer);
    assert_int_equal(hearth_llvm_inspect(b.data, b.size, "golden", &contents, &err), HEARTH_E_CORRUPT);
  }
  free(b.data);
}

/* -------------------------------------------------- what counts -------------------------------------------------- */

enum { MOST_RECORDS = 2, MOST_SITES = 4, MOST_FRAMES = 3 };

typedef struct place {
  const char *function; /* NULL: the stack ends */
  uint32_t line, column;
  bool inlined;
} place;

typedef struct site {
  place stack[MOST_FRAMES];
  uint64_t count; /* 0: no such site */
} site;

typedef struct record {
  const char *function; /* NULL: no such record */
  site sites[MOST_SITES];
} record;

static uint32_t number_of(hearth_builder *builder, const char *name) {
  hearth_error err;
  uint32_t number;
  expect_ok(hearth_builder_function(builder, name, "", 0, &number, &err), &err);
  return number;
}

static void import_site(hearth_llvm_import *import, const char *function, const site *s) {
  hearth_builder_frame frames[MOST_FRAMES];
  size_t n = 0;
  for (; n < MOST_FRAMES && s->stack[n].function; n++) {
    const place *p = &s->stack[n];
    frames[n] = (hearth_builder_frame){.function = number_of(import->builder, p->function),
                                       .line = hearth_llvm_line(p->line, p->column),
                                       .column = p->column,
                                       .inlined = p->inlined};
  }
  uint32_t owner = number_of(import->builder, function);
  expect_ok(hearth_llvm_import_site(import, owner, frames, n, &(hearth_mib){.AllocCount = s->count}), import->err);
}

/* As a reader of LLVM's files gives its records, at most MOST_RECORDS. */
static void import_records(hearth_builder *builder, const record *records) {
  hearth_error err;
  hearth_llvm_skipped skipped;
  hearth_llvm_import import = {.builder = builder, .err = &err};
  hearth_builder_begin_run(builder);
  for (; import.pass < HEARTH_LLVM_PASSES; import.pass++)
    for (size_t i = 0; i < MOST_RECORDS && records[i].function; i++)
      for (size_t k = 0; k < MOST_SITES && records[i].sites[k].count; k++)
        import_site(&import, records[i].function, &records[i].sites[k]);
  expect_ok(hearth_llvm_import_finish(&import, &skipped), &err);
  hearth_llvm_import_free(&import);
}

static void expect_counts(const record *records, const uint64_t *counts, size_t n) {
  hearth_error err;
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_LLVM);
  import_records(builder, records);
  bytes image = write_bytes(builder);
  hearth_builder_destroy(builder);
  hearth_profile *profile = open_bytes(image);
  assert_int_equal(hearth_profile_context_count(profile), n);
  for (uint32_t i = 0; i < n; i++) {
    hearth_mib mib;
    expect_ok(hearth_profile_get_context(profile, i, NULL, &mib, &err), &err);
    assert_int_equal(mib.AllocCount, counts[i]);
  }
  hearth_profile_close(profile);
  free(image.data);
}

#define EXPECT_COUNT(count, ...) expect_counts((const record[MOST_RECORDS]){__VA_ARGS__}, (const uint64_t[]){count}, 1)
#define RECORD(function, ...)                                                                                          \
  {                                                                                                                    \
    function, { __VA_ARGS__ }                                                                                          \
  }

static void test_context_counts_once(void **state) {
  (void)state;
#define INLINED(count) {{{"leaf", 1, 1, true}, {"middle", 2, 1, false}, {"main", 3, 1, false}}, count}
  /* In the records of both functions of the inline chain, whichever comes first. */
  EXPECT_COUNT(5, RECORD("leaf", INLINED(5)), RECORD("middle", INLINED(5)));
  EXPECT_COUNT(5, RECORD("middle", INLINED(5)), RECORD("leaf", INLINED(5)));
  /* Several sites of one context, as merging leaves them, are summed. */
  EXPECT_COUNT(12, RECORD("leaf", INLINED(5), INLINED(7)), RECORD("middle", INLINED(5), INLINED(7)));
  EXPECT_COUNT(10, RECORD("leaf", INLINED(5), INLINED(5)));
  /* Only in the record of an outer function, or of two. */
  EXPECT_COUNT(5, RECORD("middle", INLINED(5)));
  EXPECT_COUNT(5, RECORD("middle", INLINED(5)), RECORD("main", INLINED(5)));
  /* Recursion that was inlined puts it twice into one record. */
#define RECURSIVE(count) {{{"leaf", 1, 1, true}, {"leaf", 2, 1, false}, {"main", 3, 1, false}}, count}
  EXPECT_COUNT(5, RECORD("leaf", RECURSIVE(5), RECURSIVE(5)));
  EXPECT_COUNT(5, RECORD("leaf", RECURSIVE(5)));
  EXPECT_COUNT(11, RECORD("leaf", RECURSIVE(5), RECURSIVE(5), RECURSIVE(6), RECURSIVE(6)));
  /* A place whose line is unknown is one, wherever the function stands in this build. */
#define UNKNOWN(line, count) {{{"leaf", 1, 1, false}, {"main", line, 0, false}}, count}
  EXPECT_COUNT(11, RECORD("leaf", UNKNOWN(4294967286, 5), UNKNOWN(4294967276, 6)));
  /* A frame and the same one inlined are two. */
  expect_counts((const record[MOST_RECORDS]){RECORD("leaf", {{{"leaf", 1, 1, false}}, 1},
                                                    {{{"leaf", 1, 1, true}, {"leaf", 2, 1, false}}, 2})},
                (const uint64_t[]){1, 2}, 2);
}

/* -------------------------------------------------- write -------------------------------------------------- */

static const char two_places[] =
    "hearth-profile-text 1\nrun duration_ns=5\ncontext\n  frame f a.c 1 2 3 1\n  frame main m.c 1 1 1 0\n  AllocCount "
    "2\n"
    "  TotalSize 10\n  TotalPercentUtilized 50\ncontext\n  frame f a.c 1 2 3 2\n  frame main m.c 1 1 1 0\n"
    "  AllocCount 5000000000\n  TotalSize 7\n  TotalLifetime 1999999\n"
    "context\n  frame f b.c 1 2 3 0\n  frame main m.c 1 1 1 0\n  AllocCount 1\n";

static void test_losses(void **state) {
  hearth_error err;
  hearth_llvm_losses losses;
  char message[256], short_message[20];
  bytes b = bytes_from_text(two_places), out;
  hearth_profile *profile = open_bytes(b);
  (void)state;
  expect_ok(hearth_llvm_write_memory(profile, &(hearth_llvm_output){.section = 3}, &out.data, &out.size, &losses, &err),
            &err);
  assert_int_equal(losses.summed, 2);
  assert_int_equal(losses.cut, 1);
  assert_true(hearth_llvm_describe_losses(&losses, message, sizeof message));
  assert_string_equal(message,
                      "LLVM's format has no field for TotalPercentUtilized; 2 contexts differ from others only in "
                      "fields that it does not hold, and are summed; 1 values are too great for their field and stored "
                      "as its greatest");
  assert_true(hearth_llvm_describe_losses(&losses, short_message, sizeof short_message));
  assert_string_equal(short_message, "LLVM's format has n");
  hearth_profile_close(profile);

  profile = open_bytes(out);
  hearth_mib mib;
  assert_int_equal(hearth_profile_context_count(profile), 1);
  expect_ok(hearth_profile_get_context(profile, 0, NULL, &mib, &err), &err);
  assert_int_equal(mib.AllocCount, UINT32_MAX);
  assert_int_equal(mib.TotalSize, 17);
  assert_int_equal(mib.TotalLifetime, 1000000); /* whole milliseconds */
  hearth_profile_close(profile);
  free(b.data);
  free(out.data);
}

static hearth_status write_with(const char *text, const hearth_llvm_output *output, hearth_error *err) {
  bytes b = bytes_from_text(text);
  hearth_profile *profile = open_bytes(b);
  void *data;
  size_t size;
  hearth_status status = hearth_llvm_write_memory(profile, output, &data, &size, NULL, err);
  if (status == HEARTH_OK)
    free(data);
  hearth_profile_close(profile);
  free(b.data);
  return status;
}

static void test_write_refused(void **state) {
  hearth_error err;
  bytes old = read_golden("code14"), text = read_golden("expected.txt");
  (void)state;
  assert_int_equal(write_with(two_places, &(hearth_llvm_output){.section = 5}, &err), HEARTH_E_USAGE);

  hearth_llvm_output output = {.section = 4, .base = old.data, .base_size = old.size, .base_name = "old"};
  assert_int_equal(write_with(two_places, &output, &err), HEARTH_E_VERSION);
  assert_non_null(strstr(err.message, "old: container version 7 holds no MemProf section"));
  output = (hearth_llvm_output){.section = 4, .base = text.data, .base_size = text.size, .base_name = "text"};
  assert_int_equal(write_with(two_places, &output, &err), HEARTH_E_FORMAT);

  static const char unnamed[] =
      "hearth-profile-text 1\nrun\ncontext\n  frame 0x0123456789abcdef \"\" 0 1 1 0\n  AllocCount 1\n";
  assert_int_equal(write_with(unnamed, &(hearth_llvm_output){.section = 4}, &err), HEARTH_E_MISMATCH);
  assert_non_null(strstr(err.message, "function 0x0123456789abcdef has no name"));
  free(old.data);
  free(text.data);
}

/* Function counters come out as they went in, but for the header's flag and offset where there is a section. */
/* A file that was cut is no base: what is put behind it would stand where its header has other parts. */
static void test_cut_base(void **state) {
  bytes base = read_golden("code22"), text = read_golden("expected.txt");
  bytes image = bytes_from_text_with(text.data, HEARTH_IDS_LLVM);
  hearth_profile *profile = open_bytes(image);
  hearth_llvm_header header;
  hearth_error err;
  (void)state;
  memcpy(&header, base.data, sizeof header);
  for (size_t size = header.functions_offset + sizeof(hearth_llvm_table); size <= header.vtables_offset; size++) {
    hearth_llvm_output output = {.section = 4, .base = base.data, .base_name = "golden", .base_size = size};
    void *data;
    size_t written;
    assert_int_equal(hearth_llvm_write_memory(profile, &output, &data, &written, NULL, &err), HEARTH_E_TRUNCATED);
    assert_non_null(strstr(err.message, "golden: offset "));
  }
  hearth_profile_close(profile);
  free(base.data);
  free(text.data);
  free(image.data);
}

static void test_base_is_kept(void **state) {
  static const struct {
    const char *base, *both;
    bool has_section;
  } files[] = {{"code14", "both14", false}, {"code22", "both22", true}};
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    hearth_error err;
    hearth_llvm_contents contents;
    bytes base = read_golden(files[i].base), both = read_golden(files[i].both);
    expect_ok(hearth_llvm_inspect(both.data, both.size, "both", &contents, &err), &err);
    assert_int_equal(contents.section_offset != 0, files[i].has_section);
    assert_true(contents.has_functions);
    for (size_t at = 0; at < base.size; at++) {
      bool changes = files[i].has_section && (at / 8 == offsetof(hearth_llvm_header, version) / 8 ||
                                              at / 8 == offsetof(hearth_llvm_header, memprof_offset) / 8);
      if (!changes)
        assert_int_equal(((uint8_t *)base.data)[at], ((uint8_t *)both.data)[at]);
    }
    free(base.data);
    free(both.data);
  }
}

/* A heap profile gives way to another, wherever it stands, and leaves nothing behind. */
static void test_heap_is_replaced(void **state) {
  static const struct {
    const char *code, *both;
    uint32_t section;
  } files[] = {{"code14", "both14", 0}, {"code22", "both22", 4}, {"code22", "llvm22", 4}};
  bytes trailer = bytes_from_text(two_places);
  hearth_profile *profile = open_bytes(trailer);
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    hearth_error err;
    bytes bases[] = {read_golden(files[i].code), read_golden(files[i].both)}, results[2];
    for (size_t k = 0; k < 2; k++) {
      hearth_llvm_output output = {.section = files[i].section,
                                   .base = bases[k].data,
                                   .base_name = "base",
                                   .base_size = bases[k].size,
                                   .trailer = trailer.data,
                                   .trailer_size = trailer.size};
      expect_ok(hearth_llvm_write_memory(profile, &output, &results[k].data, &results[k].size, NULL, &err), &err);
      free(bases[k].data);
    }
    if (results[0].size != results[1].size || memcmp(results[0].data, results[1].data, results[0].size) != 0)
      fail_msg("%s: %zu bytes instead of %zu", files[i].both, results[1].size, results[0].size);
    free(results[0].data);
    free(results[1].data);
  }
  hearth_profile_close(profile);
  free(trailer.data);
}

/* Names have GUIDs: what both know of a context is one context, and keeps the name. */
static void test_schemes_unite(void **state) {
  hearth_error err;
  static const record records[MOST_RECORDS] = {RECORD("f", {{{"f", 2, 1, false}, {"main", 1, 1, false}}, 3})};
  static const char named[] = "hearth-profile-text 1\nrun\ncontext\n  frame f a.c 1 2 1 2\n  frame main m.c 1 1 1 0\n"
                              "  AllocCount 4\n";
  bytes b = bytes_from_text(named);
  hearth_profile *profile = open_bytes(b);
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_LLVM);
  (void)state;
  import_records(builder, records);
  expect_ok(hearth_builder_add_profile(builder, profile, &err), &err);
  assert_int_equal(hearth_builder_context_count(builder), 1);
  hearth_profile_close(profile);
  bytes united = write_bytes(builder);
  profile = open_bytes(united);
  uint32_t row;
  hearth_function_info f;
  expect_ok(hearth_profile_find_function(profile, hearth_llvm_function_id("f", 1), &row, &err), &err);
  expect_ok(hearth_profile_get_function(profile, row, &f, &err), &err);
  assert_string_equal(f.name, "f");
  hearth_profile_close(profile);
  hearth_builder_destroy(builder);
  free(b.data);
  free(united.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden),
      cmocka_unit_test(test_truncated),
      cmocka_unit_test(test_flipped),
      cmocka_unit_test(test_flipped_trailer),
      cmocka_unit_test(test_lost_trailer),
      cmocka_unit_test(test_trailer_into_container),
      cmocka_unit_test(test_context_counts_once),
      cmocka_unit_test(test_losses),
      cmocka_unit_test(test_write_refused),
      cmocka_unit_test(test_cut_base),
      cmocka_unit_test(test_base_is_kept),
      cmocka_unit_test(test_heap_is_replaced),
      cmocka_unit_test(test_schemes_unite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
