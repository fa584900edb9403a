/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Line programs made by hand: what compilers do not write, or no longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dwarf_reader.h"

#define HEADER_BYTES 35u /* of the tables made here: DWARF 4, a file "a", no directories */

typedef struct table {
  uint8_t bytes[1024];
  size_t size;
} table;

static void put(table *t, const void *bytes, size_t size) {
  memcpy(t->bytes + t->size, bytes, size);
  t->size += size;
}

static void put_byte(table *t, unsigned byte) { put(t, &(uint8_t){(uint8_t)byte}, 1); }

static void begin(table *t, unsigned operations) {
  static const uint8_t counts[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
  *t = (table){0};
  put(t, &(uint32_t){0}, 4);
  put(t, &(uint16_t){4}, 2);
  put(t, &(uint32_t){HEADER_BYTES - 10}, 4);
  put(t, &(uint8_t[]){1, (uint8_t)operations, 1, (uint8_t)-3, 12, 13}, 6);
  put(t, counts, sizeof counts);
  put(t, "\0a\0\0\0\0", 7);
  assert_int_equal(t->size, HEADER_BYTES);
}

static void at(table *t, uint64_t address) {
  put(t, &(uint8_t[]){0, 9, 2}, 3);
  put(t, &address, 8);
}

/* A row `bytes` on and `lines` down. */
static void row(table *t, unsigned bytes, int lines) { put_byte(t, 13 + (unsigned)(lines + 3) + 12 * bytes); }

static void end(table *t) { put(t, &(uint8_t[]){2, 4, 0, 1, 1}, 5); } /* 4 bytes on */

static hearth_line_status read_table(table *t, hearth_line_program **ret) {
  uint32_t length = (uint32_t)t->size - 4;
  memcpy(t->bytes, &length, 4);
  return hearth_line_program_create(&(hearth_line_source){.lines = {t->bytes, t->size}, .directory = "/d"}, ret);
}

static uint32_t line_at(const hearth_line_program *p, uint64_t address) {
  hearth_line_row found;
  return hearth_line_program_find(p, address, &found) ? found.line : 0;
}

static void last_row_at_an_address_counts(void **state) {
  (void)state;
  table t;
  hearth_line_program *p;
  begin(&t, 1);
  at(&t, 100);
  row(&t, 0, 1);
  row(&t, 0, 1);
  row(&t, 5, 2);
  end(&t);
  assert_int_equal(read_table(&t, &p), HEARTH_LINE_OK);
  assert_int_equal(line_at(p, 99), 0);
  assert_int_equal(line_at(p, 100), 3);
  assert_int_equal(line_at(p, 104), 3);
  assert_int_equal(line_at(p, 105), 5);
  assert_int_equal(line_at(p, 108), 5);
  assert_int_equal(line_at(p, 109), 0);
  hearth_line_program_destroy(p);
}

static void every_row_of_a_long_sequence_is_found(void **state) {
  (void)state;
  table t;
  hearth_line_program *p;
  begin(&t, 1);
  at(&t, 1000);
  for (int i = 0; i < 600; ++i)
    row(&t, 2, 1);
  end(&t);
  assert_int_equal(read_table(&t, &p), HEARTH_LINE_OK);
  for (uint64_t i = 0; i < 600; ++i) {
    assert_int_equal(line_at(p, 1002 + 2 * i), i + 2);
    assert_int_equal(line_at(p, 1003 + 2 * i), i + 2);
  }
  hearth_line_program_destroy(p);
}

static void sequences_may_come_in_any_order(void **state) {
  (void)state;
  table t;
  hearth_line_program *p;
  begin(&t, 1);
  at(&t, 300);
  row(&t, 0, 3);
  end(&t);
  at(&t, 0); /* dropped by the linker */
  row(&t, 0, 8);
  row(&t, 15, 8);
  end(&t);
  at(&t, 100);
  row(&t, 0, 1);
  end(&t);
  at(&t, 100); /* folded with the one before */
  row(&t, 0, 7);
  end(&t);
  assert_int_equal(read_table(&t, &p), HEARTH_LINE_OK);
  assert_int_equal(line_at(p, 10), 0);
  assert_int_equal(line_at(p, 101), 2);
  assert_int_equal(line_at(p, 104), 0);
  assert_int_equal(line_at(p, 303), 4);
  hearth_line_program_destroy(p);
}

static void addresses_that_go_back_begin_anew(void **state) {
  (void)state;
  table t;
  hearth_line_program *p;
  begin(&t, 1);
  at(&t, 200);
  row(&t, 0, 1);
  row(&t, 6, 1);
  at(&t, 100);
  row(&t, 0, 1);
  end(&t);
  assert_int_equal(read_table(&t, &p), HEARTH_LINE_OK);
  assert_int_equal(line_at(p, 205), 2);
  assert_int_equal(line_at(p, 103), 4);
  hearth_line_program_destroy(p);
}

/* Several operations in an instruction: on no processor that programs are read of. */
static void bundles_of_operations_are_refused(void **state) {
  (void)state;
  table t;
  hearth_line_program *p;
  begin(&t, 3);
  at(&t, 100);
  row(&t, 0, 1);
  end(&t);
  assert_int_equal(read_table(&t, &p), HEARTH_LINE_DAMAGED);
  assert_null(p);
}

/* An operand that is cut off is damage; a program that ends between opcodes is not. */
static void truncated_programs_are_told(void **state) {
  (void)state;
  table t;
  hearth_line_program *p;
  begin(&t, 1);
  at(&t, 100);
  size_t whole = t.size;
  for (size_t size = 4; size < whole; ++size) {
    t.size = size;
    hearth_line_status expected = size == HEADER_BYTES ? HEARTH_LINE_OK : HEARTH_LINE_DAMAGED;
    assert_int_equal(read_table(&t, &p), expected);
    hearth_line_program_destroy(p);
  }
}

static void files_are_behind_their_directories(void **state) {
  (void)state;
  table t;
  hearth_line_header h;
  char *path;
  begin(&t, 1);
  uint32_t length = (uint32_t)t.size - 4;
  memcpy(t.bytes, &length, 4);
  assert_true(hearth_line_header_read(&(hearth_line_source){.lines = {t.bytes, t.size}, .directory = "/d"}, &h));
  assert_true(hearth_line_header_path(&h, 1, &path));
  assert_string_equal(path, "/d/a");
  free(path);
  assert_true(hearth_line_header_path(&h, 0, &path) && !path);
  assert_true(hearth_line_header_path(&h, 2, &path) && !path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(last_row_at_an_address_counts),      cmocka_unit_test(every_row_of_a_long_sequence_is_found),
      cmocka_unit_test(sequences_may_come_in_any_order),    cmocka_unit_test(addresses_that_go_back_begin_anew),
      cmocka_unit_test(bundles_of_operations_are_refused),  cmocka_unit_test(truncated_programs_are_told),
      cmocka_unit_test(files_are_behind_their_directories),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
