/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Readers of raw profiles: files of both layouts are built in memory, read, and damaged in every place. */
#include "raw_files.h"

static void test_hearth(void **state) {
  (void)state;
  file f = {0};
  append_hearth(&f);
  assert_true(hearth_raw_is_raw(f.bytes, f.size));
  hearth_raw_dump dump = read_whole(&f);
  check_hearth(&dump);
  hearth_raw_free(&dump);
}

/* What a writer did not know is 0, even where another number is expected of the column. */
static void test_fewer_columns(void **state) {
  (void)state;
  for (uint32_t columns = HEARTH_COL_LiveAtExit + 1; columns <= HEARTH_MIB_COLUMNS; columns++) {
    file f = {0};
    append_hearth(&f);
    memcpy(f.bytes + offsetof(hearth_raw_header, mib_columns), &columns, sizeof columns);
    seal(&f, 0);
    hearth_raw_dump dump = read_whole(&f);
    const hearth_raw_record *records = read_records(&dump);
    for (size_t i = 0; i < 3; i++) {
      assert_int_equal(records[i].mib.LiveAtExit, 3);
      assert_int_equal(records[i].mib.SizedAtExit, columns > HEARTH_COL_SizedAtExit ? 3 : 0);
      assert_int_equal(records[i].mib.LiveBytes, columns > HEARTH_COL_LiveBytes ? 300 : 0);
    }
    hearth_raw_free(&dump);
  }
}

static void test_histograms(void **state) {
  (void)state;
  file f = {0};
  hearth_raw_record record;
  append_hearth_with(&f, HEARTH_RAW_FLAG_HISTOGRAMS);
  hearth_raw_dump dump = read_whole(&f);
  for (uint64_t size = 0; size < 3; ++size) {
    assert_true(hearth_raw_next_record(&dump, &record));
    assert_int_equal(record.mib.TotalSize, 300);
    assert_int_equal(record.histogram.size, size);
    for (uint64_t i = 0; i < size; ++i)
      assert_int_equal(record.histogram.counts[i], UINT64_MAX >> 32 * i);
  }
  hearth_raw_free(&dump);
}

static void test_names(void **state) {
  (void)state;
  file f = {0};
  append_hearth_with(&f, HEARTH_RAW_FLAG_NAMES);
  hearth_raw_dump dump = read_whole(&f);
  assert_int_equal(dump.name_count, 2);
  assert_string_equal(dump.names[0], "pool");
  assert_string_equal(dump.names[1], "");
  assert_int_equal(dump.nodes[3].pc, HEARTH_RAW_HEAP_PC);
  hearth_raw_free(&dump);
}

static void test_run(void **state) {
  (void)state;
  for (uint32_t more = 0; more < 2; more++) {
    file f = {0};
    append_hearth_with(&f, HEARTH_RAW_FLAG_RUN | (more & 1 ? HEARTH_RAW_FLAG_NAMES : 0));
    hearth_raw_dump dump = read_whole(&f);
    assert_int_equal(dump.peak_bytes, 300);
    assert_string_equal(dump.command, "ls a");
    assert_int_equal(dump.name_count, more & 1 ? 2 : 0);
    hearth_raw_free(&dump);
  }
}

static void test_clock(void **state) {
  (void)state;
  for (uint32_t more = 0; more < 4; more++) {
    file f = {0};
    append_hearth_with(&f, HEARTH_RAW_FLAG_CLOCK | (more & 1 ? HEARTH_RAW_FLAG_RUN : 0) |
                               (more & 2 ? HEARTH_RAW_FLAG_NAMES : 0));
    hearth_raw_dump dump = read_whole(&f);
    assert_int_equal(dump.clock_error_ns, 4000000);
    assert_int_equal(dump.name_count, more & 2 ? 2 : 0);
    hearth_raw_free(&dump);
  }
}

