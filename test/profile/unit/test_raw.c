/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Readers of raw profiles: files of both layouts are built in memory, read, and damaged in every place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hearth/raw_codec.h"
#include "hearth/raw_llvm.h"
#include "raw_dump.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* A file being built. Sections of either layout are multiples of 8 bytes. */
typedef struct file {
  uint8_t bytes[8192];
  size_t size;
} file;

static size_t append(file *f, const void *data, size_t size) {
  size_t at = f->size;
  assert_true(f->size + size <= sizeof f->bytes);
  memcpy(f->bytes + f->size, data, size);
  f->size += size;
  return at;
}

static void append_u64(file *f, uint64_t value) { append(f, &value, sizeof value); }

/* --- Hearth's layout ---------------------------------------------------------------------------------------------- */

static void seal(file *f, size_t begin) {
  hearth_raw_header header;
  XXH64_state_t state;
  memcpy(&header, f->bytes + begin, sizeof header);
  header.checksum = 0;
  XXH64_reset(&state, 0);
  XXH64_update(&state, f->bytes + begin + sizeof header, header.total_size - sizeof header);
  XXH64_update(&state, &header, sizeof header);
  header.checksum = XXH64_digest(&state);
  memcpy(f->bytes + begin, &header, sizeof header);
}

static void pad(file *f) {
  const uint64_t zeros = 0;
  append(f, &zeros, -f->size % 8);
}

static size_t append_nodes(file *f, const hearth_raw_stack_node *nodes, uint32_t count) {
  size_t begin = f->size;
  for (uint32_t i = 0; i < count; ++i) {
    uint8_t packed[HEARTH_RAW_NODE_MOST];
    append(f, packed, (size_t)(hearth_raw_put_node(packed, i, &nodes[i], i ? nodes[i - 1].pc : 0) - packed));
  }
  pad(f);
  return begin;
}

/* "pool" and "". */
static void append_names(file *f) {
  static const uint8_t names[] = {2, 4, 'p', 'o', 'o', 'l', 0, 0};
  append(f, names, sizeof names);
}

/* The sizes 0, 1, 2 ..., and numbers of all lengths. */
static const uint8_t host_name[] = {3, 'w', 'e', 'b'};
static const uint8_t run_facts[] = {0xac, 2, 4, 'l', 's', ' ', 'a'}; /* a peak of 300 bytes */

static void append_histogram(file *f, uint64_t size) {
  uint8_t packed[HEARTH_RAW_VARINT_MOST];
  append(f, packed, (size_t)(hearth_raw_put_varint(packed, size) - packed));
  for (uint64_t i = 0; i < size; ++i)
    append(f, packed, (size_t)(hearth_raw_put_varint(packed, UINT64_MAX >> 32 * i) - packed));
}

static void append_numbers(file *f, const uint64_t *numbers, size_t count) {
  uint8_t packed[HEARTH_RAW_VARINT_MOST];
  for (size_t i = 0; i < count; ++i)
    append(f, packed, (size_t)(hearth_raw_put_varint(packed, numbers[i]) - packed));
}

/* i, 2^32 + i, all bits. */
static void append_residency(file *f, uint64_t i) {
  const uint64_t numbers[HEARTH_RAW_RESIDENCIES] = {i, (UINT64_C(1) << 32) + i, UINT64_MAX};
  append_numbers(f, numbers, HEARTH_RAW_RESIDENCIES);
}

/* No window saw a block of record 0: nothing follows. */
static void append_touched(file *f, uint64_t i) {
  const uint64_t numbers[HEARTH_RAW_TOUCHED_COLUMNS] = {2 * i + 1, i, i + 3, i + 4, UINT64_MAX};
  append_numbers(f, i == 0 ? (const uint64_t[]){0} : numbers, i == 0 ? 1 : HEARTH_RAW_TOUCHED_COLUMNS);
}

static const uint64_t together_end[] = {10, 5000, 40, 400, 2, 2 /* pairs */, 2, 0, 3, 30, 1, 2, 1, UINT64_MAX};

static size_t append_mibs(file *f, const hearth_raw_mib *mibs, size_t count, uint32_t flags) {
  const hearth_raw_mib none = {0};
  size_t begin = f->size;
  for (size_t i = 0; i < count; ++i) {
    uint8_t packed[HEARTH_RAW_MIB_MOST];
    append(f, packed, (size_t)(hearth_raw_put_mib(packed, &mibs[i], i ? &mibs[i - 1] : &none) - packed));
    if (flags & HEARTH_RAW_FLAG_HISTOGRAMS)
      append_histogram(f, i);
    if (flags & HEARTH_RAW_FLAG_RESIDENCY)
      append_residency(f, i);
    if (flags & HEARTH_RAW_FLAG_TOGETHER)
      append_touched(f, i);
  }
  if (flags & HEARTH_RAW_FLAG_TOGETHER)
    append_numbers(f, together_end, sizeof together_end / sizeof *together_end);
  pad(f);
  return begin;
}

