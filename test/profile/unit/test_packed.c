/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Packed tables: every row is read back, whatever the numbers; a block that is cut short is noticed. */
#include "profile_fixture.h"

#include "reader_internal.h"

enum { COLUMNS = 5 };

typedef struct table {
  uint64_t (*values)[COLUMNS];
} table;

static const uint32_t references[COLUMNS] = {HEARTH_NONE, HEARTH_NONE, 1, HEARTH_NONE, 3};

static void rows_of(const void *context, size_t first, size_t count, uint64_t (*ret)[HEARTH_PACKED_ROWS]) {
  for (size_t i = 0; i < count; i++)
    for (size_t column = 0; column < COLUMNS; column++)
      ret[column][i] = ((const table *)context)->values[first + i][column];
}

/* A constant, small numbers, mostly the same as those, numbers of any size, and their negatives and extremes. */
static void fill(table *t, size_t rows, uint64_t *seed) {
  static const uint64_t extremes[] = {0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
  for (size_t row = 0; row < rows; row++) {
    uint64_t any = (uint64_t)next_random(seed) << 32 | next_random(seed);
    t->values[row][0] = 77;
    t->values[row][1] = next_random(seed) % 50;
    t->values[row][2] = next_random(seed) % 8 ? t->values[row][1] : any % 1000000;
    t->values[row][3] = any >> next_random(seed) % 64;
    t->values[row][4] = next_random(seed) % 2 ? 0 - t->values[row][3] : extremes[next_random(seed) % 5];
  }
}

typedef struct parts {
  hearth_indexed_column columns[COLUMNS];
  const uint32_t *starts;
  const uint8_t *blocks;
} parts;

static parts split(const uint8_t *data, size_t rows) {
  parts p;
  size_t blocks = (rows + HEARTH_PACKED_ROWS - 1) / HEARTH_PACKED_ROWS, at = sizeof(hearth_indexed_packed);
  memcpy(p.columns, data + at, sizeof p.columns);
  p.starts = (const uint32_t *)(data + at + sizeof p.columns);
  p.blocks = data + at + sizeof p.columns + ((blocks + 1) * sizeof(uint32_t) + 7) / 8 * 8;
  return p;
}

static void check_block(const parts *p, const table *t, size_t rows, size_t block) {
  uint64_t values[COLUMNS][HEARTH_PACKED_ROWS];
  size_t first = block * HEARTH_PACKED_ROWS;
  uint32_t n = (uint32_t)(rows - first < HEARTH_PACKED_ROWS ? rows - first : HEARTH_PACKED_ROWS);
  for (size_t wanted = 0; wanted <= COLUMNS; wanted++) {
    memset(values, 0xaa, sizeof values);
    assert_true(hearth_packed_decode_block(p->columns, COLUMNS, p->blocks + (size_t)p->starts[block] * 8,
                                           (size_t)(p->starts[block + 1] - p->starts[block]) * 8, n, wanted, values));
    for (uint32_t row = 0; row < n; row++)
      for (size_t column = 0; column < wanted; column++)
        assert_true(values[column][row] == t->values[first + row][column]);
  }
}

static void every_row_is_read_back(void **state) {
  static const size_t counts[] = {0, 1, 2, 63, 64, 65, 128, 1000};
  uint64_t seed = 11;
  (void)state;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    table t = {calloc(counts[i] + 1, sizeof *t.values)};
    uint8_t *data;
    size_t size;
    fill(&t, counts[i], &seed);
    assert_true(hearth_packed_encode(rows_of, &t, counts[i], references, COLUMNS, &data, &size));
    assert_int_equal(size % 8, 0);
    parts p = split(data, counts[i]);
    assert_int_equal(p.columns[0].bits, 0);
    for (size_t block = 0; block * HEARTH_PACKED_ROWS < counts[i]; block++)
      check_block(&p, &t, counts[i], block);
    free(data);
    free(t.values);
  }
}

/* Without its last word a block is refused: the last column's numbers fill it. */
static void a_block_cut_short_is_noticed(void **state) {
  enum { ROWS = 40 };
  table t = {calloc(ROWS, sizeof *t.values)};
  uint64_t seed = 12;
  uint64_t all[COLUMNS][HEARTH_PACKED_ROWS];
  uint8_t *data;
  size_t size;
  (void)state;
  fill(&t, ROWS, &seed);
  assert_true(hearth_packed_encode(rows_of, &t, ROWS, references, COLUMNS, &data, &size));
  parts p = split(data, ROWS);
  for (size_t words = 0; words < p.starts[1]; words++) {
    uint8_t *cut = malloc(words * 8 + 1); /* of the exact size, for sanitizers */
    memcpy(cut, p.blocks, words * 8);
    assert_false(hearth_packed_decode_block(p.columns, COLUMNS, cut, words * 8, ROWS, COLUMNS, all));
    free(cut);
  }
  free(data);
  free(t.values);
}

static void garbage_is_survived(void **state) {
  uint64_t seed = 13, all[COLUMNS][HEARTH_PACKED_ROWS];
  int read = 0;
  (void)state;
  for (int round = 0; round < 20000; round++) {
    hearth_indexed_column columns[COLUMNS];
    size_t size = next_random(&seed) % 32 * 8;
    uint8_t *block = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
      block[i] = (uint8_t)next_random(&seed);
    for (uint32_t i = 0; i < COLUMNS; i++)
      columns[i] = (hearth_indexed_column){next_random(&seed), next_random(&seed) % 65, i ? i - 1 : HEARTH_NONE};
    uint32_t rows = 1 + next_random(&seed) % HEARTH_PACKED_ROWS;
    read += hearth_packed_decode_block(columns, COLUMNS, block, size, rows, COLUMNS, all);
    free(block);
  }
  assert_in_range(read, 1, 19999);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_is_read_back),
      cmocka_unit_test(a_block_cut_short_is_noticed),
      cmocka_unit_test(garbage_is_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
