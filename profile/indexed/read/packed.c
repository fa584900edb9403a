/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Packed tables. Rows are in blocks of 64, each block column by column: a column's numbers less their minimum, in as
 * many bits as the greatest needs, or a bitmap and the numbers that differ. */
#include "reader_internal.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the format is little-endian and this file loads and stores words as they are: add byte swaps for this machine"
#endif

enum { ROWS = HEARTH_PACKED_ROWS, COLUMNS = HEARTH_PACKED_COLUMNS, WORD = 64 };

static uint64_t low_bits(uint64_t value, unsigned width) {
  return width == 0 ? 0 : value & UINT64_MAX >> (WORD - width);
}

static unsigned bit_length(uint64_t value) { return value ? WORD - (unsigned)__builtin_clzll(value) : 0; }

/* -------------------------------------------------- decoding -------------------------------------------------- */

typedef struct bit_reader {
  const uint8_t *data;
  size_t at, end; /* in bits */
} bit_reader;

static uint64_t load_word(const uint8_t *data, size_t word) {
  uint64_t value;
  memcpy(&value, data + word * sizeof value, sizeof value);
  return value;
}

/* `width` bits at `at`, which lie inside. */
static uint64_t bits_at(const uint8_t *data, size_t at, unsigned width) {
  unsigned shift = at % WORD;
  if (width == 0)
    return 0;
  uint64_t value = load_word(data, at / WORD) >> shift;
  if (shift + width > WORD)
    value |= load_word(data, at / WORD + 1) << (WORD - shift);
  return low_bits(value, width);
}

/* All numbers of one column. */
static bool packed_take_numbers(bit_reader *in, uint8_t code, uint32_t rows, uint64_t *ret) {
  unsigned width = code & ~HEARTH_PACKED_SPARSE;
  uint64_t present = 0;
  bool sparse = code & HEARTH_PACKED_SPARSE;
  if (width > WORD || (sparse && rows > in->end - in->at))
    return false;
  if (sparse) {
    present = bits_at(in->data, in->at, rows);
    in->at += rows;
  }
  size_t stored = sparse ? (size_t)__builtin_popcountll(present) : rows;
  if (stored * width > in->end - in->at)
    return false;
  memset(ret, 0, rows * sizeof *ret);
  if (width == 0)
    return true;
  for (uint32_t row = 0; !sparse && row < rows; row++, in->at += width)
    ret[row] = bits_at(in->data, in->at, width);
  for (; present; present &= present - 1, in->at += width)
    ret[__builtin_ctzll(present)] = bits_at(in->data, in->at, width);
  return true;
}

/* A block has three parts: codes, least numbers, numbers. */
bool hearth_packed_decode_block(const hearth_indexed_column *columns, size_t column_count, const uint8_t *block,
                                size_t size, uint32_t rows, size_t wanted, uint64_t (*ret_values)[HEARTH_PACKED_ROWS]) {
  size_t code_at = 0, base_at = 0, bits = 0;
  for (size_t i = 0; i < column_count; i++) {
    base_at += columns[i].bits > 0 ? 8 : 0;
    bits += columns[i].bits;
  }
  bit_reader numbers = {block, base_at + bits, size * 8};
  if (numbers.at > numbers.end)
    return false;
  for (size_t i = 0; i < wanted; i++) {
    uint64_t base = bits_at(block, base_at, columns[i].bits);
    uint8_t code = columns[i].bits > 0 ? (uint8_t)bits_at(block, code_at, 8) : 0; /* 0: all are the least */
    base_at += columns[i].bits;
    code_at += columns[i].bits > 0 ? 8 : 0;
    if (!packed_take_numbers(&numbers, code, rows, ret_values[i]))
      return false;
    for (uint32_t row = 0; row < rows; row++) {
      ret_values[i][row] += columns[i].base + base;
      if (columns[i].reference != HEARTH_NONE)
        ret_values[i][row] += ret_values[columns[i].reference][row];
    }
  }
  return true;
}

/* -------------------------------------------------- encoding -------------------------------------------------- */

typedef struct encoder {
  packed_source *source;
  const void *context;
  const uint32_t *references;
  size_t row_count, column_count;
  hearth_indexed_column columns[COLUMNS];
  uint64_t values[COLUMNS][ROWS]; /* of the block at hand, less their references */
  uint8_t *data;
  size_t size, room;
} encoder;

/* The contents of the rows [first, first + n). From the last column on, references are whole still. */
static void load_block(encoder *e, size_t first, size_t n) {
  e->source(e->context, first, n, e->values);
  for (size_t i = e->column_count; i-- > 0;)
    if (e->references[i] != HEARTH_NONE)
      for (size_t row = 0; row < n; row++)
        e->values[i][row] -= e->values[e->references[i]][row];
}

static size_t rows_of_block(const encoder *e, size_t first) {
  return e->row_count - first < ROWS ? e->row_count - first : ROWS;
}

/* Differences have signs: an apparently great number may be -1. */
static void widen_range(const uint64_t *values, size_t n, int64_t *least, int64_t *greatest) {
  for (size_t row = 0; row < n; row++) {
    int64_t value = (int64_t)values[row];
    *least = value < *least ? value : *least;
    *greatest = value > *greatest ? value : *greatest;
  }
}