/* Two mappings, the stacks 0x1010 <- 0x1020 <- 0x1030 and 0x1010 <- 0x1040, and three records. */
static void append_hearth_with(file *f, uint32_t flags) {
  static const char path[16] = "/bin/program"; /* 12 bytes and padding */
  static const hearth_raw_stack_node nodes[] = {{.pc = 0x1010, .parent = HEARTH_RAW_NO_PARENT},
                                                {.pc = 0x1020, .parent = 0},
                                                {.pc = 0x1030, .parent = 1},
                                                {.pc = 0x1040, .parent = 0}};
  /* The same, within the second of two names, and one leaf of the heap that the first names. */
  static const hearth_raw_stack_node named[] = {{.pc = HEARTH_RAW_SCOPE_PC | 1, .parent = HEARTH_RAW_NO_PARENT},
                                                {.pc = 0x1010, .parent = 0},
                                                {.pc = 0x1020, .parent = 1},
                                                {.pc = HEARTH_RAW_HEAP_PC, .parent = 2}};
  size_t begin = f->size;
  hearth_raw_header header = {.magic = HEARTH_RAW_MAGIC,
                              .version = HEARTH_RAW_VERSION,
                              .header_size = sizeof header,
                              .map_count = 2,
                              .stack_count = 4,
                              .mib_count = 3,
                              .mib_columns = HEARTH_MIB_COLUMNS,
                              .flags = HEARTH_RAW_FLAG_ACCESSES | flags,
                              .duration_ns = 5000,
                              .dropped_blocks = 7};
  append(f, &header, sizeof header);
  hearth_raw_mapping map = {.start = 0x1000, .end = 0x2000, .file_offset = 0x40, .build_id_size = 20, .path_size = 12};
  memset(map.build_id, 0xab, 20);
  header.map_offset = append(f, &map, sizeof map) - begin;
  append(f, path, sizeof path);
  map = (hearth_raw_mapping){.start = 0x7000, .end = 0x8000};
  append(f, &map, sizeof map);
  if (flags & HEARTH_RAW_FLAG_HOST)
    append(f, host_name, sizeof host_name);
  if (flags & HEARTH_RAW_FLAG_RUN)
    append(f, run_facts, sizeof run_facts);
  if (flags & HEARTH_RAW_FLAG_NAMES)
    append_names(f);
  pad(f);
  header.stack_offset = append_nodes(f, flags & HEARTH_RAW_FLAG_NAMES ? named : nodes, 4) - begin;
  const hearth_mib mib = {{.AllocCount = 3, .TotalSize = 300}};
  const hearth_raw_mib mibs[] = {{2, mib}, {3, mib}, {HEARTH_RAW_NO_PARENT, mib}};
  header.mib_offset = append_mibs(f, mibs, 3, flags) - begin;
  header.total_size = f->size - begin;
  memcpy(f->bytes + begin, &header, sizeof header);
  seal(f, begin);
}

static void append_hearth(file *f) { append_hearth_with(f, 0); }

/* The records of a dump that is complete, without histograms; the next call reuses the array. */
static const hearth_raw_record *read_records(hearth_raw_dump *dump) {
  static hearth_raw_record records[8];
  size_t n = 0;
  while (n < 8 && hearth_raw_next_record(dump, &records[n]))
    n++;
  assert_int_equal(n, dump->record_count);
  return records;
}

static void check_hearth(hearth_raw_dump *dump) {
  const hearth_raw_record *records = read_records(dump);
  assert_int_equal(dump->kind, HEARTH_RAW_FILE_OFFSET);
  assert_int_equal(dump->map_count, 2);
  assert_string_equal(dump->maps[0].path, "/bin/program");
  assert_int_equal(dump->maps[0].base, 0x40);
  assert_int_equal(dump->maps[0].build_id_size, 20);
  assert_int_equal(dump->maps[0].build_id[19], 0xab);
  assert_string_equal(dump->maps[1].path, "");
  assert_int_equal(dump->node_count, 4);
  assert_int_equal(dump->nodes[2].pc, 0x1030);
  assert_int_equal(dump->nodes[2].parent, 1);
  assert_int_equal(dump->record_count, 3);
  assert_int_equal(records[1].stack, 3);
  assert_int_equal(records[1].mib.TotalSize, 300);
  assert_int_equal(records[2].stack, HEARTH_RAW_NO_PARENT);
  assert_int_equal(dump->duration_ns, 5000);
  assert_int_equal(dump->dropped_blocks, 7);
  assert_true(dump->accesses_counted);
}

