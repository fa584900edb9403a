/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The index of units in a package of split debug information (.dwp): which parts of its sections belong to a unit.
 * Format: DWARF 5, section 7.3.5; and version 2, GNU's for DWARF 4 (https://gcc.gnu.org/wiki/DebugFissionDWP). */
#ifndef HEARTH_UNIT_INDEX_H
#define HEARTH_UNIT_INDEX_H

#include "bytes.h"

/* The sections that symbolising needs. */
typedef enum hearth_unit_part {
  HEARTH_PART_INFO,
  HEARTH_PART_ABBREV,
  HEARTH_PART_LINE,
  HEARTH_PART_STR_OFFSETS,
  HEARTH_PART_RNGLISTS,
  HEARTH_PART_COUNT
} hearth_unit_part;

typedef struct hearth_unit_bounds {
  uint64_t offset, size; /* in the section; size 0: the unit has none */
} hearth_unit_bounds;

typedef enum hearth_unit_found { HEARTH_UNIT_FOUND, HEARTH_UNIT_ABSENT, HEARTH_UNIT_INDEX_DAMAGED } hearth_unit_found;

/* Look up a unit id in a .debug_cu_index section. The extents are not checked against their sections. */
hearth_unit_found hearth_unit_index_find(hearth_bytes index, uint64_t id, hearth_unit_bounds ret[HEARTH_PART_COUNT]);

#endif
