/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events in the order of time change the sum of live bytes. A block adds to the grids when it ends; the table of
 * live blocks tells when it began. */
#include "page.h"

#include <math.h>
#include <stdlib.h>

#include "array.h"

enum { TIME_BINS = 128 };

hearth_status hearth_page_timeline_init(hearth_page_timeline *t, uint64_t duration_ns, hearth_error *err) {
  double duration = duration_ns > 0 ? (double)duration_ns : 1;
  const hearth_page_axis size = {.label = "size", .unit = HEARTH_PAGE_BYTES, .bins = HEARTH_PAGE_LOG_BINS};
  const hearth_page_axis lifetime = {.label = "lifetime", .unit = HEARTH_PAGE_NS, .bins = HEARTH_PAGE_LOG_BINS};
  const hearth_page_axis time = {
      .label = "time of allocation", .unit = HEARTH_PAGE_NS, .bins = TIME_BINS, .step = duration / TIME_BINS};
  *t = (hearth_page_timeline){.peak_ns = 0};
  HEARTH_TRY(hearth_page_grid_init(&t->lifetime_size, &size, &lifetime, err));
  return hearth_page_grid_init(&t->lifetime_time, &time, &lifetime, err);
}

void hearth_page_timeline_destroy(hearth_page_timeline *t) {
  hearth_page_grid_destroy(&t->lifetime_size);
  hearth_page_grid_destroy(&t->lifetime_time);
  hearth_live_blocks_free(&t->blocks);
  *t = (hearth_page_timeline){0};
}

static uint64_t take_away(uint64_t from, uint64_t what) { return from > what ? from - what : 0; }

static void add_life(hearth_page_timeline *t, const hearth_live_block *block, uint64_t end_ns, bool kept) {
  double lifetime = (double)take_away(end_ns, block->begin_ns), size = (double)block->size;
  const hearth_page_cell cell = {{[HEARTH_QUANTITY_BYTES] = size,
                                  [HEARTH_QUANTITY_ALLOCS] = 1,
                                  [HEARTH_QUANTITY_BYTE_SECONDS] = size * lifetime / 1e9,
                                  [HEARTH_QUANTITY_LIVE] = kept ? size : 0,
                                  [HEARTH_QUANTITY_LIVE_ALLOCS] = kept}};
  hearth_page_grid_add(&t->lifetime_size, size, lifetime, &cell);
  hearth_page_grid_add(&t->lifetime_time, (double)block->begin_ns, lifetime, &cell);
}

/* Freed, or its address is taken again: then its end was not recorded. */
static void take_end(hearth_page_timeline *t, const hearth_live_block *block, uint64_t end_ns) {
  t->live_bytes = take_away(t->live_bytes, block->size);
  add_life(t, block, end_ns, false);
}

static hearth_status timeline_take_allocation(hearth_page_timeline *t, const hearth_trace_event *event,
                                              hearth_error *err) {
  const hearth_live_block added = {.address = event->address, .size = event->size, .begin_ns = event->stack_ns};
  hearth_live_block lost;
  HEARTH_TRY(hearth_check_memory(hearth_live_blocks_add(&t->blocks, &added, &lost), err));
  if (lost.address)
    take_end(t, &lost, event->stack_ns);
  t->live_bytes = hearth_merge_SUM(t->live_bytes, added.size);
  if (t->live_bytes > t->peak_bytes) {
    t->peak_bytes = t->live_bytes;
    t->peak_ns = added.begin_ns;
  }
  return HEARTH_OK;
}

/* Blocks of before the trace, or whose allocation was dropped, are not known. */
hearth_status hearth_page_timeline_event(void *data, const hearth_trace_event *event, uint32_t thread,
                                         hearth_error *err) {
  hearth_live_block freed;
  (void)thread;
  if (!event->address) /* a failed allocation */
    return HEARTH_OK;
  if (!hearth_trace_frees(event->kind))
    return timeline_take_allocation(data, event, err);
  if (hearth_live_blocks_remove(&((hearth_page_timeline *)data)->blocks, event->address, &freed))
    take_end(data, &freed, event->stack_ns);
  return HEARTH_OK;
}

void hearth_page_timeline_end(hearth_page_timeline *t, uint64_t end_ns) {
  for (size_t i = 0; i < t->blocks.room; i++)
    if (t->blocks.rows[i].address)
      add_life(t, &t->blocks.rows[i], end_ns, true);
}

hearth_status hearth_page_trace_read(hearth_trace *trace, hearth_page_timeline *ret, hearth_error *err) {
  hearth_trace_info info;
  hearth_trace_get_info(trace, &info);
  HEARTH_TRY(hearth_page_timeline_init(ret, info.duration_ns, err));
  HEARTH_TRY(hearth_trace_visit(trace, hearth_page_timeline_event, ret, err));
  hearth_page_timeline_end(ret, info.duration_ns);
  hearth_live_blocks_free(&ret->blocks);
  return HEARTH_OK;
}

/* A dense array of cells. */

enum { BINS_OF_AN_OCTAVE = 2 };

hearth_status hearth_page_grid_init(hearth_page_grid *grid, const hearth_page_axis *x, const hearth_page_axis *y,
                                    hearth_error *err) {
  *grid = (hearth_page_grid){.x = *x, .y = *y, .cells = calloc((size_t)x->bins * y->bins, sizeof *grid->cells)};
  return grid->cells ? HEARTH_OK : hearth_error_nomem(err);
}

void hearth_page_grid_destroy(hearth_page_grid *grid) {
  free(grid->cells);
  *grid = (hearth_page_grid){0};
}

static uint32_t bin_of(const hearth_page_axis *axis, double value) {
  double bin = axis->step > 0 ? value / axis->step : log2(value) * BINS_OF_AN_OCTAVE;
  if (!(bin > 0)) /* log2(0) is no number to convert */
    return 0;
  return bin < axis->bins ? (uint32_t)bin : axis->bins - 1;
}

void hearth_page_grid_add(hearth_page_grid *grid, double x, double y, const hearth_page_cell *more) {
  hearth_page_cell *cell = &grid->cells[(size_t)bin_of(&grid->y, y) * grid->x.bins + bin_of(&grid->x, x)];
  for (int q = 0; q < HEARTH_QUANTITY_COUNT; q++)
    cell->of[q] += more->of[q];
}
