/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Raw profiles of both layouts for tests, byte by byte, and what reading them gives. */
#ifndef HEARTH_TEST_RAW_FILES_H
#define HEARTH_TEST_RAW_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hearth/llvm_files.h"
#include "hearth/raw.h"
#include "raw_dump.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* A file being built. Sections of either layout are multiples of 8 bytes. */
typedef struct file {
  uint8_t bytes[8192];
  size_t size;
} file;

static inline size_t append(file *f, const void *data, size_t size) {
  size_t at = f->size;
  assert_true(f->size + size <= sizeof f->bytes);
  memcpy(f->bytes + f->size, data, size);
  f->size += size;
  return at;
}

static inline void append_u64(file *f, uint64_t value) { append(f, &value, sizeof value); }

/* --- Hearth's layout ---------------------------------------------------------------------------------------------- */

static inline void seal(file *f, size_t begin) {
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

static inline void pad(file *f) {
  const uint64_t zeros = 0;
  append(f, &zeros, -f->size % 8);
}

static inline size_t append_nodes(file *f, const hearth_raw_stack_node *nodes, uint32_t count) {
  size_t begin = f->size;
  for (uint32_t i = 0; i < count; ++i) {
    uint8_t packed[HEARTH_RAW_NODE_MOST];
    append(f, packed, (size_t)(hearth_raw_put_node(packed, i, &nodes[i], i ? nodes[i - 1].pc : 0) - packed));
  }
  pad(f);
  return begin;
}

/* "pool" and "". */
static inline void append_names(file *f) {
  static const uint8_t names[] = {2, 4, 'p', 'o', 'o', 'l', 0, 0};
  append(f, names, sizeof names);
}

/* The sizes 0, 1, 2 ..., and numbers of all lengths. */
static const uint8_t run_facts[] = {0xac, 2, 4, 'l', 's', ' ', 'a'}; /* a peak of 300 bytes */
static const uint8_t clock_error[] = {0x80, 0x92, 0xf4, 1};          /* 4,000,000 ns */
/* The peak is at 5; all have 32 from point 10 on; of one record, number 1, 32 from there to point 254. */
static const uint8_t history[] = {5, 3, 10, 8, 0xf5, 1, 1, 1, 5, 10, 2, 0xf4, 1, 1};

/* Two: a row, and again that of the same variable from another file. */
static const uint8_t globals[] = {2,    0x80, 0x20, 100, 8, 7, 9, 2, 3,   'o', 'n', 'e', 3,   'a', '.', 'c',
                                  0x80, 0x20, 100,  8,   7, 9, 2, 3, 'o', 'n', 'e', 3,   'a', '.', 'c'};
/* The same as one row, whose stores were counted. */
static const uint8_t globals_with_stores[sizeof globals] = {1, 0x80, 0x20, 100, 40, 7,   9,   2,  6,
                                                            3, 'o',  'n',  'e', 3,  'a', '.', 'c'};

static inline void append_histogram(file *f, uint64_t size) {
  uint8_t packed[HEARTH_RAW_VARINT_MOST];
  append(f, packed, (size_t)(hearth_raw_put_varint(packed, size) - packed));
  for (uint64_t i = 0; i < size; ++i)
    append(f, packed, (size_t)(hearth_raw_put_varint(packed, UINT64_MAX >> 32 * i) - packed));
}

static inline void append_numbers(file *f, const uint64_t *numbers, size_t count) {
  uint8_t packed[HEARTH_RAW_VARINT_MOST];
  for (size_t i = 0; i < count; ++i)
    append(f, packed, (size_t)(hearth_raw_put_varint(packed, numbers[i]) - packed));
}

/* i, 2^32 + i, all bits. */
static inline void append_residency(file *f, uint64_t i) {
  const uint64_t numbers[HEARTH_RAW_RESIDENCIES] = {i, (UINT64_C(1) << 32) + i, UINT64_MAX};
  append_numbers(f, numbers, HEARTH_RAW_RESIDENCIES);
}

static inline size_t append_mibs(file *f, const hearth_raw_mib *mibs, size_t count, uint32_t flags) {
  const hearth_raw_mib none = {0};
  size_t begin = f->size;
  for (size_t i = 0; i < count; ++i) {
    uint8_t packed[HEARTH_RAW_MIB_MOST];
    append(f, packed, (size_t)(hearth_raw_put_mib(packed, &mibs[i], i ? &mibs[i - 1] : &none) - packed));
    if (flags & HEARTH_RAW_FLAG_HISTOGRAMS)
      append_histogram(f, i);
    if (flags & HEARTH_RAW_FLAG_RESIDENCY)
      append_residency(f, i);
  }
  pad(f);
  return begin;
}

/* Two mappings, the stacks 0x1010 <- 0x1020 <- 0x1030 and 0x1010 <- 0x1040, and three records. */
static inline void append_hearth_with(file *f, uint32_t flags) {
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
  if (flags & HEARTH_RAW_FLAG_RUN)
    append(f, run_facts, sizeof run_facts);
  if (flags & HEARTH_RAW_FLAG_CLOCK)
    append(f, clock_error, sizeof clock_error);
  if (flags & HEARTH_RAW_FLAG_HISTORY)
    append(f, history, sizeof history);
  if (flags & HEARTH_RAW_FLAG_NAMES)
    append_names(f);
  pad(f);
  header.stack_offset = append_nodes(f, flags & HEARTH_RAW_FLAG_NAMES ? named : nodes, 4) - begin;
  const hearth_mib mib = {
      {.AllocCount = 3, .TotalSize = 300, .LiveAtExit = 3, .SizedAtExit = 3, .LiveBytes = 300}}; /* as is expected */
  const hearth_raw_mib mibs[] = {{2, mib}, {3, mib}, {HEARTH_RAW_NO_PARENT, mib}};
  header.mib_offset = append_mibs(f, mibs, 3, flags) - begin;
  if (flags & HEARTH_RAW_FLAG_GLOBALS)
    append(f, globals, sizeof globals);
  pad(f);
  header.total_size = f->size - begin;
  memcpy(f->bytes + begin, &header, sizeof header);
  seal(f, begin);
}

static inline void append_hearth(file *f) { append_hearth_with(f, 0); }

/* The records of a dump that is complete, without histograms; the next call reuses the array. */
static const hearth_raw_record *read_records(hearth_raw_dump *dump) {
  static hearth_raw_record records[8];
  size_t n = 0;
  while (n < 8 && hearth_raw_next_record(dump, &records[n]))
    n++;
  assert_int_equal(n, dump->record_count);
  return records;
}

static inline void check_hearth(hearth_raw_dump *dump) {
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

static inline void append_llvm_mib(file *f, uint64_t version, uint64_t stack, uint32_t counters) {
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

static inline void append_llvm(file *f, uint64_t version) {
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

static inline void check_llvm(hearth_raw_dump *dump) {
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

static inline hearth_status read_at(const file *f, size_t size, size_t *offset, hearth_raw_dump *dump,
                                    hearth_error *err) {
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
static inline void expect_error(const file *f, size_t size, hearth_status expected, const char *words) {
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

/* Of a file that is one good dump. */
static inline hearth_raw_dump read_whole(const file *f) {
  hearth_raw_dump dump;
  hearth_error err;
  size_t offset = 0;
  assert_int_equal(read_at(f, f->size, &offset, &dump, &err), HEARTH_OK);
  assert_int_equal(offset, f->size);
  return dump;
}

#endif
