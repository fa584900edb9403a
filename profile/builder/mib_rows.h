/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A growing table of MIBs in which a number takes as many bytes as the greatest one of its column: a quarter of their
 * size in memory. All rows have one layout; a number that does not fit widens its column in all of them, which happens
 * seven times a column at most. */
#ifndef HEARTH_MIB_ROWS_H
#define HEARTH_MIB_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "hearth/mib.h"

typedef struct mib_rows {
  uint8_t *bytes; /* `count` rows and a little room for loads behind the last number */
  size_t room;    /* bytes allocated */
  size_t count;
  size_t row_size;
  struct mib_rows_column {
    uint64_t greatest; /* number that fits; a mask of its bits, too */
    uint32_t offset;   /* in a row */
    uint32_t width;    /* bytes; 0: all are 0 */
  } columns[HEARTH_MIB_COLUMNS];
} mib_rows;

void hearth_mib_rows_free(mib_rows *rows);
void hearth_mib_rows_get(const mib_rows *rows, size_t row, hearth_mib *ret);
/* One number of a row. */
static inline uint64_t mib_rows_number(const mib_rows *rows, size_t row, enum hearth_mib_column column) {
  uint64_t number;
  memcpy(&number, rows->bytes + row * rows->row_size + rows->columns[column].offset, sizeof number);
  return number & rows->columns[column].greatest;
}
/* That number of each of `count` rows. */
void hearth_mib_rows_gather(const mib_rows *rows, const uint32_t *numbers, size_t count, enum hearth_mib_column column,
                            uint64_t *ret);
/* Both return false when out of memory; the table is unchanged then. */
bool hearth_mib_rows_set(mib_rows *rows, size_t row, const hearth_mib *mib);
bool hearth_mib_rows_append(mib_rows *rows, const hearth_mib *mib);

/* Names of the fields of a MIB, as in mib_fields.def. */

const char *hearth_mib_column_name(int column); /* enum hearth_mib_column */
/* The column whose name is these bytes; -1: none. */
int hearth_mib_column_find(const char *name, size_t length);

#endif