static void test_history(void **state) {
  (void)state;
  for (uint32_t more = 0; more < 4; more++) {
    file f = {0};
    append_hearth_with(&f, HEARTH_RAW_FLAG_HISTORY | (more & 1 ? HEARTH_RAW_FLAG_CLOCK : 0) |
                               (more & 2 ? HEARTH_RAW_FLAG_NAMES : 0));
    hearth_raw_dump dump = read_whole(&f);
    hearth_raw_record record;
    assert_true(dump.has_history);
    assert_int_equal(dump.peak_ns, 5);
    assert_int_equal(dump.levels[9], 0);
    assert_int_equal(dump.levels[10], 32);
    assert_int_equal(dump.levels[HEARTH_RAW_POINTS - 1], 32);
    for (size_t i = 0; hearth_raw_next_record(&dump, &record); i++)
      assert_int_equal(record.levels != NULL, i == 1);
    assert_int_equal(dump.history[0].levels[HEARTH_RAW_POINTS - 2], 32);
    assert_int_equal(dump.history[0].levels[HEARTH_RAW_POINTS - 1], 0);
    assert_int_equal(dump.name_count, more & 2 ? 2 : 0);
    hearth_raw_free(&dump);
  }
}

/* Any levels come back, from no more bytes than there is room for; a part of them is none. */
static void test_levels(void **state) {
  (void)state;
  static const uint64_t cases[][3] = {{0, 0, 0}, {1, 0, UINT64_MAX}, {UINT64_MAX, 1, 3}, {1 << 20, 0, 1 << 10}};
  uint8_t packed[HEARTH_RAW_LEVELS_MOST];
  uint64_t levels[HEARTH_RAW_POINTS], read[HEARTH_RAW_POINTS];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (size_t k = 0; k < HEARTH_RAW_POINTS; k++)
      levels[k] = cases[i][k * (i + 1) % 3];
    const uint8_t *end = hearth_raw_put_levels(packed, levels);
    for (const uint8_t *part = packed; part <= end; part++) {
      const uint8_t *from = packed;
      assert_int_equal(hearth_raw_take_levels(&from, part, read), part == end);
    }
    assert_memory_equal(levels, read, sizeof levels);
  }
}

/* Too many zeros at the end, too many points, a level of more than 64 bits; a record that does not exist. */
static void test_bad_history(void **state) {
  (void)state;
  static const struct {
    size_t at;
    uint8_t byte;
  } cases[] = {{1, 64}, {1, 63}, {5, 127}, {6, 100}, {7, 3}};
  size_t at = sizeof(hearth_raw_header) + 2 * sizeof(hearth_raw_mapping) + 16;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    file f = {0};
    append_hearth_with(&f, HEARTH_RAW_FLAG_HISTORY);
    f.bytes[at + cases[i].at] = cases[i].byte;
    seal(&f, 0);
    expect_error(&f, f.size, HEARTH_E_CORRUPT, cases[i].at < 7 ? "history" : "levels of a record");
  }
}

static void test_globals(void **state) {
  (void)state;
  file f = {0};
  append_hearth_with(&f, HEARTH_RAW_FLAG_GLOBALS);
  hearth_raw_dump dump = read_whole(&f);
  assert_int_equal(dump.global_count, 1);
  const hearth_raw_global *g = &dump.globals[0];
  assert_int_equal(g->address, 0x1000);
  assert_int_equal(g->size, 100);
  assert_int_equal(g->flags, HEARTH_GLOBAL_LOCAL);
  assert_int_equal(g->line, 7);
  assert_int_equal(g->accesses, 9);
  assert_int_equal(g->touched_lines, 2);
  assert_int_equal(g->name_size, 3);
  assert_memory_equal(g->name, "one", 3);
  assert_memory_equal(g->file, "a.c", 3);
  check_hearth(&dump);
  hearth_raw_free(&dump);
}

static void test_global_stores(void **state) {
  (void)state;
  file f = {0};
  append_hearth_with(&f, HEARTH_RAW_FLAG_GLOBALS);
  memcpy(&f.bytes[f.size - ((sizeof globals + 7) & ~(size_t)7)], globals_with_stores, sizeof globals);
  seal(&f, 0);
  hearth_raw_dump dump = read_whole(&f);
  assert_int_equal(dump.global_count, 1);
  assert_int_equal(dump.globals[0].flags, HEARTH_GLOBAL_LOCAL | HEARTH_GLOBAL_STORES);
  assert_int_equal(dump.globals[0].stores, 6);
  assert_memory_equal(dump.globals[0].name, "one", 3);
  hearth_raw_free(&dump);
}

