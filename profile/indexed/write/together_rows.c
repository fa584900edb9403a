/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The sums over windows in the order of the profile's rows, and their section: two packed tables. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "packed.h"
#include "writer.h"

static int compare_pairs(const void *a, const void *b) {
  const hearth_together_pair *x = a, *y = b;
  if (x->a != y->a)
    return x->a < y->a ? -1 : 1;
  return (x->b > y->b) - (x->b < y->b);
}

static void order_rows(writer *w) {
  const builder_together *from = &w->builder->together;
  size_t count = 0;
  for (uint32_t i = 0; i < w->contexts.count; i++) {
    uint32_t context = w->contexts.order[i];
    w->contexts.rank[context] = i;
    if (context < from->touched_count && builder_was_touched(&from->touched[context]))
      w->together_rows[count++] = (hearth_together_row){i, from->touched[context]};
  }
  w->together.row_count = count;
}

static void order_pairs(writer *w) {
  const builder_together *from = &w->builder->together;
  for (size_t i = 0; i < from->pair_count; i++) {
    hearth_together_pair pair = from->pairs[i];
    uint32_t a = w->contexts.rank[pair.a], b = w->contexts.rank[pair.b];
    pair.a = a < b ? a : b;
    pair.b = a < b ? b : a;
    w->together_pairs[i] = pair;
  }
  qsort(w->together_pairs, from->pair_count, sizeof *w->together_pairs, compare_pairs);
}

hearth_status hearth_writer_order_together(writer *w) {
  const builder_together *from = &w->builder->together;
  HEARTH_TRY(hearth_array_create(&w->together_rows, from->touched_count, sizeof *w->together_rows, w->err));
  HEARTH_TRY(hearth_array_create(&w->together_pairs, from->pair_count, sizeof *w->together_pairs, w->err));
  order_rows(w);
  order_pairs(w);
  w->together.totals = from->totals;
  w->together.pair_count = from->pair_count;
  w->together.rows = w->together_rows;
  w->together.pairs = w->together_pairs;
  return HEARTH_OK;
}

/* -------------------------------------------------- the section ------------------------------------------------- */

static void touched_rows(const void *context, size_t first, size_t count, uint64_t (*ret)[HEARTH_PACKED_ROWS]) {
  const hearth_together_row *rows = ((const hearth_together *)context)->rows + first;
  for (size_t i = 0; i < count; i++) {
    ret[HEARTH_TOUCHED_CONTEXT][i] = rows[i].context;
    ret[HEARTH_TOUCHED_LIVE][i] = rows[i].touched.live;
    ret[HEARTH_TOUCHED_WINDOWS][i] = rows[i].touched.windows;
    ret[HEARTH_TOUCHED_BLOCKS][i] = rows[i].touched.blocks;
    ret[HEARTH_TOUCHED_LINES][i] = rows[i].touched.lines;
    ret[HEARTH_TOUCHED_PAGES][i] = rows[i].touched.pages;
  }
}

static void pair_rows(const void *context, size_t first, size_t count, uint64_t (*ret)[HEARTH_PACKED_ROWS]) {
  const hearth_together_pair *pairs = ((const hearth_together *)context)->pairs + first;
  for (size_t i = 0; i < count; i++) {
    ret[HEARTH_PAIR_A][i] = pairs[i].a;
    ret[HEARTH_PAIR_B][i] = pairs[i].b;
    ret[HEARTH_PAIR_WINDOWS][i] = pairs[i].windows;
    ret[HEARTH_PAIR_LINES][i] = pairs[i].lines;
  }
}

/* Does the profile know anything of windows? */
static bool is_known(const hearth_together *t) {
  const hearth_together_totals *s = &t->totals;
  return s->windows || s->window_ns || s->sampled_pages || s->pages || s->lost_pairs || t->row_count || t->pair_count;
}

/* Blocks, lines and pages of one context are alike; so are the numbers of a pair's two contexts. */
static const uint32_t touched_references[HEARTH_TOUCHED_COLUMNS] = {
    HEARTH_NONE, HEARTH_NONE, HEARTH_NONE, HEARTH_NONE, HEARTH_TOUCHED_BLOCKS, HEARTH_TOUCHED_BLOCKS};
static const uint32_t pair_references[HEARTH_PAIR_COLUMNS] = {HEARTH_NONE, HEARTH_PAIR_A, HEARTH_NONE,
                                                              HEARTH_PAIR_WINDOWS};

static hearth_status put_parts(writer *w, const packed_bytes *rows, const packed_bytes *pairs) {
  const hearth_together_totals *totals = &w->together.totals;
  hearth_indexed_together header = {.windows = totals->windows,
                                    .window_ns = totals->window_ns,
                                    .sampled_pages = totals->sampled_pages,
                                    .pages = totals->pages,
                                    .lost_pairs = totals->lost_pairs,
                                    .row_count = (uint32_t)w->together.row_count,
                                    .pair_count = (uint32_t)w->together.pair_count,
                                    .pairs_offset = sizeof header + rows->size};
  packed_bytes *to = &w->together_section;
  HEARTH_TRY(hearth_array_create(&to->data, sizeof header + rows->size + pairs->size, 1, w->err));
  to->size = sizeof header + rows->size + pairs->size;
  memcpy(to->data, &header, sizeof header);
  memcpy(to->data + sizeof header, rows->data, rows->size);
  memcpy(to->data + header.pairs_offset, pairs->data, pairs->size);
  return HEARTH_OK;
}

hearth_status hearth_writer_encode_together(writer *w) {
  packed_bytes rows = {0}, pairs = {0};
  if (!is_known(&w->together))
    return HEARTH_OK;
  bool good = hearth_packed_encode(touched_rows, &w->together, w->together.row_count, touched_references,
                                   HEARTH_TOUCHED_COLUMNS, &rows.data, &rows.size) &&
              hearth_packed_encode(pair_rows, &w->together, w->together.pair_count, pair_references,
                                   HEARTH_PAIR_COLUMNS, &pairs.data, &pairs.size);
  hearth_status status = hearth_check_memory(good, w->err);
  if (status == HEARTH_OK)
    status = put_parts(w, &rows, &pairs);
  free(rows.data);
  free(pairs.data);
  return status;
}
