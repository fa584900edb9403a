/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A row for each context there may be, in memory that is taken as rows are touched. What a window finds is counted in the
 * rows themselves, and added to their sums at its end. */
#include "touched_sums.h"

#include "os.h"

#include <stddef.h>

static size_t rows_size(uint32_t count) { return hearth_os_whole_pages(count * sizeof(hearth_touched_row)); }

bool hearth_touched_sums_create(hearth_touched_sums *sums, uint32_t count, uint32_t seen_most) {
  *sums = (hearth_touched_sums){.count = count, .seen_most = seen_most};
  sums->rows = hearth_os_map(rows_size(count));
  sums->seen = hearth_os_map(hearth_os_whole_pages(seen_most * sizeof *sums->seen));
  if (!sums->rows || !sums->seen)
    return false;
  hearth_os_mark_sparse(sums->rows, rows_size(count));
  return true;
}

void hearth_touched_sums_forget(hearth_touched_sums *sums) {
  hearth_os_discard(sums->rows, rows_size(sums->count));
  sums->window = 0;
  sums->seen_count = 0;
}

void hearth_touched_sums_begin_window(hearth_touched_sums *sums) {
  ++sums->window;
  sums->seen_count = 0;
}

hearth_touched_row *hearth_touched_sums_see(hearth_touched_sums *sums, uint32_t context) {
  if (context >= sums->count)
    return NULL;
  hearth_touched_row *row = &sums->rows[context];
  if (row->window == sums->window)
    return row;
  if (sums->seen_count == sums->seen_most)
    return NULL;
  row->window = sums->window;
  row->lines = row->pages = row->blocks = row->live = 0;
  sums->seen[sums->seen_count++] = context;
  return row;
}

void hearth_touched_sums_end_window(hearth_touched_sums *sums, uint64_t pages, uint64_t sampled, uint32_t weight) {
  pages *= weight;
  for (uint32_t i = 0; i < sums->seen_count; ++i) {
    hearth_touched_row *row = &sums->rows[sums->seen[i]];
    row->sums[HEARTH_RAW_TOUCHED_WINDOWS] += row->lines > 0 ? weight : 0;
    row->sums[HEARTH_RAW_TOUCHED_BLOCKS] += hearth_sums_scale(row->blocks, pages, sampled) / HEARTH_SHARE;
    row->sums[HEARTH_RAW_TOUCHED_LINES] += hearth_sums_scale(row->lines, pages, sampled);
    row->sums[HEARTH_RAW_TOUCHED_PAGES] += hearth_sums_scale(row->pages, pages, sampled);
    row->sums[HEARTH_RAW_TOUCHED_LIVE] += hearth_sums_scale(row->live, pages, sampled) / HEARTH_SHARE;
  }
}
