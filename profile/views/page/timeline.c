/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events in the order of time change the sum of live bytes; each piece of time keeps its most. A block adds to the grids
 * when it ends. */
#include "timeline.h"

#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "live_blocks.h"

enum { TIME_BINS = 1024, GRID_TIME_BINS = 128 };

hearth_status hearth_page_timeline_init(hearth_page_timeline *t, uint64_t duration_ns, hearth_error *err) {
  double duration = duration_ns > 0 ? (double)duration_ns : 1;
  const hearth_page_axis size = {.label = "size", .unit = HEARTH_PAGE_BYTES, .bins = HEARTH_PAGE_LOG_BINS};
  const hearth_page_axis lifetime = {.label = "lifetime", .unit = HEARTH_PAGE_NS, .bins = HEARTH_PAGE_LOG_BINS};
  const hearth_page_axis time = {
      .label = "time of allocation", .unit = HEARTH_PAGE_NS, .bins = GRID_TIME_BINS, .step = duration / GRID_TIME_BINS};
  *t = (hearth_page_timeline){.live = {.step_ns = duration / TIME_BINS}};
  HEARTH_TRY(hearth_page_grid_init(&t->lifetime_size, &size, &lifetime, err));
  HEARTH_TRY(hearth_page_grid_init(&t->lifetime_time, &time, &lifetime, err));
  t->live.bytes = calloc(TIME_BINS, sizeof *t->live.bytes);
  if (!t->live.bytes)
    return hearth_error_nomem(err);
  t->live.count = TIME_BINS;
  return HEARTH_OK;
}

void hearth_page_timeline_destroy(hearth_page_timeline *t) {
  hearth_page_grid_destroy(&t->lifetime_size);
  hearth_page_grid_destroy(&t->lifetime_time);
  free(t->live.bytes);
  free(t->threads);
  hearth_pair_set_destroy(&t->thread_rows);
  *t = (hearth_page_timeline){0};
}

/* The row lives until the next one is added. */
static hearth_status find_thread(hearth_page_timeline *t, uint32_t number, hearth_page_thread **ret,
                                 hearth_error *err) {
  uint32_t row;
  HEARTH_TRY(hearth_pair_set_add(&t->thread_rows, (hearth_pair){number, 0}, &row, err));
  if (row == t->thread_count) {
    if (!hearth_array_grow(&t->threads, &t->thread_room, t->thread_count, sizeof *t->threads))
      return hearth_error_nomem(err);
    t->threads[t->thread_count++] = (hearth_page_thread){.number = number};
  }
  *ret = &t->threads[row];
  return HEARTH_OK;
}

/* As much as now was live in all pieces of time that have passed since the last operation. */
static void pass_time(hearth_page_timeline *t, uint64_t now_ns) {
  double at = (double)now_ns / t->live.step_ns;
  uint32_t now = at < t->live.count ? (uint32_t)at : t->live.count - 1;
  while (t->live_at < now)
    t->live.bytes[++t->live_at] = t->live_bytes;
}

static uint64_t take_away(uint64_t from, uint64_t what) { return from > what ? from - what : 0; }

hearth_status hearth_page_timeline_allocated(hearth_page_timeline *t, const hearth_page_block *block,
                                             hearth_error *err) {
  hearth_page_thread *thread;
  HEARTH_TRY(find_thread(t, block->thread, &thread, err));
  thread->allocs++;
  thread->bytes = hearth_merge_SUM(thread->bytes, block->size);
  thread->live_bytes = hearth_merge_SUM(thread->live_bytes, block->size);
  thread->peak_bytes = hearth_merge_MAX(thread->peak_bytes, thread->live_bytes);
  pass_time(t, block->begin_ns);
  t->live_bytes = hearth_merge_SUM(t->live_bytes, block->size);
  t->live.bytes[t->live_at] = hearth_merge_MAX(t->live.bytes[t->live_at], t->live_bytes);
  if (t->live_bytes > t->live.peak_bytes) {
    t->live.peak_bytes = t->live_bytes;
    t->live.peak_ns = block->begin_ns;
  }
  return HEARTH_OK;
}

static void add_life(hearth_page_timeline *t, const hearth_page_block *block, uint64_t end_ns, bool kept) {
  double lifetime = (double)take_away(end_ns, block->begin_ns), size = (double)block->size;
  const hearth_page_cell cell = {{[HEARTH_QUANTITY_BYTES] = size,
                                  [HEARTH_QUANTITY_ALLOCS] = 1,
                                  [HEARTH_QUANTITY_BYTE_SECONDS] = size * lifetime / 1e9,
                                  [HEARTH_QUANTITY_LIVE] = kept ? size : 0,
                                  [HEARTH_QUANTITY_LIVE_ALLOCS] = kept}};
  hearth_page_grid_add(&t->lifetime_size, size, lifetime, &cell);
  hearth_page_grid_add(&t->lifetime_time, (double)block->begin_ns, lifetime, &cell);
}