/* --- LLVM's layout ------------------------------------------------------------------------------------------------ */

static const hearth_llvm_raw_mib llvm_mib = {.alloc_count = 2,
                                             .total_access_count = 40,
                                             .min_access_count = 10,
                                             .max_access_count = 30,
                                             .total_size = 24,
                                             .min_size = 8,
                                             .max_size = 16,
                                             .alloc_timestamp = 5,
                                             .dealloc_timestamp = 9,
                                             .total_lifetime = 7,
                                             .min_lifetime = 3,
                                             .max_lifetime = 4,
                                             .alloc_cpu = 1,
                                             .dealloc_cpu = 2,
                                             .num_migrated_cpu = 1,
                                             .data_type_id = 77,
                                             .total_access_density = 11,
                                             .min_access_density = 4,
                                             .max_access_density = 6,
                                             .total_lifetime_access_density = 19,
                                             .min_lifetime_access_density = 8,
                                             .max_lifetime_access_density = 12};

static void append_llvm_mib(file *f, uint64_t version, uint64_t stack, uint32_t counters) {
  hearth_llvm_raw_mib mib = llvm_mib;
  const uint64_t wide[4] = {1, 0, 70000};
  const uint16_t narrow[4] = {1, 0, 5 << 12 | 0xfff};
  mib.histogram_size = counters;
  append_u64(f, stack);
  append(f, &mib, version == 3 ? offsetof(hearth_llvm_raw_mib, histogram_size) : sizeof mib);
  if (version == 4)
    append(f, wide, counters * sizeof wide[0]);
  if (version == 5)
    append(f, narrow, counters * sizeof narrow[0]);
}

static void append_llvm(file *f, uint64_t version) {
  const uint8_t zeros[8] = {0};
  size_t begin = f->size;
  hearth_llvm_raw_header header = {.magic = HEARTH_LLVM_RAW_MAGIC, .version = version, .segment_offset = sizeof header};
  hearth_llvm_raw_segment segment = {.start = 0x1000, .end = 0x2000, .offset = 0x800, .build_id_size = 20};
  append(f, &header, sizeof header);
  append_u64(f, 1);
  append(f, &segment, sizeof segment);
  header.mib_offset = f->size - begin;
  append_u64(f, 2);
  append_llvm_mib(f, version, 0xbbbb, 3);
  append_llvm_mib(f, version, 0xaaaa, 0);
  append(f, zeros, (8 - (f->size - begin) % 8) % 8);
  header.stack_offset = f->size - begin;
  append_u64(f, 2);
  append_u64(f, 0xbbbb);
  append_u64(f, 2);
  append_u64(f, 0x1020); /* leaf first */
  append_u64(f, 0x1010);
  append_u64(f, 0xaaaa);
  append_u64(f, 1);
  append_u64(f, 0x1030);
  header.total_size = f->size - begin;
  memcpy(f->bytes + begin, &header, sizeof header);
}

static void check_llvm(hearth_raw_dump *dump) {
  assert_int_equal(dump->kind, HEARTH_RAW_LOAD_BIAS);
  assert_int_equal(dump->map_count, 1);
  assert_int_equal(dump->maps[0].base, 0x800);
  assert_null(dump->maps[0].path);
  assert_int_equal(dump->record_count, 2);
  const hearth_raw_record *records = read_records(dump), *r = &records[0];
  assert_int_equal(dump->nodes[r->stack].pc, 0x1020);
  uint32_t parent = dump->nodes[r->stack].parent;
  assert_int_equal(dump->nodes[parent].pc, 0x1010);
  assert_int_equal(dump->nodes[parent].parent, HEARTH_RAW_NO_PARENT);
  assert_int_equal(dump->nodes[records[1].stack].pc, 0x1030);
  assert_int_equal(r->mib.AllocCount, 2);
  assert_int_equal(r->mib.TotalSize, 24);
  assert_int_equal(r->mib.MaxSize, 16);
  assert_int_equal(r->mib.TotalAccessCount, 40);
  assert_int_equal(r->mib.TotalLifetime, 7000000);
  assert_int_equal(r->mib.MinLifetime, 3000000);
  assert_int_equal(r->mib.AllocTimestamp, 5000000);
  assert_int_equal(r->mib.NumMigration, 1);
  assert_int_equal(r->mib.DataTypeId, 77);
  assert_int_equal(r->mib.TotalLifetimeAccessDensity, 19);
  assert_int_equal(r->mib.MaxLifetimeAccessDensity, 12);
  assert_int_equal(r->mib.LiveAtExit, 0);
  assert_int_equal(dump->duration_ns, 9000000);
  assert_true(dump->accesses_counted);
}

