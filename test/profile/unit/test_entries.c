/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* profile/dwarf/entries.c: stepping through debug information entries, and what damage to them comes to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dwarf.h>

#include "dwarf_reader.h"

/* Codes with gaps, out of order: a unit; a function with a sibling reference, a name and a block; a call. */
static const uint8_t abbreviations[] = {
    9,
    DW_TAG_compile_unit,
    1,
    DW_AT_language,
    DW_FORM_data1,
    0,
    0, //
    4,
    DW_TAG_subprogram,
    1,
    DW_AT_sibling,
    DW_FORM_ref4,
    DW_AT_name,
    DW_FORM_string,
    DW_AT_frame_base,
    DW_FORM_exprloc,
    DW_AT_decl_line,
    DW_FORM_udata,
    DW_AT_external,
    DW_FORM_flag_present,
    0,
    0, //
    5,
    DW_TAG_inlined_subroutine,
    0,
    DW_AT_abstract_origin,
    DW_FORM_ref4,
    DW_AT_call_line,
    DW_FORM_implicit_const,
    0x7b,
    0,
    0, //
    0,
};

enum { ROOT = 11, FIRST = 13, SIBLING = 14, CALL = 25, SECOND = 31, END = 45, SIZE = 45 };

/* A compilation unit of DWARF 4 with functions "f", with an inlined call, and "g". */
static const uint8_t entries[SIZE] = {
    SIZE - 4, 0,           0, 0, 4, 0,   0, 0, 0,    0,    8,          // header
    9,        DW_LANG_C99,                                             // ROOT
    4,        SECOND,      0, 0, 0, 'f', 0, 2, 0x50, 0x50, 0x81, 0x01, // FIRST
    5,        FIRST,       0, 0, 0,                                    // CALL
    0,                                                                 // end of FIRST's children
    4,        END,         0, 0, 0, 'g', 0, 0, 7,                      // SECOND
    5,        FIRST,       0, 0, 0,                                    //
};

typedef struct fixture {
  uint8_t bytes[SIZE];
  hearth_entries info;
} fixture;

static hearth_dwarf_status read_entries(fixture *f, size_t size) {
  hearth_dwarf_sections sections = {.info = {f->bytes, size}, .abbreviations = {abbreviations, sizeof abbreviations}};
  return hearth_entries_read(&sections, NULL, &f->info);
}

static fixture *set_up(void) {
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  memcpy(f->bytes, entries, SIZE);
  assert_int_equal(read_entries(f, SIZE), HEARTH_DWARF_OK);
  assert_int_equal(f->info.count, 1);
  return f;
}

static void tear_down(fixture *f) {
  hearth_entries_free(&f->info);
  free(f);
}

static hearth_die die_at(fixture *f, uint64_t offset) {
  hearth_die die;
  assert_int_equal(hearth_die_at(&f->info.units[0], offset, &die), HEARTH_DWARF_OK);
  return die;
}

static void attributes_are_read(void **state) {
  (void)state;
  fixture *f = set_up();
  hearth_die root, first = die_at(f, FIRST), call = die_at(f, CALL);
  hearth_attribute line;
  uint64_t number;
  assert_int_equal(hearth_die_root(&f->info.units[0], &root), HEARTH_DWARF_OK);
  assert_int_equal(hearth_die_number(&root, DW_AT_language, 0), DW_LANG_C99);
  assert_string_equal(hearth_die_string(&first, DW_AT_name), "f");
  assert_int_equal(hearth_die_number(&first, DW_AT_decl_line, 0), 129);
  assert_int_equal(hearth_die_number(&first, DW_AT_decl_file, 42), 42);
  assert_int_equal(call.shape.tag, DW_TAG_inlined_subroutine);
  assert_int_equal(hearth_die_number(&call, DW_AT_call_line, 1), 1); /* negative: no number of a line */
  assert_true(hearth_die_integrated(&call, DW_AT_decl_line, &line));
  assert_true(hearth_attribute_number(&line, &number));
  assert_int_equal(number, 129);
  tear_down(f);
}

static uint64_t behind(fixture *f, uint64_t offset) {
  hearth_die die = die_at(f, offset);
  uint64_t at;
  assert_int_equal(hearth_die_pass_tree(&die, &at), HEARTH_DWARF_OK);
  return at;
}

/* With the sibling that a function names, and, where that points nowhere or back, through its children. */
static void trees_are_passed_over(void **state) {
  (void)state;
  static const uint8_t siblings[] = {SECOND, FIRST, 0, 0xff};
  for (size_t i = 0; i < sizeof siblings; ++i) {
    fixture *f = set_up();
    f->bytes[SIBLING] = siblings[i];
    assert_int_equal(behind(f, FIRST), SECOND);
    assert_int_equal(behind(f, CALL), SECOND - 1);
    tear_down(f);
  }
}

/* The list of the last function's children, and that of the unit's, end with the unit. */
static void lists_end_with_the_unit(void **state) {
  (void)state;
  fixture *f = set_up();
  assert_int_equal(behind(f, SECOND), END);
  f->bytes[SECOND + 1] = 0; /* no sibling */
  assert_int_equal(behind(f, SECOND), END);
  assert_int_equal(behind(f, ROOT), SIZE);
  tear_down(f);
}

/* Go through all that can be reached; only that it ends matters. */
static void walk(hearth_dwarf_unit *unit) {
  uint64_t at = unit->root;
  hearth_die die;
  bool end;
  while (at < unit->contents.size && hearth_die_next(unit, &at, &die, &end) == HEARTH_DWARF_OK)
    if (!end) {
      uint64_t tree;
      hearth_attribute found;
      hearth_die_pass_tree(&die, &tree);
      hearth_die_integrated(&die, DW_AT_linkage_name, &found);
      if (hearth_die_pass(&die, &at) != HEARTH_DWARF_OK)
        return;
    }
}

static void damage_is_told(void **state) {
  (void)state;
  fixture f;
  memcpy(f.bytes, entries, SIZE);
  for (size_t size = 1; size < SIZE; ++size)
    assert_int_equal(read_entries(&f, size), HEARTH_DWARF_DAMAGED);
  for (size_t i = 0; i < SIZE; ++i)
    for (unsigned value = 0; value < 256; ++value) {
      memcpy(f.bytes, entries, SIZE);
      f.bytes[i] = (uint8_t)value;
      if (read_entries(&f, SIZE) != HEARTH_DWARF_OK)
        continue;
      walk(&f.info.units[0]);
      hearth_entries_free(&f.info);
    }
}

static void unknown_codes_are_damage(void **state) {
  (void)state;
  fixture *f = set_up();
  hearth_die die;
  f->bytes[CALL] = 6;
  assert_int_equal(hearth_die_at(&f->info.units[0], CALL, &die), HEARTH_DWARF_DAMAGED);
  tear_down(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attributes_are_read),      cmocka_unit_test(trees_are_passed_over),
      cmocka_unit_test(lists_end_with_the_unit),  cmocka_unit_test(damage_is_told),
      cmocka_unit_test(unknown_codes_are_damage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