/* Too many; flags that mean nothing; a name that is empty, or too long; a NUL in it. */
static void test_bad_globals(void **state) {
  (void)state;
  static const struct {
    size_t at;
    uint8_t value;
  } cases[] = {{0, 100}, {4, 16}, {4, 6}, {8, 0}, {8, 127}, {10, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    file f = {0};
    append_hearth_with(&f, HEARTH_RAW_FLAG_GLOBALS);
    size_t padded = (sizeof globals + 7) & ~(size_t)7;
    f.bytes[f.size - padded + cases[i].at] = cases[i].value;
    seal(&f, 0);
    expect_error(&f, f.size, HEARTH_E_CORRUPT, "global variable");
  }
}

/* None at all, and a number that does not end. */
static void test_bad_clock(void **state) {
  (void)state;
  static const uint8_t cases[][11] = {{0}, {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}};
  size_t at = sizeof(hearth_raw_header) + 2 * sizeof(hearth_raw_mapping) + 16;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    file f = {0};
    append_hearth_with(&f, HEARTH_RAW_FLAG_CLOCK);
    memcpy(f.bytes + at, cases[i], sizeof cases[i]);
    seal(&f, 0);
    expect_error(&f, f.size, HEARTH_E_CORRUPT, "no error of the clock");
  }
}

/* A peak that does not end; sizes of too many, and more bytes than the file has; a NUL. */
static void test_bad_run(void **state) {
  (void)state;
  static const struct {
    uint8_t bytes[11];
    const char *words;
  } cases[] = {{{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}, "no peak"},
               {{1, 0x80, 8}, "no command line"},
               {{1, 0xff, 7}, "no command line"},
               {{1, 3, 'l', 0, 'a'}, "no command line"}};
  size_t at = sizeof(hearth_raw_header) + 2 * sizeof(hearth_raw_mapping) + 16;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    file f = {0};
    append_hearth_with(&f, HEARTH_RAW_FLAG_RUN);
    memcpy(f.bytes + at, cases[i].bytes, sizeof cases[i].bytes);
    seal(&f, 0);
    expect_error(&f, f.size, HEARTH_E_CORRUPT, cases[i].words);
  }
}

#define HEAP_DUMP (HEARTH_RAW_PEAK << HEARTH_RAW_OCCASION_SHIFT | HEARTH_RAW_FLAG_RESIDENCY)

static void test_heap_dump(void **state) {
  (void)state;
  file f = {0};
  hearth_raw_record record;
  append_hearth_with(&f, HEAP_DUMP | HEARTH_RAW_FLAG_NAMES);
  hearth_raw_dump dump = read_whole(&f);
  assert_int_equal(dump.occasion, HEARTH_RAW_PEAK);
  assert_true(dump.has_residency);
  for (uint64_t i = 0; i < 3; ++i) {
    assert_true(hearth_raw_next_record(&dump, &record));
    assert_int_equal(record.residency[HEARTH_RAW_RESIDENT], i);
    assert_int_equal(record.residency[HEARTH_RAW_SWAPPED], (UINT64_C(1) << 32) + i);
    assert_int_equal(record.residency[HEARTH_RAW_UNWRITTEN], UINT64_MAX);
  }
  hearth_raw_free(&dump);
  /* Residencies that are cut short, and an occasion of a later version. */
  hearth_raw_header header;
  memcpy(&header, f.bytes, sizeof header);
  header.mib_count = 6;
  memcpy(f.bytes, &header, sizeof header);
  seal(&f, 0);
  expect_error(&f, f.size, HEARTH_E_CORRUPT, "");
  f = (file){0};
  append_hearth_with(&f, (HEARTH_RAW_PEAK + 1) << HEARTH_RAW_OCCASION_SHIFT);
  expect_error(&f, f.size, HEARTH_E_VERSION, "unknown flags");
}

