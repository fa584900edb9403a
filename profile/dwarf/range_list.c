/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A cursor over the entries of a list, one switch for each of the two encodings. */
#include "range_list.h"

#include <dwarf.h>

bool hearth_range_list_offset(const hearth_range_source *source, uint64_t number, uint64_t *ret) {
  uint64_t at = source->index_base;
  if (number > source->lists.size || at > source->lists.size)
    return false;
  at += number * source->offset_size;
  if (!hearth_bytes_number(source->lists, &at, source->offset_size, ret) || *ret > source->lists.size)
    return false;
  *ret += source->index_base;
  return true;
}

hearth_range_cursor hearth_range_begin(const hearth_range_source *source, uint64_t offset) {
  return (hearth_range_cursor){source, offset, source->low_pc};
}

/* Pairs of addresses relative to the base; a pair of zeros ends the list, a first number of all ones sets the base. */
static hearth_range_step next_pair(hearth_range_cursor *c, uint64_t *ret_start, uint64_t *ret_end) {
  uint64_t first, second;
  for (;;) {
    if (!hearth_bytes_number(c->source->lists, &c->offset, 8, &first) ||
        !hearth_bytes_number(c->source->lists, &c->offset, 8, &second))
      return HEARTH_RANGE_DAMAGED;
    if (first == 0 && second == 0)
      return HEARTH_RANGE_END;
    if (first == UINT64_MAX) {
      c->base = second;
      continue;
    }
    *ret_start = c->base + first;
    *ret_end = c->base + second;
    return HEARTH_RANGE_NEXT;
  }
}

static bool uleb(hearth_range_cursor *c, uint64_t *ret) { return hearth_bytes_uleb(c->source->lists, &c->offset, ret); }

static bool address(hearth_range_cursor *c, uint64_t *ret) {
  return hearth_bytes_number(c->source->lists, &c->offset, 8, ret);
}

/* An address by its number in .debug_addr. */
static bool indexed_address(hearth_range_cursor *c, uint64_t *ret) {
  uint64_t at;
  if (!uleb(c, &at) || at > UINT64_MAX / 8)
    return false;
  at *= 8;
  return hearth_bytes_number(c->source->addresses, &at, 8, ret);
}

static hearth_range_step next_entry(hearth_range_cursor *c, uint64_t *start, uint64_t *end) {
  uint64_t kind;
  bool ok;
  while (hearth_bytes_number(c->source->lists, &c->offset, 1, &kind)) {
    switch (kind) {
    case DW_RLE_end_of_list:
      return HEARTH_RANGE_END;
    case DW_RLE_base_addressx:
    case DW_RLE_base_address:
      if (!(kind == DW_RLE_base_address ? address(c, &c->base) : indexed_address(c, &c->base)))
        return HEARTH_RANGE_DAMAGED;
      continue;
    case DW_RLE_startx_endx:
      ok = indexed_address(c, start) && indexed_address(c, end);
      break;
    case DW_RLE_startx_length:
      ok = indexed_address(c, start) && uleb(c, end);
      *end += *start;
      break;
    case DW_RLE_offset_pair:
      ok = uleb(c, start) && uleb(c, end);
      *start += c->base;
      *end += c->base;
      break;
    case DW_RLE_start_end:
      ok = address(c, start) && address(c, end);
      break;
    case DW_RLE_start_length:
      ok = address(c, start) && uleb(c, end);
      *end += *start;
      break;
    default:
      ok = false;
    }
    return ok ? HEARTH_RANGE_NEXT : HEARTH_RANGE_DAMAGED;
  }
  return HEARTH_RANGE_DAMAGED;
}

hearth_range_step hearth_range_next(hearth_range_cursor *cursor, uint64_t *ret_start, uint64_t *ret_end) {
  *ret_start = *ret_end = 0;
  return cursor->source->version < 5 ? next_pair(cursor, ret_start, ret_end) : next_entry(cursor, ret_start, ret_end);
}
