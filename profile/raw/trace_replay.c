/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Replaying a trace: its events by time, and the blocks that are live meanwhile. */
#include <stdlib.h>

#include "array.h"
#include "hearth/trace.h"

/* The threads' events merged: a heap of threads, the one with the earliest event on top. Each has one block in memory. */

typedef struct block_place {
  uint64_t number;
  uint32_t thread;
} block_place;

typedef struct thread {
  const block_place *next_block, *end; /* its blocks, in the file's order */
  hearth_trace_event *events;          /* of the block that is being read */
  uint32_t at, count, number;
} thread;

typedef struct order {
  hearth_trace *trace;
  block_place *places; /* by thread, then by number */
  thread *threads;     /* the first `active` are a heap */
  size_t thread_count, active;
} order;

static uint64_t time_of(const thread *t) {
  const hearth_trace_event *event = &t->events[t->at];
  return hearth_trace_frees(event->kind) ? event->begin_ns : event->end_ns;
}

/* Threads that are equal come by number, so that the order is one. */
static bool event_order_is_before(const thread *a, const thread *b) {
  uint64_t x = time_of(a), y = time_of(b);
  return x != y ? x < y : a->number < b->number;
}

static void sift_down(order *o, size_t at) {
  for (;;) {
    size_t least = at;
    for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < o->active; ++child)
      if (event_order_is_before(&o->threads[child], &o->threads[least]))
        least = child;
    if (least == at)
      return;
    thread moved = o->threads[at];
    o->threads[at] = o->threads[least];
    o->threads[least] = moved;
    at = least;
  }
}

/* The thread's next event, from its next block if need be. *ret_more: it has one. */
static hearth_status event_order_advance(order *o, thread *t, bool *ret_more, hearth_error *err) {
  *ret_more = true;
  if (++t->at < t->count)
    return HEARTH_OK;
  *ret_more = t->next_block < t->end;
  t->at = 0;
  return *ret_more ? hearth_trace_read_block(o->trace, t->next_block++->number, t->events, &t->count, &t->number, err)
                   : HEARTH_OK;
}

