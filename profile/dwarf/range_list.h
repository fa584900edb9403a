/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading range lists: .debug_ranges of DWARF up to 4 and .debug_rnglists of DWARF 5 (section 7.25). */
#ifndef HEARTH_RANGE_LIST_H
#define HEARTH_RANGE_LIST_H

#include "bytes.h"

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

#endif
