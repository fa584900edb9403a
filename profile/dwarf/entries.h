/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Debug information entries (DIEs) as they lie in .debug_info, and their attributes. DWARF 2 to 5, chapters 2 and 7;
 * only the shapes of DIEs are kept after reading. Little-endian, with addresses of 8 bytes. Words:
 *
 *   unit       a tree of DIEs with the values that its encoding depends on
 *   root       the first DIE of a unit
 *   alternate  the file to which dwz moved the DIEs that several files have in common */
#ifndef HEARTH_ENTRIES_H
#define HEARTH_ENTRIES_H

#include "abbreviations.h"

/* Borrowed. */
typedef struct hearth_dwarf_sections {
  hearth_bytes info, abbreviations, strings, line_strings, string_offsets, addresses, lines;
  bool split; /* those of a .dwo or .dwp */
} hearth_dwarf_sections;

typedef struct hearth_dwarf_unit {
  const struct hearth_entries *of;
  uint64_t begin, root;  /* offsets in .debug_info: of the header, of the first DIE */
  hearth_bytes contents; /* .debug_info up to the end of the unit */
  hearth_abbreviations abbreviations;
  hearth_abbreviation root_shape;
  uint64_t root_values;               /* where they are; 0: the root was not read so far */
  uint64_t id;                        /* of skeletons and split units */
  uint64_t string_base, address_base; /* where its part of .debug_str_offsets and .debug_addr begins */
  hearth_dwarf_format format;
  uint8_t type; /* DW_UT_...; before DWARF 5, of GCC's and Clang's own split units, too */
} hearth_dwarf_unit;

typedef struct hearth_entries {
  hearth_dwarf_sections sections;
  const struct hearth_entries *alternate; /* NULL: none */
  hearth_dwarf_unit *units;               /* by offset */
  size_t count, capacity;
} hearth_entries;

typedef struct hearth_die {
  hearth_dwarf_unit *unit;
  uint64_t offset, values; /* in .debug_info: of the DIE, of its attributes' values */
  hearth_abbreviation shape;
} hearth_die;

typedef struct hearth_attribute {
  hearth_dwarf_unit *unit;
  uint32_t name;
  uint16_t form;
  uint64_t at;     /* of the value, in .debug_info */
  uint64_t number; /* the value, if the form is one of a number of up to 8 bytes */
} hearth_attribute;

/* List the units. Its address must not change: units refer to it.
 *   alternate  borrowed; NULL: none
 * On failure there is nothing to be freed. */
hearth_dwarf_status hearth_entries_read(const hearth_dwarf_sections *sections, const hearth_entries *alternate,
                                        hearth_entries *ret);
void hearth_entries_free(hearth_entries *info);

hearth_dwarf_status hearth_die_root(hearth_dwarf_unit *unit, hearth_die *ret);
/* The DIE at an offset of .debug_info. DAMAGED also where a list of siblings ends. */
hearth_dwarf_status hearth_die_at(hearth_dwarf_unit *unit, uint64_t offset, hearth_die *ret);

/* Step through a unit, parents before their children. *at is where to read; it moves to the DIE's values, or behind the
 * end of a list of siblings.
 *   ret_end  here a list of siblings ends; there is no DIE */
hearth_dwarf_status hearth_die_next(hearth_dwarf_unit *unit, uint64_t *at, hearth_die *ret, bool *ret_end);
/* The place of the DIE's first child, or of the next DIE if it has none. */
hearth_dwarf_status hearth_die_pass(const hearth_die *die, uint64_t *ret);
/* Where the DIE's next sibling, or the end of the list, is. */
hearth_dwarf_status hearth_die_pass_tree(const hearth_die *die, uint64_t *ret);

/* The attributes of a DIE that tell where its code is, one by one: DW_AT_low_pc, DW_AT_high_pc, DW_AT_ranges. `*number`
 * counts all attributes; begin with 0, and with the DIE's `values` in *at. False: no more, or, if *number is not their
 * count, damaged. */
bool hearth_die_next_address(const hearth_die *die, uint32_t *number, uint64_t *at, hearth_attribute *ret);
/* The attribute `name` of a DIE. False: the DIE has none, or it cannot be read. */
bool hearth_die_attribute(const hearth_die *die, uint32_t name, hearth_attribute *ret);
/* The attribute `name` of a DIE, or else of the DIE that it is an instance of (DW_AT_abstract_origin) or completes
 * (DW_AT_specification). */
bool hearth_die_integrated(const hearth_die *die, uint32_t name, hearth_attribute *ret);

/* Values. False or NULL: it is of another form, or damaged. */
bool hearth_attribute_number(const hearth_attribute *attribute, uint64_t *ret);
bool hearth_attribute_address(const hearth_attribute *attribute, uint64_t *ret);
bool hearth_attribute_die(const hearth_attribute *attribute, hearth_die *ret);
const char *hearth_attribute_string(const hearth_attribute *attribute);

/* The number of a DIE's attribute, `none` if there is no such. */
uint64_t hearth_die_number(const hearth_die *die, uint32_t name, uint64_t none);
/* The string of a DIE's attribute, NULL if there is no such. */
const char *hearth_die_string(const hearth_die *die, uint32_t name);

#endif