/* Sizes and numbers that lead out of the names. */
static void test_bad_names(void **state) {
  (void)state;
  static const struct {
    size_t at; /* in the names */
    uint8_t byte;
    const char *words;
  } cases[] = {{0, 127, "past the end"},
               {1, 127, "past the end"},
               {2, 0, "holds a NUL"},
               {0, 1, "name does not exist"}}; /* the scope is name 1 */
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    file f = {0};
    append_hearth_with(&f, HEARTH_RAW_FLAG_NAMES);
    size_t names = sizeof(hearth_raw_header) + 2 * sizeof(hearth_raw_mapping) + 16;
    f.bytes[names + cases[i].at] = cases[i].byte;
    seal(&f, 0);
    expect_error(&f, f.size, HEARTH_E_CORRUPT, cases[i].words);
  }
}

static void test_several_dumps(void **state) {
  (void)state;
  file f = {0};
  hearth_raw_dump dump;
  hearth_error err;
  size_t offset = 0;
  append_llvm(&f, 5);
  append_hearth(&f);
  append_llvm(&f, 4);
  assert_int_equal(read_at(&f, f.size, &offset, &dump, &err), HEARTH_OK);
  check_llvm(&dump);
  hearth_raw_free(&dump);
  assert_int_equal(read_at(&f, f.size, &offset, &dump, &err), HEARTH_OK);
  check_hearth(&dump);
  hearth_raw_free(&dump);
  assert_int_equal(read_at(&f, f.size, &offset, &dump, &err), HEARTH_OK);
  check_llvm(&dump);
  hearth_raw_free(&dump);
  assert_int_equal(offset, f.size);
}

static void test_every_truncation(void **state) {
  (void)state;
  file h = {0}, l = {0};
  append_hearth(&h);
  append_llvm(&l, 5);
  for (size_t size = 0; size < h.size; ++size)
    expect_error(&h, size, HEARTH_E_TRUNCATED, size < 8 ? "too short" : "ends");
  for (size_t size = 0; size < l.size; ++size)
    expect_error(&l, size, HEARTH_E_TRUNCATED, size < 8 ? "too short" : "ends");
}

/* Hearth's layout has a checksum: no flipped byte goes unnoticed. */
static void test_hearth_every_flip(void **state) {
  (void)state;
  file f = {0};
  append_hearth(&f);
  for (size_t i = 0; i < f.size; ++i) {
    hearth_raw_dump dump;
    hearth_error err;
    size_t offset = 0;
    f.bytes[i] ^= 0x41;
    assert_int_not_equal(read_at(&f, f.size, &offset, &dump, &err), HEARTH_OK);
    assert_int_equal(strncmp(err.message, "input: offset ", 14), 0);
    f.bytes[i] ^= 0x41;
  }
}

/* The same for what flags add, with a right checksum. */
static void flip_with(uint32_t flags) {
  file f = {0};
  hearth_raw_header header;
  append_hearth_with(&f, flags);
  memcpy(&header, f.bytes, sizeof header);
  for (size_t i = header.map_offset + sizeof(hearth_raw_mapping); i < f.size; ++i)
    for (unsigned bits = 1; bits < 256; bits += 2) {
      file damaged = f;
      hearth_raw_dump dump;
      hearth_raw_record record;
      hearth_error err;
      size_t offset = 0;
      uint64_t sum = 0;
      damaged.bytes[i] ^= (uint8_t)bits;
      seal(&damaged, 0);
      if (read_at(&damaged, f.size, &offset, &dump, &err) != HEARTH_OK)
        continue;
      while (hearth_raw_next_record(&dump, &record))
        for (uint64_t k = 0; k < record.histogram.size; ++k)
          sum += record.histogram.counts[k];
      assert_true(sum != 1); /* all are read */
      hearth_raw_free(&dump);
    }
}

static void test_every_flip_of_what_is_optional(void **state) {
  (void)state;
  flip_with(HEARTH_RAW_FLAG_HISTOGRAMS);
  flip_with(HEARTH_RAW_FLAG_NAMES | HEAP_DUMP);
  flip_with(HEARTH_RAW_FLAG_RUN | HEARTH_RAW_FLAG_CLOCK);
  flip_with(HEARTH_RAW_FLAG_HISTORY | HEARTH_RAW_FLAG_NAMES);
  flip_with(HEARTH_RAW_FLAG_GLOBALS | HEARTH_RAW_FLAG_HISTOGRAMS);
}

