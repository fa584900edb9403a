/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* MIBs in rows of bytes. Each column is as wide as its greatest number needs; a number that does not fit widens the
 * column of all rows, from the last one to the first, in place. */
#include "mib_rows.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/mib.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the low bytes of a number are stored first: add byte swaps for this machine"
#endif

enum { SLACK = sizeof(uint64_t) }; /* numbers are loaded and stored 8 bytes at a time, whatever their width */

void hearth_mib_rows_free(mib_rows *rows) {
  free(rows->bytes);
  *rows = (mib_rows){0};
}

void hearth_mib_rows_get(const mib_rows *rows, size_t row, hearth_mib *ret) {
  for (size_t i = 0; i < HEARTH_MIB_COLUMNS; i++)
    ret->v[i] = mib_rows_number(rows, row, (enum hearth_mib_column)i);
}

void hearth_mib_rows_gather(const mib_rows *rows, const uint32_t *numbers, size_t count, enum hearth_mib_column column,
                            uint64_t *ret) {
  const uint8_t *from = rows->bytes + rows->columns[column].offset;
  uint64_t mask = rows->columns[column].greatest, number;
  if (mask == 0) {
    memset(ret, 0, count * sizeof *ret);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    memcpy(&number, from + numbers[i] * rows->row_size, sizeof number);
    ret[i] = number & mask;
  }
}

/* The next store overwrites the bytes that a store writes behind its number. False: a number does not fit, and the row is as it
 * was. */
static bool mib_row_put(mib_rows *rows, size_t row, const hearth_mib *mib) {
  uint8_t packed[sizeof *mib + SLACK];
  bool fits = true;
  for (size_t i = 0; i < HEARTH_MIB_COLUMNS; i++) {
    fits &= mib->v[i] <= rows->columns[i].greatest;
    memcpy(packed + rows->columns[i].offset, &mib->v[i], sizeof mib->v[i]);
  }
  if (fits)
    memcpy(rows->bytes + row * rows->row_size, packed, rows->row_size);
  return fits;
}

static bool mib_row_reserve(mib_rows *rows, size_t count, size_t row_size) {
  return hearth_array_reserve(&rows->bytes, &rows->room, 0, count * row_size + SLACK, 1);
}

/* From the last row to the first: rows only move upwards. */
static bool widen(mib_rows *rows, const hearth_mib *mib) {
  mib_rows wider = *rows;
  wider.row_size = 0;
  for (size_t i = 0; i < HEARTH_MIB_COLUMNS; i++) {
    struct mib_rows_column *column = &wider.columns[i];
    while (mib->v[i] > column->greatest) {
      column->width++;
      column->greatest = column->greatest << 8 | 0xff;
    }
    column->offset = (uint32_t)wider.row_size;
    wider.row_size += column->width;
  }
  if (!mib_row_reserve(rows, rows->count, wider.row_size))
    return false;
  wider.bytes = rows->bytes;
  wider.room = rows->room;
  for (size_t row = rows->count; row-- > 0;) {
    hearth_mib kept;
    hearth_mib_rows_get(rows, row, &kept);
    mib_row_put(&wider, row, &kept);
  }
  *rows = wider;
  return true;
}

bool hearth_mib_rows_set(mib_rows *rows, size_t row, const hearth_mib *mib) {
  return mib_row_put(rows, row, mib) || (widen(rows, mib) && mib_row_put(rows, row, mib));
}

bool hearth_mib_rows_append(mib_rows *rows, const hearth_mib *mib) {
  if (!mib_row_reserve(rows, rows->count + 1, rows->row_size))
    return false;
  if (!mib_row_put(rows, rows->count, mib) &&
      !(widen(rows, mib) && mib_row_reserve(rows, rows->count + 1, rows->row_size) &&
        mib_row_put(rows, rows->count, mib)))
    return false;
  rows->count++;
  return true;
}

/* Names of a MIB's fields: an array made of mib_fields.def, searched from its beginning. */

static const char *const names[HEARTH_MIB_COLUMNS] = {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description) #Name,
#include "hearth/mib_fields.def"
};

const char *hearth_mib_column_name(int column) { return names[column]; }

int hearth_mib_column_find(const char *name, size_t length) {
  for (int i = 0; i < HEARTH_MIB_COLUMNS; i++)
    if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
      return i;
  return -1;
}
