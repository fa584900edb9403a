/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The units of a file's debug information: which of them an address may belong to, and where their bodies are. Only
 * each unit's own description is read at first; a unit's tree, or split debug information, when it is asked for. */
#ifndef HEARTH_DWARF_UNITS_H
#define HEARTH_DWARF_UNITS_H

#include "bytes.h"
#include "debug_files.h"
#include "entries.h"
#include "lines.h"

/* Reading range lists: .debug_ranges of DWARF up to 4 and .debug_rnglists of DWARF 5 (section 7.25). */

/* The sections and bases that the lists of one unit refer to. */
typedef struct hearth_range_source {
  hearth_bytes lists;     /* the section */
  hearth_bytes addresses; /* .debug_addr, from the unit's first entry on */
  uint64_t low_pc;        /* of the unit, that offsets count from */
  uint64_t index_base;    /* where the unit's array of offsets of lists begins; these count from here, too */
  uint8_t offset_size;    /* of the unit: 4 or 8 */
  unsigned version;       /* of DWARF */
} hearth_range_source;

typedef struct hearth_range_cursor {
  const hearth_range_source *source;
  uint64_t offset, base;
} hearth_range_cursor;

typedef enum hearth_range_step { HEARTH_RANGE_NEXT, HEARTH_RANGE_END, HEARTH_RANGE_DAMAGED } hearth_range_step;

/* Offset of a list in the section from its number in the unit (DW_FORM_rnglistx). False: there is no such. */
bool hearth_range_list_offset(const hearth_range_source *source, uint64_t number, uint64_t *ret);

/* A cursor at the list that begins at `offset` of the section; `source` is borrowed. */
hearth_range_cursor hearth_range_begin(const hearth_range_source *source, uint64_t offset);
/* NEXT: a half-open range, possibly empty. */
hearth_range_step hearth_range_next(hearth_range_cursor *cursor, uint64_t *ret_start, uint64_t *ret_end);

typedef struct hearth_units hearth_units;

typedef struct hearth_unit {
  hearth_die lines; /* root with the line table: the unit in the program, or in its debug file */
  hearth_die tree;  /* root of the bodies: the same DIE, or that of the split unit */
  hearth_die files; /* root with the table of source files that the tree's DIEs refer to */
  hearth_range_source ranges;
  hearth_line_program *program; /* of `lines`, for hearth_units_line; NULL: not read yet, or there is none */
  bool skeleton, opened, program_read;
} hearth_unit;

#define HEARTH_NO_GROUP UINT32_MAX

/* All borrowed until destroy.
 *   binary      its segments tell where code is
 *   debug_file  of `binary`, or `binary` itself; unpacked
 * Errors: E_NO_DEBUG_INFO, E_FORMAT, E_NOMEM. */
hearth_status hearth_units_create(hearth_elf_file *binary, hearth_elf_file *debug_file,
                                  hearth_debug_directories directories, hearth_units **ret, hearth_error *err);
void hearth_units_destroy(hearth_units *units); /* accepts NULL */

/* A group is units whose code cannot be told apart without their trees, as their addresses overlap; mostly one unit.
 * Groups are numbered from 0; the count may be 0. */
uint32_t hearth_units_group_count(const hearth_units *units);
/* The group with this address, or HEARTH_NO_GROUP. */
uint32_t hearth_units_group_at(const hearth_units *units, uint64_t address);
/* The units of a group: the first, and the one after `unit`; UINT32_MAX: no more. */
uint32_t hearth_units_first(const hearth_units *units, uint32_t group);
uint32_t hearth_units_next(const hearth_units *units, uint32_t unit);

/* A unit with its tree, which lives until destroy. Errors: those of hearth_split_units_find. */
hearth_status hearth_units_open(hearth_units *units, uint32_t unit, hearth_unit **ret, hearth_error *err);

/* The row of the unit's line table that an address is of.
 *   ret  all zero: there is none
 * Errors: E_NO_DEBUG_INFO (damaged), E_NOMEM. */
hearth_status hearth_units_line(const hearth_units *units, hearth_unit *unit, uint64_t address, hearth_line_row *ret,
                                hearth_error *err);

/* Called with each range of addresses that has code; false ends the visit: out of memory. */
typedef bool hearth_range_visitor(void *context, uint64_t start, uint64_t end);
/* Visit the ranges of a DIE of the unit's tree. Functions that the linker dropped keep their debug information, with
 * addresses around 0 or at the very top; they are left out.
 *   ret_dropped  set if there were such
 * Errors: E_NO_DEBUG_INFO (damaged), E_NOMEM. */
hearth_status hearth_units_visit_ranges(const hearth_units *units, const hearth_unit *unit, const hearth_die *die,
                                        hearth_range_visitor *visitor, void *context, bool *ret_dropped,
                                        hearth_error *err);

/* E_NO_DEBUG_INFO: "what" cannot be read. */
hearth_status hearth_units_damaged(const hearth_units *units, const char *what, hearth_error *err);
/* Convert the status of reading DIEs. E_NO_DEBUG_INFO, E_NOMEM. */
hearth_status hearth_units_status(const hearth_units *units, hearth_dwarf_status status, hearth_error *err);

#endif
