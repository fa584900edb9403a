/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the TOGETHER section: both packed tables are decoded whole, row block by row block, when they are first asked
 * for. Their order and their row numbers are checked then. */
#include "hearth/together.h"

#include <stdlib.h>

#include "array.h"
#include "compare.h"
#include "reader_internal.h"

/* Offsets of the two tables in the file. */
typedef struct table_places {
  uint64_t rows, pairs, end;
} table_places;

static hearth_status read_header(hearth_profile *profile, hearth_indexed_together *ret, table_places *ret_places,
                                 hearth_error *err) {
  const hearth_indexed_section *s = hearth_profile_section(profile, HEARTH_SECTION_TOGETHER);
  const uint8_t *from;
  if (s->size < sizeof *ret)
    return hearth_profile_corrupt(profile, err, "the sums over windows are cut short");
  HEARTH_TRY(hearth_profile_touch(profile, s->offset, sizeof *ret, &from, err));
  memcpy(ret, from, sizeof *ret);
  if (ret->pairs_offset < sizeof *ret || ret->pairs_offset > s->size || ret->pairs_offset % 8 != 0)
    return hearth_profile_corrupt(profile, err, "the pairs of contexts lie outside");
  *ret_places = (table_places){s->offset + sizeof *ret, s->offset + ret->pairs_offset, s->offset + s->size};
  return HEARTH_OK;
}

static hearth_status open_table(hearth_profile *profile, uint64_t at, uint64_t end, uint32_t rows, size_t columns,
                                packed_table *ret, hearth_error *err) {
  *ret = (packed_table){.section = HEARTH_SECTION_TOGETHER, .row_count = rows, .end = end};
  HEARTH_TRY(hearth_profile_open_packed(profile, at, ret, err));
  if (ret->column_count < columns)
    return hearth_profile_corrupt(profile, err, "the sums over windows have too few columns");
  return HEARTH_OK;
}

static bool is_row(const hearth_profile *profile, uint64_t context) {
  return context < hearth_profile_context_count(profile);
}

static hearth_status read_rows(hearth_profile *profile, const packed_table *table, hearth_together_row *rows,
                               hearth_error *err) {
  uint64_t v[HEARTH_TOUCHED_COLUMNS][HEARTH_PACKED_ROWS], lowest = 0;
  for (uint32_t i = 0; i < table->row_count; i++) {
    uint32_t k = i % HEARTH_PACKED_ROWS;
    if (k == 0)
      HEARTH_TRY(hearth_profile_read_block(profile, table, i, HEARTH_TOUCHED_COLUMNS, v, "touched context", err));
    uint64_t context = v[HEARTH_TOUCHED_CONTEXT][k];
    if (context < lowest || !is_row(profile, context))
      return hearth_profile_corrupt(profile, err, "its touched contexts are not sorted at %u", i);
    rows[i] = (hearth_together_row){.context = (uint32_t)context,
                                    .touched = {.windows = v[HEARTH_TOUCHED_WINDOWS][k],
                                                .blocks = v[HEARTH_TOUCHED_BLOCKS][k],
                                                .lines = v[HEARTH_TOUCHED_LINES][k],
                                                .pages = v[HEARTH_TOUCHED_PAGES][k],
                                                .live = v[HEARTH_TOUCHED_LIVE][k]}};
    lowest = context + 1;
  }
  return HEARTH_OK;
}

static hearth_status read_pairs(hearth_profile *profile, const packed_table *table, hearth_together_pair *pairs,
                                hearth_error *err) {
  uint64_t v[HEARTH_PAIR_COLUMNS][HEARTH_PACKED_ROWS];
  for (uint32_t i = 0; i < table->row_count; i++) {
    uint32_t k = i % HEARTH_PACKED_ROWS;
    if (k == 0)
      HEARTH_TRY(hearth_profile_read_block(profile, table, i, HEARTH_PAIR_COLUMNS, v, "pair of contexts", err));
    uint64_t a = v[HEARTH_PAIR_A][k], b = v[HEARTH_PAIR_B][k];
    bool ascends = i == 0 || a > pairs[i - 1].a || (a == pairs[i - 1].a && b > pairs[i - 1].b);
    if (a >= b || !is_row(profile, b) || !ascends)
      return hearth_profile_corrupt(profile, err, "its pairs of contexts are not sorted at %u", i);
    pairs[i] = (hearth_together_pair){
        .a = (uint32_t)a, .b = (uint32_t)b, .windows = v[HEARTH_PAIR_WINDOWS][k], .lines = v[HEARTH_PAIR_LINES][k]};
  }
  return HEARTH_OK;
}

/* Arrays are made once the tables are known to lie in the file. */
static hearth_status decode(hearth_profile *profile, const hearth_indexed_together *header, const table_places *places,
                            hearth_error *err) {
  packed_table rows, pairs;
  if (header->row_count > hearth_profile_context_count(profile))
    return hearth_profile_corrupt(profile, err, "more contexts were touched than there are");
  HEARTH_TRY(open_table(profile, places->rows, places->pairs, header->row_count, HEARTH_TOUCHED_COLUMNS, &rows, err));
  HEARTH_TRY(open_table(profile, places->pairs, places->end, header->pair_count, HEARTH_PAIR_COLUMNS, &pairs, err));
  if (!profile->together_rows)
    HEARTH_TRY(hearth_array_create(&profile->together_rows, header->row_count, sizeof *profile->together_rows, err));
  if (!profile->together_pairs)
    HEARTH_TRY(hearth_array_create(&profile->together_pairs, header->pair_count, sizeof *profile->together_pairs, err));
  HEARTH_TRY(read_rows(profile, &rows, profile->together_rows, err));
  HEARTH_TRY(read_pairs(profile, &pairs, profile->together_pairs, err));
  profile->together_decoded = true;
  return HEARTH_OK;
}

hearth_status hearth_profile_get_together(hearth_profile *profile, hearth_together *ret, hearth_error *err) {
  hearth_indexed_together header;
  table_places places;
  memset(ret, 0, sizeof *ret);
  if (hearth_profile_section(profile, HEARTH_SECTION_TOGETHER)->id == 0)
    return HEARTH_OK;
  HEARTH_TRY(read_header(profile, &header, &places, err));
  if (!profile->together_decoded)
    HEARTH_TRY(decode(profile, &header, &places, err));
  *ret = (hearth_together){.totals = {.windows = header.windows,
                                      .window_ns = header.window_ns,
                                      .sampled_pages = header.sampled_pages,
                                      .pages = header.pages,
                                      .lost_pairs = header.lost_pairs},
                           .rows = profile->together_rows,
                           .pairs = profile->together_pairs,
                           .row_count = header.row_count,
                           .pair_count = header.pair_count};
  return HEARTH_OK;
}

hearth_touched hearth_together_find(const hearth_together *together, uint32_t context) {
  const hearth_together_row *row = together->row_count ? bsearch(&context, together->rows, together->row_count,
                                                                 sizeof *together->rows, hearth_compare_u32)
                                                       : NULL;
  return row ? row->touched : (hearth_touched){0};
}

size_t hearth_together_first_pair(const hearth_together *together, uint32_t context) {
  size_t low = 0, high = together->pair_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (together->pairs[middle].a < context)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