static int compare_places(const void *a, const void *b) {
  const block_place *x = a, *y = b;
  if (x->thread != y->thread)
    return x->thread < y->thread ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

/* One thread for each run of places. */
static hearth_status make_threads(order *o, uint64_t count, hearth_error *err) {
  for (uint64_t i = 0; i < count; ++i)
    o->places[i] = (block_place){i, hearth_trace_block_thread(o->trace, i)};
  qsort(o->places, count, sizeof *o->places, compare_places);
  for (uint64_t i = 0; i < count; ++i)
    o->thread_count += i == 0 || o->places[i].thread != o->places[i - 1].thread;
  o->threads = calloc(o->thread_count + 1, sizeof *o->threads);
  HEARTH_TRY(hearth_check_memory(o->threads, err));
  for (uint64_t i = 0, next = 0; i < count; i = next) {
    while (next < count && o->places[next].thread == o->places[i].thread)
      ++next;
    thread *t = &o->threads[o->active];
    *t = (thread){.next_block = o->places + i,
                  .end = o->places + next,
                  .events = malloc(HEARTH_TRACE_EVENTS_MOST * sizeof *t->events)};
    ++o->active;
    HEARTH_TRY(hearth_check_memory(t->events, err));
  }
  return HEARTH_OK;
}

static hearth_status event_order_begin(order *o, hearth_error *err) {
  bool more;
  hearth_trace_info info;
  hearth_trace_get_info(o->trace, &info);
  o->places = calloc(info.blocks + 1, sizeof *o->places);
  HEARTH_TRY(hearth_check_memory(o->places, err));
  HEARTH_TRY(make_threads(o, info.blocks, err));
  for (size_t i = 0; i < o->active; ++i)
    HEARTH_TRY(event_order_advance(o, &o->threads[i], &more, err)); /* no block is empty */
  for (size_t i = o->active; i-- > 0;)
    sift_down(o, i);
  return HEARTH_OK;
}

/* Take the event on top, which there is. */
static hearth_status event_order_take(order *o, hearth_trace_event *ret, uint32_t *ret_thread, hearth_error *err) {
  bool more;
  thread *first = &o->threads[0];
  *ret = first->events[first->at];
  *ret_thread = first->number;
  HEARTH_TRY(event_order_advance(o, first, &more, err));
  if (!more) { /* its buffer is freed with the others' */
    thread ended = *first;
    *first = o->threads[--o->active];
    o->threads[o->active] = ended;
  }
  sift_down(o, 0);
  return HEARTH_OK;
}

static void end(order *o) {
  for (size_t i = 0; i < o->thread_count && o->threads; ++i)
    free(o->threads[i].events);
  free(o->threads);
  free(o->places);
}

hearth_status hearth_trace_visit(hearth_trace *trace, hearth_trace_visitor *visit, void *data, hearth_error *err) {
  order o = {.trace = trace};
  hearth_trace_event event;
  uint32_t thread;
  hearth_status status = event_order_begin(&o, err);
  while (status == HEARTH_OK && o.active > 0) {
    status = event_order_take(&o, &event, &thread, err);
    HEARTH_THEN(status, visit(data, &event, thread, err));
  }
  end(&o);
  return status;
}

/* -------------------------------------------------- live blocks -------------------------------------------------- */

/* A hash table with open addressing, at most half full; removal moves later rows of the same chain back. */

#define LEAST_ROOM 1024u

static size_t home(const hearth_live_blocks *live, uint64_t address) {
  return (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (live->room - 1); /* 2^64 / golden ratio */
}

/* The row of an address, or the free one where it belongs. */
static hearth_live_block *live_block_find(const hearth_live_blocks *live, uint64_t address) {
  size_t at = home(live, address);
  while (live->rows[at].address && live->rows[at].address != address)
    at = (at + 1) & (live->room - 1);
  return &live->rows[at];
}

static bool live_block_grow(hearth_live_blocks *live) {
  hearth_live_blocks larger = {.room = live->room ? 2 * live->room : LEAST_ROOM, .count = live->count};
  larger.rows = calloc(larger.room, sizeof *larger.rows);
  if (!larger.rows)
    return false;
  for (size_t i = 0; i < live->room; ++i)
    if (live->rows[i].address)
      *live_block_find(&larger, live->rows[i].address) = live->rows[i];
  free(live->rows);
  *live = larger;
  return true;
}

bool hearth_live_blocks_add(hearth_live_blocks *live, const hearth_live_block *block, hearth_live_block *ret_replaced) {
  if (2 * (live->count + 1) > live->room && !live_block_grow(live))
    return false;
  hearth_live_block *row = live_block_find(live, block->address);
  *ret_replaced = *row;
  live->count += !row->address;
  *row = *block;
  return true;
}

/* An entry that was put behind the row because the row was taken moves back, so that no search ends too early. */
bool hearth_live_blocks_remove(hearth_live_blocks *live, uint64_t address, hearth_live_block *ret) {
  if (live->count == 0)
    return false;
  hearth_live_block *row = live_block_find(live, address);
  if (!row->address)
    return false;
  *ret = *row;
  size_t hole = (size_t)(row - live->rows), mask = live->room - 1;
  for (size_t at = (hole + 1) & mask; live->rows[at].address; at = (at + 1) & mask)
    if (((at - home(live, live->rows[at].address)) & mask) >= ((at - hole) & mask)) {
      live->rows[hole] = live->rows[at];
      hole = at;
    }
  live->rows[hole].address = 0;
  --live->count;
  return true;
}

void hearth_live_blocks_free(hearth_live_blocks *live) {
  free(live->rows);
  *live = (hearth_live_blocks){0};
}