hearth_status hearth_page_timeline_lost(hearth_page_timeline *t, const hearth_page_block *block, uint64_t end_ns,
                                        hearth_error *err) {
  hearth_page_thread *thread;
  HEARTH_TRY(find_thread(t, block->thread, &thread, err));
  thread->live_bytes = take_away(thread->live_bytes, block->size);
  pass_time(t, end_ns);
  t->live_bytes = take_away(t->live_bytes, block->size);
  add_life(t, block, end_ns, false);
  return HEARTH_OK;
}

hearth_status hearth_page_timeline_freed(hearth_page_timeline *t, const hearth_page_block *block, uint32_t thread,
                                         uint64_t end_ns, hearth_error *err) {
  hearth_page_thread *row;
  HEARTH_TRY(find_thread(t, thread, &row, err));
  row->frees++;
  row->frees_of_others += thread != block->thread;
  return hearth_page_timeline_lost(t, block, end_ns, err);
}

void hearth_page_timeline_kept(hearth_page_timeline *t, const hearth_page_block *block, uint64_t end_ns) {
  add_life(t, block, end_ns, true);
}

void hearth_page_timeline_end(hearth_page_timeline *t, uint64_t end_ns) { pass_time(t, end_ns); }

/* A dense array of cells; only the part that holds something is written. */

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

static bool is_empty(const hearth_page_cell *cell) { return cell->of[HEARTH_QUANTITY_ALLOCS] == 0; }

hearth_page_bounds hearth_page_grid_bounds(const hearth_page_grid *grid) {
  hearth_page_bounds e = {grid->x.bins, 0, grid->y.bins, 0};
  for (uint32_t y = 0; y < grid->y.bins; y++)
    for (uint32_t x = 0; x < grid->x.bins; x++)
      if (!is_empty(hearth_page_grid_at(grid, x, y))) {
        e.x = x < e.x ? x : e.x;
        e.y = y < e.y ? y : e.y;
        e.x_end = x >= e.x_end ? x + 1 : e.x_end;
        e.y_end = y + 1;
      }
  return e.x_end ? e : (hearth_page_bounds){0};
}

/* Events are visited in the order of their times; the table of live blocks tells when the block began that one ends. */

typedef struct reading {
  hearth_page_timeline *timeline;
  hearth_live_blocks live;
} reading;

static hearth_page_block block_of(const hearth_live_block *live) {
  return (hearth_page_block){.size = live->size, .begin_ns = live->begin_ns, .thread = (uint32_t)live->number};
}

static hearth_status take_allocation(reading *r, const hearth_trace_event *event, uint32_t thread, hearth_error *err) {
  hearth_live_block added = {.address = event->address,
                             .size = event->size,
                             .begin_ns = event->stack_ns,
                             .number = thread,
                             .stack = event->stack};
  hearth_live_block before;
  if (!hearth_live_blocks_add(&r->live, &added, &before))
    return hearth_error_nomem(err);
  if (before.address) {
    hearth_page_block lost = block_of(&before);
    HEARTH_TRY(hearth_page_timeline_lost(r->timeline, &lost, event->stack_ns, err));
  }
  hearth_page_block block = block_of(&added);
  return hearth_page_timeline_allocated(r->timeline, &block, err);
}

/* Blocks of before the trace, or whose allocation was dropped, are not known. */
static hearth_status take_deallocation(reading *r, const hearth_trace_event *event, uint32_t thread,
                                       hearth_error *err) {
  hearth_live_block freed;
  if (!hearth_live_blocks_remove(&r->live, event->address, &freed))
    return HEARTH_OK;
  hearth_page_block block = block_of(&freed);
  return hearth_page_timeline_freed(r->timeline, &block, thread, event->stack_ns, err);
}

static hearth_status take_event(void *data, const hearth_trace_event *event, uint32_t thread, hearth_error *err) {
  if (!event->address) /* a failed allocation */
    return HEARTH_OK;
  return (hearth_trace_frees(event->kind) ? take_deallocation : take_allocation)(data, event, thread, err);
}

static void take_kept(hearth_page_timeline *t, const hearth_live_blocks *live, uint64_t end_ns) {
  for (size_t i = 0; i < live->room; i++)
    if (live->rows[i].address) {
      hearth_page_block block = block_of(&live->rows[i]);
      hearth_page_timeline_kept(t, &block, end_ns);
    }
  hearth_page_timeline_end(t, end_ns);
}

hearth_status hearth_page_trace_read(hearth_trace *trace, hearth_page_timeline *ret, hearth_error *err) {
  hearth_trace_info info;
  reading r = {.timeline = ret};
  hearth_trace_get_info(trace, &info);
  hearth_status status = hearth_page_timeline_init(ret, info.duration_ns, err);
  if (status == HEARTH_OK)
    status = hearth_trace_visit(trace, take_event, &r, err);
  if (status == HEARTH_OK)
    take_kept(ret, &r.live, info.duration_ns);
  hearth_live_blocks_free(&r.live);
  return status;
}
