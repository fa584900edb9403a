/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading files with two snapshots. */
#include "raw_files.h"

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
      cmocka_unit_test(test_newest_snapshot),
      cmocka_unit_test(test_damaged_snapshot),
      cmocka_unit_test(test_snapshot_file_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
