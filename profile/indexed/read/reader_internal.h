/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The inside of an open profile: packed columns, then the sections that hold them. */
#ifndef HEARTH_READER_INTERNAL_H
#define HEARTH_READER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "file.h"
#include "hearth/classify.h"
#include "hearth/indexed.h"
#include "hearth/profile.h"

/* Packed tables of an indexed profile (format/hearth/indexed.h, "A packed table"): the rows of a block, and a whole
 * table from its rows. */

/* The rows of a block: ret_values[column][row].
 *   columns  `column_count` of them (at most HEARTH_PACKED_COLUMNS), with bits <= 64 and references that are lower
 *   block    `size` bytes, a multiple of 8, not necessarily aligned; nothing in it is trusted
 *   rows     of the block (1 to HEARTH_PACKED_ROWS)
 *   wanted   decode the first so many columns
 * Returns false if the block is too short for its own widths. */
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

/* ------------------------------------------------ reader internal ------------------------------------------------ */

/* Declarations that the files of the reader share, and that the tests' verifier needs beyond the public header. */

/* The first `wanted` columns of a block that was decoded. Callers ask for neighbouring rows, and walks up stacks
 * come through the same blocks again and again. */
typedef struct decoded_block {
  uint32_t number; /* one more than the block's; 0: empty */
  size_t wanted;
  uint64_t (*values)[HEARTH_PACKED_ROWS]; /* of each column; NULL: not used so far */
} decoded_block;

enum { BLOCKS_KEPT = 64 };

typedef struct packed_table {
  uint32_t section, row_count;
  size_t column_count;
  hearth_indexed_column columns[HEARTH_PACKED_COLUMNS];
  uint64_t starts, blocks, end;    /* offsets in the file */
  decoded_block kept[BLOCKS_KEPT]; /* each at its number modulo their count */
} packed_table;

struct hearth_profile {
  const uint8_t *data;
  size_t size;
  hearth_file file; /* that they are in; not ours unless mapped */
  void *converted;  /* the bytes, made from another form; NULL: not so */
  char *name;
  hearth_indexed_header header;
  hearth_indexed_section sections[HEARTH_SECTIONS + 1]; /* by id; all zero where the file has none */
  packed_table frames, stacks, contexts;
  int mib_columns[HEARTH_PACKED_COLUMNS]; /* the field of a hearth_mib for each column of `contexts`, or -1 */
  uint64_t *counts;                       /* of the histogram that was read last */
  bool histograms_are_sorted;             /* that was checked */
  size_t counts_room;
  hearth_variance *variances; /* of each context: the VARIANCES section, decoded; NULL: not yet */
  uint8_t *checked;           /* one bit for each block whose checksum was found right */
};

/* The bytes of an indexed profile, and the file or memory that holds them. */
typedef struct hearth_profile_bytes {
  const uint8_t *data;
  size_t size;
  hearth_file file; /* that they lie in; all zero: they are the caller's */
  void *converted;  /* malloc'd: made from another form; else NULL */
} hearth_profile_bytes;

/* Open it. Takes over `file` and `converted`, also on error. */
hearth_status hearth_profile_open_bytes(const hearth_profile_bytes *bytes, const char *name, hearth_profile **ret,
                                        hearth_error *err);

static inline const hearth_indexed_section *hearth_profile_section(const hearth_profile *profile, uint32_t id) {
  return &profile->sections[id];
}

static inline uint64_t load64(const uint8_t *from) {
  uint64_t value;
  memcpy(&value, from, sizeof value);
  return value;
}

/* The bytes [offset, offset + size) of the file, which lie before the checksums; their checksums are right. */
hearth_status hearth_profile_touch(hearth_profile *profile, uint64_t offset, uint64_t size, const uint8_t **ret,
                                   hearth_error *err);
/* Copies row `row` of a table, which has rows of `row_size` bytes; `what` names it in messages. */
hearth_status hearth_profile_read_row(hearth_profile *profile, uint32_t id, uint32_t row, void *ret, size_t row_size,
                                      const char *what, hearth_error *err);

/* Open the packed table that begins at `at`. `table` has its section, row count and end; the rest is filled in. */
hearth_status hearth_profile_open_packed(hearth_profile *profile, uint64_t at, packed_table *table, hearth_error *err);
/* Decode the first `wanted` columns of the row block that a row lies in; `what` names the row in messages. */
hearth_status hearth_profile_read_block(hearth_profile *profile, const packed_table *table, uint32_t row, size_t wanted,
                                        uint64_t (*ret_values)[HEARTH_PACKED_ROWS], const char *what,
                                        hearth_error *err);

/* The row of a table whose rows begin with ids, which ascend. E_NOT_FOUND without message when there is none. */
hearth_status hearth_profile_find_id(hearth_profile *profile, uint32_t section, size_t row_size, uint64_t id,
                                     uint32_t *ret_row, hearth_error *err);

/* Fill in `err` with the profile's name, the printf-style reason and the remedy; returns HEARTH_E_CORRUPT. */
hearth_status hearth_profile_corrupt(const hearth_profile *profile, hearth_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The string at this offset of STRINGS; any offset inside is accepted, also in the middle of a string. */
hearth_status hearth_profile_get_string(hearth_profile *profile, uint32_t offset, const char **ret, hearth_error *err);

uint32_t hearth_profile_path_count(const hearth_profile *profile);
/* Last component and parent (a lower row or HEARTH_NONE) of a path. */
hearth_status hearth_profile_get_path_row(hearth_profile *profile, uint32_t row, const char **ret_name,
                                          uint32_t *ret_parent, hearth_error *err);

#endif