/* Damage that a right checksum covers. */
static void test_hearth_bad_contents(void **state) {
  (void)state;
  file f = {0};
  hearth_raw_header header;
  append_hearth(&f);
  memcpy(&header, f.bytes, sizeof header);
  const struct {
    size_t at;
    uint32_t value;
    hearth_status status;
    const char *words;
  } cases[] = {
      {8, 1, HEARTH_E_VERSION, "version 1"},
      {8, 3, HEARTH_E_VERSION, "version 3"},
      {offsetof(hearth_raw_header, header_size), 64, HEARTH_E_CORRUPT, "header size"},
      {offsetof(hearth_raw_header, mib_columns), 64, HEARTH_E_CORRUPT, "MIB columns"},
      {offsetof(hearth_raw_header, flags), 0x20000, HEARTH_E_VERSION, "flags"},
      {offsetof(hearth_raw_header, map_count), 1000, HEARTH_E_CORRUPT, "mappings"},
      {offsetof(hearth_raw_header, map_offset), 4, HEARTH_E_CORRUPT, "mappings"},
      {offsetof(hearth_raw_header, stack_count), 1u << 30, HEARTH_E_CORRUPT, "call stacks"},
      {offsetof(hearth_raw_header, mib_count), 1000, HEARTH_E_CORRUPT, "MIBs"},
      {header.map_offset + offsetof(hearth_raw_mapping, build_id_size), 33, HEARTH_E_CORRUPT, "mapping"},
      {header.map_offset + offsetof(hearth_raw_mapping, path_size), 1u << 20, HEARTH_E_CORRUPT, "path"},
      {header.stack_offset, 1, HEARTH_E_CORRUPT, "caller"},          /* the node before the first one */
      {header.stack_offset, UINT32_MAX, HEARTH_E_CORRUPT, "caller"}, /* a number of more than 64 bits */
      {header.mib_offset, 0x0108, HEARTH_E_CORRUPT, "call stack"},
      {header.mib_offset, 0x01010100, HEARTH_E_CORRUPT, "no MIB"}, /* AllocCount 1 - 1 */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    file damaged = f;
    memcpy(damaged.bytes + cases[i].at, &cases[i].value, sizeof cases[i].value);
    seal(&damaged, 0);
    expect_error(&damaged, damaged.size, cases[i].status, cases[i].words);
  }
}

static void test_foreign(void **state) {
  (void)state;
  file f = {0};
  append_llvm(&f, 2);
  expect_error(&f, f.size, HEARTH_E_VERSION, "version 2");
  f.size = 0;
  append_llvm(&f, 6);
  expect_error(&f, f.size, HEARTH_E_VERSION, "clang 16 to 22");
  f.size = 0;
  append_u64(&f, __builtin_bswap64(HEARTH_RAW_MAGIC));
  assert_true(hearth_raw_is_raw(f.bytes, f.size));
  expect_error(&f, f.size, HEARTH_E_VERSION, "byte order");
  f.size = 0;
  append(&f, "something else", 14);
  assert_false(hearth_raw_is_raw(f.bytes, f.size));
  expect_error(&f, f.size, HEARTH_E_FORMAT, "no raw profile");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hearth),
      cmocka_unit_test(test_fewer_columns),
      cmocka_unit_test(test_histograms),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_bad_names),
      cmocka_unit_test(test_run),
      cmocka_unit_test(test_bad_run),
      cmocka_unit_test(test_clock),
      cmocka_unit_test(test_bad_clock),
      cmocka_unit_test(test_heap_dump),
      cmocka_unit_test(test_globals),
      cmocka_unit_test(test_global_stores),
      cmocka_unit_test(test_bad_globals),
      cmocka_unit_test(test_every_flip_of_what_is_optional),
      cmocka_unit_test(test_several_dumps),
      cmocka_unit_test(test_every_truncation),
      cmocka_unit_test(test_hearth_every_flip),
      cmocka_unit_test(test_hearth_bad_contents),
      cmocka_unit_test(test_history),
      cmocka_unit_test(test_levels),
      cmocka_unit_test(test_bad_history),
      cmocka_unit_test(test_foreign),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
