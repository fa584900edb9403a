/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The shapes of a unit's DIEs: tag, and names and forms of the attributes. DWARF 2 to 5, section 7.5.3. A table is read as
 * far as it was asked for: most units are read only as far as the first DIE, whose shape is found without keeping
 * others. */
#ifndef HEARTH_ABBREVIATIONS_H
#define HEARTH_ABBREVIATIONS_H

#include "bytes.h"

/* The sizes that depend on the unit. */
typedef struct hearth_dwarf_format {
  uint8_t version;
  uint8_t offset_size; /* 4 or 8 */
} hearth_dwarf_format;

/* How long values of a form are. */
typedef enum hearth_form_kind { HEARTH_FORM_FIXED, HEARTH_FORM_LEB, HEARTH_FORM_VARIES } hearth_form_kind;

typedef struct hearth_attribute_shape {
  int64_t value; /* of DW_FORM_implicit_const */
  uint32_t name;
  uint16_t form;
  uint8_t kind; /* hearth_form_kind */
  uint8_t size; /* of a value, in bytes; 0 unless its size is fixed */
  /* To pass over values that nobody wants: */
  uint32_t fixed;      /* count of the attributes behind this one whose size is fixed, up to the next other one */
  uint32_t fixed_size; /* of their values, in bytes */
} hearth_attribute_shape;

typedef struct hearth_abbreviation {
  uint64_t code;
  uint32_t first, count;      /* of its attributes, in the table */
  uint32_t fixed, fixed_size; /* as above, of its first attributes */
  uint32_t passes;            /* count of the attributes whose size is not fixed */
  uint16_t tag;
  bool has_children, has_sibling;
  bool has_addresses; /* DW_AT_low_pc or DW_AT_ranges */
} hearth_abbreviation;

/* All zero but for the first two: nothing was read so far. */
typedef struct hearth_abbreviations {
  hearth_bytes section;
  uint64_t at; /* offset of the next entry to read */
  hearth_abbreviation *rows;
  hearth_attribute_shape *attributes;
  size_t count, capacity, attribute_count, attribute_capacity;
  bool ended;
  bool unordered; /* some codes are not where they should be */
} hearth_abbreviations;

typedef enum hearth_dwarf_status { HEARTH_DWARF_OK, HEARTH_DWARF_DAMAGED, HEARTH_DWARF_NO_MEMORY } hearth_dwarf_status;

/* The shape of a unit's first DIE, which has this code; before any other is asked for.
 *   ret  its attributes belong to the table, and stay where they are in it */
hearth_dwarf_status hearth_abbreviations_root(hearth_abbreviations *table, hearth_dwarf_format format, uint64_t code,
                                              hearth_abbreviation *ret);

/* For hearth_abbreviations_find. */
hearth_dwarf_status hearth_abbreviations_search(hearth_abbreviations *table, hearth_dwarf_format format, uint64_t code,
                                                const hearth_abbreviation **ret);

/* The abbreviation with a code. Compilers number from 1 on without gaps: it is where its code says, or not read yet.
 *   ret  it and its attributes may move when another one is looked for */
static inline hearth_dwarf_status hearth_abbreviations_find(hearth_abbreviations *table, hearth_dwarf_format format,
                                                            uint64_t code, const hearth_abbreviation **ret) {
  if (code - 1 >= table->count || table->rows[code - 1].code != code)
    return hearth_abbreviations_search(table, format, code, ret);
  *ret = &table->rows[code - 1];
  return HEARTH_DWARF_OK;
}

void hearth_abbreviations_free(hearth_abbreviations *table);

#endif
