/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ranges are sorted; where they overlap, a sweep over them cuts them into pieces. */
#include "body_pieces.h"

#include <stdlib.h>

#include "array.h"

typedef hearth_body_piece piece;

bool hearth_body_pieces_add(hearth_body_pieces *p, uint64_t start, uint64_t end, uint32_t body) {
  if (!hearth_array_grow(&p->rows, &p->capacity, p->count, sizeof *p->rows))
    return false;
  p->rows[p->count++] = (piece){start, end, body};
  return true;
}

void hearth_body_pieces_free(hearth_body_pieces *p) {
  free(p->rows);
  *p = (hearth_body_pieces){0};
}

/* --- Sort --------------------------------------------------------------------------------------------------------- */

/* By start, then the enclosing one first: the longer, then the lower body number. */
static inline bool is_before(const piece *x, const piece *y) {
  if (x->start != y->start)
    return x->start < y->start;
  return x->end != y->end ? x->end > y->end : x->body < y->body;
}

/* The end of the rows from `first` on that are in order already: compilers describe much in the order of its addresses. */
static size_t end_of_part(const hearth_body_pieces *p, size_t first) {
  size_t end = first + 1;
  while (end < p->count && !is_before(&p->rows[end], &p->rows[end - 1]))
    ++end;
  return end;
}

/* Rows [first, middle) and [middle, end), both sorted, to the same place in `to`. */
static void merge(const piece *from, size_t first, size_t middle, size_t end, piece *to) {
  size_t a = first, b = middle;
  for (size_t i = first; i < end; ++i)
    to[i] = b == end || (a < middle && !is_before(&from[b], &from[a])) ? from[a++] : from[b++];
}

/* Merge each two neighbours of the sorted parts into one. `ends`: where they end. Returns how many there are then. */
static size_t merge_parts(const piece *from, size_t *ends, size_t count, piece *to) {
  size_t first = 0, merged = 0;
  for (size_t i = 0; i < count; i += 2) {
    size_t end = ends[i + 1 < count ? i + 1 : i];
    merge(from, first, ends[i], end, to);
    first = ends[merged++] = end;
  }
  return merged;
}

/* qsort moves and compares bytes of any size by calls: it takes several times as long. */
static bool sort(hearth_body_pieces *p) {
  size_t *ends = malloc(p->count * sizeof *ends), parts = 0;
  piece *other = malloc(p->count * sizeof *other);
  bool ok = ends && other;
  for (size_t end = 0; ok && end < p->count;)
    ends[parts++] = end = end_of_part(p, end);
  while (ok && parts > 1) {
    piece *sorted = other;
    parts = merge_parts(p->rows, ends, parts, sorted);
    other = p->rows;
    p->rows = sorted;
    p->capacity = p->count;
  }
  free(other);
  free(ends);
  return ok;
}

/* --- Cut ---------------------------------------------------------------------------------------------------------- */

/* Of sorted rows. */
static bool is_disjoint(const hearth_body_pieces *p) {
  for (size_t i = 1; i < p->count; ++i)
    if (p->rows[i].start < p->rows[i - 1].end)
      return false;
  return true;
}

typedef struct sweep {
  hearth_body_pieces out;
  uint64_t at; /* everything below is done */
} sweep;

/* The addresses from where the sweep is up to `end` belong to `body`. */
static bool sweep_to(sweep *w, uint64_t end, uint32_t body) {
  if (end <= w->at)
    return true;
  uint64_t start = w->at;
  w->at = end;
  return hearth_body_pieces_add(&w->out, start, end, body);
}

/* Cut sorted ranges into disjoint pieces. `open` holds the ranges around the current address, innermost last. */
static bool cut(hearth_body_pieces *p) {
  sweep w = {0};
  piece *open = NULL;
  size_t depth = 0, open_capacity = 0;
  bool ok = true;

  for (size_t i = 0; ok && i <= p->count; ++i) {
    uint64_t next = i < p->count ? p->rows[i].start : UINT64_MAX;
    while (ok && depth > 0 && open[depth - 1].end <= next) {
      ok = sweep_to(&w, open[depth - 1].end, open[depth - 1].body);
      --depth;
    }
    if (i == p->count)
      break;
    if (ok && depth > 0)
      ok = sweep_to(&w, next, open[depth - 1].body);
    w.at = w.at > next ? w.at : next;
    ok = ok && hearth_array_grow(&open, &open_capacity, depth, sizeof *open);
    if (ok)
      open[depth++] = p->rows[i];
  }
  free(open);
  free(p->rows);
  *p = w.out;
  return ok;
}

bool hearth_body_pieces_order(hearth_body_pieces *p) { return p->count < 2 || (sort(p) && (is_disjoint(p) || cut(p))); }

/* --- Look up ------------------------------------------------------------------------------------------------------ */

uint32_t hearth_body_pieces_find(const hearth_body_pieces *p, uint64_t address) {
  size_t low = 0, high = p->count; /* pieces below `low` end at or before the address, from `high` begin behind */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const piece *row = &p->rows[middle];
    if (address < row->start)
      high = middle;
    else if (address >= row->end)
      low = middle + 1;
    else
      return row->body;
  }
  return HEARTH_NO_BODY;
}
