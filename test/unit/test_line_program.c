/* Line programs made by hand: what compilers do not write, or no longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbolise/line_program.h"

#define HEADER_BYTES 35u /* of the tables made here: DWARF 4, a file "a", no directories */

typedef struct table {
  uint8_t bytes[65536];
  size_t size;
  unsigned first_special, line_range;
} table;

static void put(table *t, const void *bytes, size_t size) {
  memcpy(t->bytes + t->size, bytes, size);
  t->size += size;
}

static void put_byte(table *t, unsigned byte) { put(t, &(uint8_t){(uint8_t)byte}, 1); }

/* first_special  13, as all compilers have it, or 14: with an opcode that no standard has */
static void begin_with(table *t, unsigned operations, unsigned first_special, unsigned line_range) {
  static const uint8_t counts[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0};
  t->size = 0;
  t->first_special = first_special;
  t->line_range = line_range;
  put(t, &(uint32_t){0}, 4);
  put(t, &(uint16_t){4}, 2);
  put(t, &(uint32_t){HEADER_BYTES - 10 + first_special - 13}, 4);
  put(t, &(uint8_t[]){1, (uint8_t)operations, 1, (uint8_t)-3, (uint8_t)line_range, (uint8_t)first_special}, 6);
  put(t, counts, first_special - 1);
  put(t, "\0a\0\0\0\0", 7);
  assert_int_equal(t->size, HEADER_BYTES + first_special - 13);
}

static void begin(table *t, unsigned operations) { begin_with(t, operations, 13, 12); }

static void at(table *t, uint64_t address) {
  put(t, &(uint8_t[]){0, 9, 2}, 3);
  put(t, &address, 8);
}

/* A row `bytes` on and `lines` down. */
static void row(table *t, unsigned bytes, int lines) {
  put_byte(t, t->first_special + (unsigned)(lines + 3) + t->line_range * bytes);
}

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

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* A LEB128 number of some bytes; few of its values need that many. */
static void put_leb(table *t, uint32_t *random, unsigned bytes) {
  while (--bytes > 0)
    put_byte(t, 0x80 | (next_random(random) & 0x7f));
  /* Also those that look like opcodes: numbers of the first dozen. */
  put_byte(t, next_random(random) % (next_random(random) % 2 ? 128 : 13));
}

/* Opcodes as compilers mix them, with what is rare more often. */
static void put_opcode(table *t, uint32_t *random) {
  unsigned bytes = next_random(random) % 64 ? 1 + next_random(random) % 3 : 4 + next_random(random) % 3, kind;
  switch (kind = next_random(random) % 24) {
  case 0:
  case 1:
    put_byte(t, 2);
    put_leb(t, random, 1); /* few: addresses are tried one by one */
    break;
  case 2:
    put_byte(t, 9);
    put(t, &(uint16_t){(uint16_t)(next_random(random) % 40)}, 2);
    break;
  case 3:
    put_byte(t, 0);
    put_byte(t, bytes + 1);
    put_byte(t, next_random(random) % 8 ? 4 : 0x80); /* a vendor's opcode */
    put_leb(t, random, bytes);
    break;
  case 4:
  case 5:
  case 6:
  case 7:
    put_byte(t, 0);
    put_byte(t, 2);
    put_byte(t, 4);
    put_leb(t, random, 1);
    break;
  case 8:
  case 9:
    put_byte(t, (unsigned[]){1, 6, 7, 8, 10, 11}[next_random(random) % 6]);
    break;
  default:
    if (kind < 16) {
      put_byte(t, (unsigned[]){3, 3, 4, 5, 5, 12}[kind - 10]);
      put_leb(t, random, bytes);
    } else {
      put_byte(t, t->first_special + next_random(random) % (256 - 14));
    }
  }
}

static void random_table(table *t, unsigned first_special, unsigned line_range, uint32_t seed) {
  begin_with(t, 1, first_special, line_range);
  at(t, 1000);
  put_byte(t, first_special);
  for (unsigned i = 0; i < 2000; ++i)
    put_opcode(t, &seed);
  end(t);
}

/* Opcodes are passed many at once only where the standard's are the only ones. */
static void blocks_and_single_opcodes_make_the_same_rows(void **state) {
  (void)state;
  static table blocks, single;
  /* Such that DW_LNS_const_add_pc adds as much with either number of special opcodes. */
  static const unsigned line_ranges[] = {12, 14, 3, 4, 7, 127, 241, 255};
  for (uint32_t seed = 1; seed <= 64; ++seed) {
    hearth_line_program *p, *q;
    random_table(&blocks, 13, line_ranges[seed % 8], seed);
    random_table(&single, 14, line_ranges[seed % 8], seed);
    assert_int_equal(read_table(&blocks, &p), HEARTH_LINE_OK);
    assert_int_equal(read_table(&single, &q), HEARTH_LINE_OK);
    for (uint64_t address = 1000, rows = 0;; ++address, ++rows) {
      hearth_line_row a, b;
      bool found = hearth_line_program_find(p, address, &a);
      assert_int_equal(found, hearth_line_program_find(q, address, &b));
      if (!found) {
        assert_true(rows > 4000);
        break;
      }
      assert_int_equal(a.address, b.address);
      assert_int_equal(a.line, b.line);
      assert_int_equal(a.column, b.column);
      assert_int_equal(a.discriminator, b.discriminator);
    }
    hearth_line_program_destroy(p);
    hearth_line_program_destroy(q);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(last_row_at_an_address_counts),
      cmocka_unit_test(every_row_of_a_long_sequence_is_found),
      cmocka_unit_test(sequences_may_come_in_any_order),
      cmocka_unit_test(addresses_that_go_back_begin_anew),
      cmocka_unit_test(bundles_of_operations_are_refused),
      cmocka_unit_test(truncated_programs_are_told),
      cmocka_unit_test(files_are_behind_their_directories),
      cmocka_unit_test(blocks_and_single_opcodes_make_the_same_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