/* --- Tests -------------------------------------------------------------------------------------------------------- */

static hearth_status read_at(const file *f, size_t size, size_t *offset, hearth_raw_dump *dump, hearth_error *err) {
  /* A copy of exactly this size, kept until the next call: a sanitizer or valgrind sees any access behind it. */
  static uint8_t *copy;
  static hearth_file input;
  free(copy);
  copy = malloc(size + 1);
  assert_non_null(copy);
  memcpy(copy, f->bytes, size);
  input = (hearth_file){.data = copy, .size = size};
  return hearth_raw_read("input", &input, offset, dump, err);
}

/* One error, and the message says where. */
static void expect_error(const file *f, size_t size, hearth_status expected, const char *words) {
  hearth_raw_dump dump;
  hearth_error err;
  size_t offset = 0;
  assert_int_equal(read_at(f, size, &offset, &dump, &err), expected);
  assert_int_equal(err.status, expected);
  assert_int_equal(strncmp(err.message, "input: offset ", 14), 0);
  assert_non_null(strstr(err.message, words));
  assert_null(dump.nodes);
  assert_int_equal(offset, 0);
}

static void test_hearth(void **state) {
  (void)state;
  file f = {0};
  hearth_raw_dump dump;
  hearth_error err;
  size_t offset = 0;
  append_hearth(&f);
  assert_true(hearth_raw_is_raw(f.bytes, f.size));
  assert_int_equal(read_at(&f, f.size, &offset, &dump, &err), HEARTH_OK);
  assert_int_equal(offset, f.size);
  check_hearth(&dump);
  hearth_raw_free(&dump);
}

static void test_histograms(void **state) {
  (void)state;
  file f = {0};
  hearth_raw_dump dump;
  hearth_error err;
  hearth_raw_record record;
  size_t offset = 0;
  append_hearth_with(&f, HEARTH_RAW_FLAG_HISTOGRAMS);
  assert_int_equal(read_at(&f, f.size, &offset, &dump, &err), HEARTH_OK);
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
  hearth_raw_dump dump;
  hearth_error err;
  size_t offset = 0;
  append_hearth_with(&f, HEARTH_RAW_FLAG_NAMES);
  assert_int_equal(read_at(&f, f.size, &offset, &dump, &err), HEARTH_OK);
  assert_int_equal(dump.name_count, 2);
  assert_string_equal(dump.names[0], "pool");
  assert_string_equal(dump.names[1], "");
  assert_int_equal(dump.nodes[3].pc, HEARTH_RAW_HEAP_PC);
  hearth_raw_free(&dump);
}

static void test_host(void **state) {
  (void)state;
  for (uint32_t names = 0; names <= HEARTH_RAW_FLAG_NAMES; names += HEARTH_RAW_FLAG_NAMES) {
    file f = {0};
    hearth_raw_dump dump;
    hearth_error err;
    size_t offset = 0;
    append_hearth_with(&f, HEARTH_RAW_FLAG_HOST | names);
    assert_int_equal(read_at(&f, f.size, &offset, &dump, &err), HEARTH_OK);
    assert_string_equal(dump.host, "web");
    assert_int_equal(dump.name_count, names ? 2 : 0);
    hearth_raw_free(&dump);
  }
}

