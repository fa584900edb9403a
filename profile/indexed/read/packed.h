/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Packed tables of an indexed profile (format/hearth/indexed.h, "A packed table"): one row out of a block, and a whole
 * table from its rows. */
#ifndef HEARTH_PACKED_H
#define HEARTH_PACKED_H

#include <stdbool.h>
#include <stddef.h>

#include "hearth/indexed.h"

/* Row `row` of a block.
 *   columns  `column_count` of them (at most HEARTH_PACKED_COLUMNS), with bits <= 64 and references that are lower
 *   block    `size` bytes, a multiple of 8, not necessarily aligned; nothing in it is trusted
 *   rows     of the block (1 to HEARTH_PACKED_ROWS); row < rows
 *   wanted   decode the first so many columns into `ret_values`
 * Returns false if the block is too short for its own widths. */
bool hearth_packed_decode(const hearth_indexed_column *columns, size_t column_count, const uint8_t *block, size_t size,
                          uint32_t rows, uint32_t row, size_t wanted, uint64_t *ret_values);

/* The same for all rows of a block: ret_values[column][row]. */
bool hearth_packed_decode_block(const hearth_indexed_column *columns, size_t column_count, const uint8_t *block,
                                size_t size, uint32_t rows, size_t wanted, uint64_t (*ret_values)[HEARTH_PACKED_ROWS]);

/* Where a table's rows come from: fills in all columns of the rows [first, first + count), a block's at most:
 * ret_values[column][row - first]. */
typedef void packed_source(const void *context, size_t first, size_t count, uint64_t (*ret_values)[HEARTH_PACKED_ROWS]);

/* Encode a table.
 *   references  for each column a lower one or HEARTH_NONE
 *   ret_data    to be freed; `*ret_size` bytes, a multiple of 8
 * Returns false when out of memory, or when the table exceeds 32 GiB. */
bool hearth_packed_encode(packed_source *source, const void *context, size_t row_count, const uint32_t *references,
                          size_t column_count, uint8_t **ret_data, size_t *ret_size);

#endif