static void measure_columns(encoder *e) {
  int64_t least[COLUMNS], greatest[COLUMNS];
  for (size_t i = 0; i < e->column_count; i++) {
    least[i] = INT64_MAX;
    greatest[i] = INT64_MIN;
  }
  for (size_t first = 0; first < e->row_count; first += ROWS) {
    load_block(e, first, rows_of_block(e, first));
    for (size_t i = 0; i < e->column_count; i++)
      widen_range(e->values[i], rows_of_block(e, first), &least[i], &greatest[i]);
  }
  for (size_t i = 0; i < e->column_count; i++) {
    bool empty = e->row_count == 0;
    e->columns[i] = (hearth_indexed_column){.base = empty ? 0 : (uint64_t)least[i],
                                            .bits = empty ? 0 : bit_length((uint64_t)greatest[i] - (uint64_t)least[i]),
                                            .reference = e->references[i]};
  }
}

/* `data` is zero from bit `*at` on. */
static void packed_put(uint8_t *data, size_t *at, uint64_t value, unsigned width) {
  unsigned shift = *at % WORD;
  uint8_t *word = data + *at / WORD * sizeof value;
  uint64_t low, high = 0;
  if (width == 0)
    return;
  memcpy(&low, word, sizeof low);
  low |= value << shift;
  if (shift + width > WORD)
    high = value >> (WORD - shift);
  memcpy(word, &low, sizeof low);
  if (high)
    memcpy(word + sizeof low, &high, sizeof high);
  *at += width;
}

/* One column of one block. */
typedef struct packed_slice {
  uint64_t base;    /* least number */
  uint64_t present; /* rows with another one */
  unsigned width;
  bool sparse;
} packed_slice;

static packed_slice measure_slice(const uint64_t *values, size_t n) {
  int64_t least = INT64_MAX, greatest = INT64_MIN;
  packed_slice slice = {0};
  widen_range(values, n, &least, &greatest);
  slice.base = (uint64_t)least;
  slice.width = bit_length((uint64_t)greatest - slice.base);
  for (size_t row = 0; row < n; row++)
    slice.present |= (uint64_t)(values[row] != slice.base) << row;
  size_t stored = (size_t)__builtin_popcountll(slice.present);
  slice.sparse = n + stored * slice.width < n * slice.width;
  return slice;
}

static void put_slice(uint8_t *data, size_t *at, const packed_slice *slice, const uint64_t *values, size_t n) {
  if (slice->width == 0)
    return;
  if (slice->sparse)
    packed_put(data, at, slice->present, (unsigned)n);
  for (size_t row = 0; row < n; row++)
    if (!slice->sparse || slice->present >> row & 1)
      packed_put(data, at, values[row] - slice->base, slice->width);
}

/* The block of the loaded rows, behind the present bytes. */
static void put_block(encoder *e, size_t n) {
  packed_slice slices[COLUMNS];
  uint8_t *data = e->data + e->size;
  size_t at = 0;
  for (size_t i = 0; i < e->column_count; i++) {
    if (e->columns[i].bits == 0)
      continue;
    slices[i] = measure_slice(e->values[i], n);
    packed_put(data, &at, slices[i].width | (slices[i].sparse ? HEARTH_PACKED_SPARSE : 0), 8);
  }
  for (size_t i = 0; i < e->column_count; i++)
    if (e->columns[i].bits > 0)
      packed_put(data, &at, slices[i].base - e->columns[i].base, e->columns[i].bits);
  for (size_t i = 0; i < e->column_count; i++)
    if (e->columns[i].bits > 0)
      put_slice(data, &at, &slices[i], e->values[i], n);
  e->size += (at + WORD - 1) / WORD * sizeof(uint64_t);
}

/* Room for the greatest block there can be, all zero; the last word may be written beyond its end. */
static bool reserve_block(encoder *e) {
  size_t most = (e->column_count * (8 + WORD) + e->column_count * ROWS * (WORD + 1)) / 8 + 2 * sizeof(uint64_t);
  size_t room = e->room;
  if (!hearth_array_reserve(&e->data, &e->room, e->size, most, 1))
    return false;
  memset(e->data + room, 0, e->room - room);
  return true;
}

static bool encode_blocks(encoder *e, size_t blocks_at) {
  uint32_t start = 0;
  size_t starts_at = sizeof(hearth_indexed_packed) + e->column_count * sizeof e->columns[0];
  for (size_t first = 0; first < e->row_count; first += ROWS) {
    if (!reserve_block(e))
      return false;
    load_block(e, first, rows_of_block(e, first));
    put_block(e, rows_of_block(e, first));
    size_t words = (e->size - blocks_at) / sizeof(uint64_t);
    if (words > UINT32_MAX)
      return false;
    start = (uint32_t)words;
    memcpy(e->data + starts_at + (first / ROWS + 1) * sizeof start, &start, sizeof start);
  }
  return true;
}

bool hearth_packed_encode(packed_source *source, const void *context, size_t row_count, const uint32_t *references,
                          size_t column_count, uint8_t **ret_data, size_t *ret_size) {
  encoder e = {.source = source,
               .context = context,
               .references = references,
               .row_count = row_count,
               .column_count = column_count};
  hearth_indexed_packed header = {.column_count = (uint32_t)column_count};
  size_t blocks = (row_count + ROWS - 1) / ROWS;
  size_t columns_size = column_count * sizeof e.columns[0],
         starts_size = ((blocks + 1) * sizeof(uint32_t) + 7) & ~(size_t)7;
  measure_columns(&e);
  e.room = e.size = sizeof header + columns_size + starts_size;
  e.data = calloc(1, e.room);
  if (!e.data)
    return false;
  memcpy(e.data, &header, sizeof header);
  memcpy(e.data + sizeof header, e.columns, columns_size);
  if (!encode_blocks(&e, e.size)) {
    free(e.data);
    return false;
  }
  *ret_data = e.data;
  *ret_size = e.size;
  return true;
}