static void test_run(void **state) {
  (void)state;
  for (uint32_t more = 0; more < 4; more++) {
    file f = {0};
    hearth_raw_dump dump;
    hearth_error err;
    size_t offset = 0;
    append_hearth_with(&f, HEARTH_RAW_FLAG_RUN | (more & 1 ? HEARTH_RAW_FLAG_HOST : 0) |
                               (more & 2 ? HEARTH_RAW_FLAG_NAMES : 0));
    assert_int_equal(read_at(&f, f.size, &offset, &dump, &err), HEARTH_OK);
    assert_int_equal(dump.peak_bytes, 300);
    assert_string_equal(dump.command, "ls a");
    assert_int_equal(dump.name_count, more & 2 ? 2 : 0);
    hearth_raw_free(&dump);
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

/* Sizes of none, too many, and more bytes than the file has; a NUL; no room. */
static void test_bad_host(void **state) {
  (void)state;
  static const uint8_t cases[][3] = {{0, 'w', 'e'}, {0x80, 2, 'e'}, {0xff, 1, 'e'}, {3, 'w', 0}};
  size_t at = sizeof(hearth_raw_header) + 2 * sizeof(hearth_raw_mapping) + 16;
  file f = {0};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    f = (file){0};
    append_hearth_with(&f, HEARTH_RAW_FLAG_HOST);
    memcpy(f.bytes + at, cases[i], sizeof cases[i]);
    seal(&f, 0);
    expect_error(&f, f.size, HEARTH_E_CORRUPT, "no host's name");
  }
  f = (file){0};
  append_hearth_with(&f, HEARTH_RAW_FLAG_HOST);
  hearth_raw_header header;
  memcpy(&header, f.bytes, sizeof header);
  header.total_size = at;
  memcpy(f.bytes, &header, sizeof header);
  seal(&f, 0);
  expect_error(&f, at, HEARTH_E_CORRUPT, "no host's name");
}

#define HEAP_DUMP (HEARTH_RAW_PEAK << HEARTH_RAW_OCCASION_SHIFT | HEARTH_RAW_FLAG_RESIDENCY)

static void test_heap_dump(void **state) {
  (void)state;
  file f = {0};
  hearth_raw_dump dump;
  hearth_error err;
  hearth_raw_record record;
  size_t offset = 0;
  append_hearth_with(&f, HEAP_DUMP | HEARTH_RAW_FLAG_NAMES);
  assert_int_equal(read_at(&f, f.size, &offset, &dump, &err), HEARTH_OK);
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

static void test_llvm_histograms(void **state) {
  (void)state;
  for (uint64_t version = 4; version <= 5; ++version) {
    file f = {0};
    hearth_raw_dump dump;
    hearth_error err;
    hearth_raw_record record;
    size_t offset = 0;
    append_llvm(&f, version);
    assert_int_equal(read_at(&f, f.size, &offset, &dump, &err), HEARTH_OK);
    assert_true(hearth_raw_next_record(&dump, &record));
    assert_int_equal(record.histogram.size, 3);
    assert_int_equal(record.histogram.counts[0], 1);
    assert_int_equal(record.histogram.counts[1], 0);
    assert_int_equal(record.histogram.counts[2], version == 4 ? 70000 : 4095 << 5);
    assert_true(hearth_raw_next_record(&dump, &record));
    assert_int_equal(record.histogram.size, 0);
    hearth_raw_free(&dump);
  }
}

/* Rounded to 12 bits. */
static void test_llvm_counters(void **state) {
  (void)state;
  for (uint64_t count = 0; count < 4096; ++count)
    assert_int_equal(hearth_llvm_raw_counter(hearth_llvm_raw_put_counter(count)), count);
  for (uint64_t count = 4096, most = UINT64_C(4095) << 15; count < most; count += count / 64 + 1) {
    uint64_t stored = hearth_llvm_raw_counter(hearth_llvm_raw_put_counter(count));
    assert_in_range(stored, count - count / 4096, count + count / 4096);
  }
  assert_int_equal(hearth_llvm_raw_put_counter(8191), 2 << 12 | 2048);
  assert_int_equal(hearth_llvm_raw_put_counter(UINT64_MAX), 0xffff);
}

static void test_llvm_versions(void **state) {
  (void)state;
  for (uint64_t version = 3; version <= 5; ++version) {
    file f = {0};
    hearth_raw_dump dump;
    hearth_error err;
    size_t offset = 0;
    append_llvm(&f, version);
    assert_int_equal(read_at(&f, f.size, &offset, &dump, &err), HEARTH_OK);
    assert_int_equal(offset, f.size);
    check_llvm(&dump);
    hearth_raw_free(&dump);
  }
}

/* The layout cannot say that accesses were not counted: no access at all says it. */
static void test_llvm_without_accesses(void **state) {
  (void)state;
  file f = {0};
  hearth_raw_dump dump;
  hearth_error err;
  size_t offset = 0;
  append_llvm(&f, 5);
  for (size_t i = 0; i + sizeof llvm_mib <= f.size; ++i)
    if (memcmp(f.bytes + i, &llvm_mib, offsetof(hearth_llvm_raw_mib, histogram_size)) == 0)
      memset(f.bytes + i + offsetof(hearth_llvm_raw_mib, total_access_count), 0, 3 * sizeof(uint64_t));
  assert_int_equal(read_at(&f, f.size, &offset, &dump, &err), HEARTH_OK);
  assert_int_equal(dump.record_count, 2);
  assert_int_equal(read_records(&dump)[1].mib.TotalAccessCount, 0);
  assert_false(dump.accesses_counted);
  hearth_raw_free(&dump);
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

/* LLVM's layout has none: a flip gives other numbers or an error, but never a reference outside. */
static void test_llvm_every_flip(void **state) {
  (void)state;
  file f = {0};
  append_llvm(&f, 5);
  for (size_t i = 0; i < f.size; ++i)
    for (unsigned bits = 1; bits < 256; bits += 2) {
      hearth_raw_dump dump;
      hearth_error err;
      size_t offset = 0;
      f.bytes[i] ^= (uint8_t)bits;
      if (read_at(&f, f.size, &offset, &dump, &err) == HEARTH_OK) {
        const hearth_raw_record *records = read_records(&dump);
        for (size_t r = 0; r < dump.record_count; ++r)
          assert_true(records[r].stack < dump.node_count || records[r].stack == HEARTH_RAW_NO_PARENT);
        hearth_raw_free(&dump);
      }
      f.bytes[i] ^= (uint8_t)bits;
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
      for (size_t k = 0; k < dump.pair_count; ++k) {
        assert_true(dump.pairs[k].a < dump.record_count && dump.pairs[k].b < dump.record_count);
        assert_true(dump.pairs[k].a != dump.pairs[k].b);
      }
      assert_true(sum != 1); /* all are read */
      hearth_raw_free(&dump);
    }
}

static void test_every_flip_of_what_is_optional(void **state) {
  (void)state;
  flip_with(HEARTH_RAW_FLAG_HISTOGRAMS);
  flip_with(HEARTH_RAW_FLAG_NAMES | HEARTH_RAW_FLAG_HOST | HEAP_DUMP);
  flip_with(HEARTH_RAW_FLAG_RUN | HEARTH_RAW_FLAG_HOST);
  flip_with(HEARTH_RAW_FLAG_TOGETHER);
  flip_with(HEARTH_RAW_FLAG_TOGETHER | HEARTH_RAW_FLAG_HISTOGRAMS);
}

static void test_hearth_windows(void **state) {
  (void)state;
  file f = {0};
  hearth_raw_dump dump;
  hearth_error err;
  size_t offset = 0;
  append_hearth_with(&f, HEARTH_RAW_FLAG_TOGETHER);
  assert_int_equal(read_at(&f, f.size, &offset, &dump, &err), HEARTH_OK);
  check_hearth(&dump);
  hearth_raw_free(&dump);
  offset = 0;
  assert_int_equal(read_at(&f, f.size, &offset, &dump, &err), HEARTH_OK);
  const hearth_raw_record *records = read_records(&dump);
  assert_true(dump.has_together);
  assert_int_equal(dump.together.windows, 10);
  assert_int_equal(dump.together.window_ns, 5000);
  assert_int_equal(dump.together.sampled_pages, 40);
  assert_int_equal(dump.together.pages, 400);
  assert_int_equal(dump.together.lost_pairs, 2);
  assert_int_equal(records[0].touched.live + records[0].touched.windows, 0);
  assert_int_equal(records[2].touched.live, 4);
  assert_int_equal(records[2].touched.windows, 2);
  assert_int_equal(records[2].touched.blocks, 5);
  assert_int_equal(records[2].touched.lines, 6);
  assert_true(records[2].touched.pages == UINT64_MAX);
  assert_int_equal(dump.pair_count, 2);
  assert_int_equal(dump.pairs[0].a, 2);
  assert_int_equal(dump.pairs[0].b, 0);
  assert_int_equal(dump.pairs[0].windows, 3);
  assert_int_equal(dump.pairs[1].windows, 1);
  assert_true(dump.pairs[1].lines == UINT64_MAX);
  hearth_raw_free(&dump);
}

/* Its last numbers are 30, a second pair of 4, and the padding's zeros. */
static void test_hearth_bad_windows(void **state) {
  (void)state;
  const struct {
    size_t back; /* from the second pair's end */
    uint8_t value;
    const char *words;
  } cases[] = {{12, 9, "a pair's contexts do not exist"},  /* no third record more */
               {13, 2, "a pair's contexts do not exist"},  /* 2 and 2 */
               {18, 99, "sums over windows run past"},     /* pairs */
               {1, 0x82, "a pair of contexts runs past"}}; /* more than 64 bits */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    file f = {0};
    append_hearth_with(&f, HEARTH_RAW_FLAG_TOGETHER);
    size_t end = f.size;
    while (f.bytes[end - 1] == 0)
      end--;
    f.bytes[end - cases[i].back] = cases[i].value;
    seal(&f, 0);
    expect_error(&f, f.size, HEARTH_E_CORRUPT, cases[i].words);
  }
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
      {offsetof(hearth_raw_header, flags), 0x4000, HEARTH_E_VERSION, "flags"},
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

/* Numbers of every length and sign come back, whatever comes before them. */
static void test_packed_numbers(void **state) {
  (void)state;
  uint64_t random = 1;
  hearth_raw_mib previous = {0}, record, found;
  for (int round = 0; round < 20000; ++round) {
    uint8_t packed[HEARTH_RAW_MIB_MOST];
    for (size_t i = 0; i < HEARTH_MIB_COLUMNS; ++i) {
      random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      record.mib.v[i] = random >> 32 & 1 ? UINT64_MAX >> (random >> 58) : (random >> 20) >> (random >> 59);
    }
    record.stack = (uint32_t)(random >> 33);
    const uint8_t *end = hearth_raw_put_mib(packed, &record, &previous), *from = packed, *cut = packed;
    assert_true(end <= packed + sizeof packed);
    assert_true(hearth_raw_take_mib(&from, end, &previous, &found));
    assert_ptr_equal(from, end);
    assert_int_equal(found.stack, record.stack);
    assert_memory_equal(&found.mib, &record.mib, sizeof found.mib);
    assert_false(hearth_raw_take_mib(&cut, end - 1, &previous, &found));
    previous = record;
  }
}

/* Numbers of every length, passed over and taken: both end at the same byte, or both fail where they are cut. */
static void test_skipped_numbers(void **state) {
  uint8_t packed[64 * HEARTH_RAW_VARINT_MOST], *end = packed;
  const uint8_t *begins[65];
  uint64_t number = 1;
  (void)state;
  for (unsigned i = 0; i < 64; i++) {
    begins[i] = end;
    number = number * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    end = hearth_raw_put_varint(end, number >> (i * 7 + i / 16 * 5) % 64);
  }
  begins[64] = end;
  for (unsigned first = 0; first < 64; first++)
    for (unsigned count = 1; count <= 64 - first; count++)
      for (int cut = 0; cut < 3; cut++) {
        const uint8_t *skipped = begins[first], *taken = skipped, *stop = cut ? begins[first + count] + 1 - cut : end;
        bool good = true;
        for (unsigned i = 0; i < count && good; i++) {
          good = hearth_raw_take_varint(&taken, stop, &number);
          assert_true(!good || taken == begins[first + i + 1]);
        }
        assert_int_equal(hearth_raw_skip_varints(&skipped, stop, count), good);
        assert_true(!good || skipped == taken);
      }
}

/* More than 64 bits, and ten bytes that hold just so many. */
static void test_longest_numbers(void **state) {
  uint8_t packed[HEARTH_RAW_VARINT_MOST + 8] = {0};
  (void)state;
  for (unsigned last = 1; last < 4; last++) {
    const uint8_t *taken = packed, *skipped = packed;
    uint64_t number;
    memset(packed, 255, HEARTH_RAW_VARINT_MOST - 1);
    packed[HEARTH_RAW_VARINT_MOST - 1] = (uint8_t)last;
    assert_int_equal(hearth_raw_take_varint(&taken, packed + sizeof packed, &number), last == 1);
    assert_int_equal(hearth_raw_skip_varints(&skipped, packed + sizeof packed, 1), last == 1);
    if (last == 1)
      assert_true(number == UINT64_MAX && skipped == taken);
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

/* --- snapshot files ----------------------------------------------------------------------------------------------- */

enum { HALF = 2048 };

/* Two snapshots that both hold append_hearth's profile, with 8 bytes of the header unused. */
static void append_snapshots(file *f, uint64_t first, uint64_t second) {
  const hearth_raw_snapshots header = {.magic = HEARTH_RAW_SNAPSHOTS_MAGIC,
                                       .version = HEARTH_RAW_VERSION,
                                       .header_size = sizeof header + 8,
                                       .half_size = HALF,
                                       .sequence = {first, second}};
  append(f, &header, sizeof header);
  append_u64(f, 0);
  for (int half = 0; half < 2; ++half) {
    size_t begin = f->size;
    append_hearth(f);
    while (f->size < begin + HALF)
      append_u64(f, 0);
  }
}

static size_t half_at(size_t half) { return sizeof(hearth_raw_snapshots) + 8 + half * HALF; }

static void set_duration(file *f, size_t half, uint64_t duration_ns) {
  memcpy(f->bytes + half_at(half) + offsetof(hearth_raw_header, duration_ns), &duration_ns, sizeof duration_ns);
  seal(f, half_at(half));
}

/* The snapshot that is chosen has this duration. */
static void expect_duration(file *f, uint64_t duration_ns) {
  hearth_raw_dump dump;
  hearth_error err;
  size_t offset = 0;
  assert_int_equal(read_at(f, f->size, &offset, &dump, &err), HEARTH_OK);
  assert_int_equal(offset, f->size);
  assert_int_equal(dump.duration_ns, duration_ns);
  assert_int_equal(read_records(&dump)[1].mib.TotalSize, 300);
  hearth_raw_free(&dump);
}

static void test_newest_snapshot(void **state) {
  (void)state;
  const struct {
    uint64_t first, second, chosen;
  } cases[] = {{7, 8, 1002}, {9, 8, 1001}, {0, 1, 1002}, {5, 0, 1001}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    file f = {0};
    append_snapshots(&f, cases[i].first, cases[i].second);
    assert_true(hearth_raw_is_raw(f.bytes, f.size));
    set_duration(&f, 0, 1001);
    set_duration(&f, 1, 1002);
    expect_duration(&f, cases[i].chosen);
  }
}

static void test_damaged_snapshot(void **state) {
  (void)state;
  file f = {0};
  append_snapshots(&f, 7, 8);
  set_duration(&f, 0, 1001);
  f.bytes[half_at(1) + 300] ^= 1;
  expect_duration(&f, 1001);
  f.bytes[half_at(0) + 300] ^= 1;
  expect_error(&f, f.size, HEARTH_E_CORRUPT, "checksum");
}

static void test_snapshot_file_errors(void **state) {
  (void)state;
  file f = {0};
  append_snapshots(&f, 0, 0);
  expect_error(&f, f.size, HEARTH_E_TRUNCATED, "no snapshot was complete");
  for (size_t size = 0; size < f.size; ++size)
    expect_error(&f, size, HEARTH_E_TRUNCATED, size < 8 ? "too short" : "ends");
  f.bytes[offsetof(hearth_raw_snapshots, version)] ^= 0x80;
  expect_error(&f, f.size, HEARTH_E_VERSION, "raw profile version");
  f = (file){0};
  append_snapshots(&f, 1, 2);
  f.bytes[offsetof(hearth_raw_snapshots, header_size)] = 8;
  expect_error(&f, f.size, HEARTH_E_CORRUPT, "header size");
  /* A snapshot is a profile, not a snapshot file again. */
  f = (file){0};
  append_snapshots(&f, 1, 0);
  memcpy(f.bytes + half_at(0), f.bytes, sizeof(uint64_t));
  expect_error(&f, f.size, HEARTH_E_FORMAT, "no raw profile begins here");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hearth),
      cmocka_unit_test(test_llvm_versions),
      cmocka_unit_test(test_histograms),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_bad_names),
      cmocka_unit_test(test_host),
      cmocka_unit_test(test_bad_host),
      cmocka_unit_test(test_run),
      cmocka_unit_test(test_bad_run),
      cmocka_unit_test(test_heap_dump),
      cmocka_unit_test(test_llvm_histograms),
      cmocka_unit_test(test_llvm_counters),
      cmocka_unit_test(test_every_flip_of_what_is_optional),
      cmocka_unit_test(test_llvm_without_accesses),
      cmocka_unit_test(test_several_dumps),
      cmocka_unit_test(test_every_truncation),
      cmocka_unit_test(test_hearth_every_flip),
      cmocka_unit_test(test_llvm_every_flip),
      cmocka_unit_test(test_hearth_windows),
      cmocka_unit_test(test_hearth_bad_windows),
      cmocka_unit_test(test_hearth_bad_contents),
      cmocka_unit_test(test_packed_numbers),
      cmocka_unit_test(test_skipped_numbers),
      cmocka_unit_test(test_longest_numbers),
      cmocka_unit_test(test_foreign),
      cmocka_unit_test(test_newest_snapshot),
      cmocka_unit_test(test_damaged_snapshot),
      cmocka_unit_test(test_snapshot_file_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
