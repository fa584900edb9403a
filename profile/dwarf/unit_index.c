/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*     version 4 | sections 4 | units 4 | slots 4      (version 5: 2 bytes and 2 of padding)
 *     slots x id 8                                    hash table of unit ids
 *     slots x row 4                                   1 and up; 0: the slot is empty
 *     sections x number 4                             what the columns are
 *     units x sections x offset 4
 *     units x sections x size 4 */
#include "unit_index.h"

#include <string.h>

typedef struct layout {
  hearth_bytes index;
  uint64_t version, sections, units, slots;
  uint64_t ids, rows, columns, offsets, sizes; /* offsets in the index */
} layout;

static bool read_layout(hearth_bytes index, layout *l) {
  uint64_t at = 0;
  *l = (layout){.index = index};
  if (!hearth_bytes_number(index, &at, 4, &l->version) || !hearth_bytes_number(index, &at, 4, &l->sections) ||
      !hearth_bytes_number(index, &at, 4, &l->units) || !hearth_bytes_number(index, &at, 4, &l->slots))
    return false;
  /* Each fits in 32 bits, so that none of the sums below overflows; a product of two may be too large for the file. */
  if ((l->version != 2 && l->version != 5) || l->sections > 64 || (l->slots & (l->slots - 1)) != 0)
    return false;
  l->ids = at;
  l->rows = l->ids + l->slots * 8;
  l->columns = l->rows + l->slots * 4;
  l->offsets = l->columns + l->sections * 4;
  l->sizes = l->offsets + l->units * l->sections * 4;
  return l->sizes + l->units * l->sections * 4 <= index.size;
}

static uint64_t number(const layout *l, uint64_t at, size_t size) {
  uint64_t value = 0;
  hearth_bytes_number(l->index, &at, size, &value); /* inside: read_layout */
  return value;
}

/* The part that a column is of, HEARTH_PART_COUNT for others. */
static hearth_unit_part part_of(uint64_t version, uint64_t column) {
  switch (column) {
  case 1:
    return HEARTH_PART_INFO;
  case 3:
    return HEARTH_PART_ABBREV;
  case 4:
    return HEARTH_PART_LINE;
  case 6:
    return HEARTH_PART_STR_OFFSETS;
  case 8: /* in version 2 it is .debug_macro */
    return version == 5 ? HEARTH_PART_RNGLISTS : HEARTH_PART_COUNT;
  default:
    return HEARTH_PART_COUNT;
  }
}

static void read_row(const layout *l, uint64_t row, hearth_unit_bounds ret[HEARTH_PART_COUNT]) {
  memset(ret, 0, HEARTH_PART_COUNT * sizeof *ret);
  for (uint64_t i = 0; i < l->sections; ++i) {
    hearth_unit_part part = part_of(l->version, number(l, l->columns + i * 4, 4));
    uint64_t cell = (row * l->sections + i) * 4;
    if (part != HEARTH_PART_COUNT)
      ret[part] = (hearth_unit_bounds){number(l, l->offsets + cell, 4), number(l, l->sizes + cell, 4)};
  }
}

hearth_unit_found hearth_unit_index_find(hearth_bytes index, uint64_t id, hearth_unit_bounds ret[HEARTH_PART_COUNT]) {
  layout l;
  if (!read_layout(index, &l))
    return HEARTH_UNIT_INDEX_DAMAGED;
  uint64_t mask = l.slots - 1, slot = id & mask, step = ((id >> 32) & mask) | 1;
  for (uint64_t tries = 0; tries < l.slots; ++tries, slot = (slot + step) & mask) {
    uint64_t row = number(&l, l.rows + slot * 4, 4);
    if (row == 0)
      return HEARTH_UNIT_ABSENT;
    if (number(&l, l.ids + slot * 8, 8) != id)
      continue;
    if (row > l.units)
      return HEARTH_UNIT_INDEX_DAMAGED;
    read_row(&l, row - 1, ret);
    return HEARTH_UNIT_FOUND;
  }
  return HEARTH_UNIT_ABSENT;
}
