/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The indexer writes to memory, and the reader reads it there. To the records of a trace it adds tallies: a pass over
 * the events in the order of time, and another one up to the heap's peak, for what is live then. A block knows its
 * thread and the number of its allocation there: if that is still the thread's last operation when the block is freed,
 * it was temporary, as 'hearth record' counts. */
#include "trace_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "command.h"
#include "file.h"
#include "groups.h"
#include "hearth/advice.h"
#include "hearth/indexer.h"
#include "hearth/raw.h"
#include "hearth/trace.h"

trace_profile_kind hearth_trace_profile_kind(const char *path) {
  hearth_file file;
  hearth_error err;
  hearth_raw_header header = {.magic = 0};
  if (hearth_file_map(path, &file, &err) != HEARTH_OK)
    return TRACE_PROFILE_OTHER;
  bool is_trace = hearth_trace_is_trace(file.data, file.size);
  if (file.size >= sizeof header)
    memcpy(&header, file.data, sizeof header);
  hearth_file_close(&file);
  bool is_dump = header.magic == HEARTH_RAW_MAGIC && header.flags & HEARTH_RAW_OCCASION_MASK;
  return is_trace ? TRACE_PROFILE_TRACE : is_dump ? TRACE_PROFILE_HEAP_DUMP : TRACE_PROFILE_OTHER;
}

/* -------------------------------------------------- tallies -------------------------------------------------- */

enum { THREAD_SHIFT = 48 };
#define SEQUENCE     ((UINT64_C(1) << THREAD_SHIFT) - 1)
#define THREADS_MOST 0x7fffu

typedef struct tally {
  uint64_t temporary, foreign, grew, copied_bytes, peak;
  uint64_t live_bytes;
  uint64_t *series; /* of HEARTH_TALLY_MOMENTS; NULL: nothing was live at any of them */
} tally;

typedef struct thread_state {
  uint64_t operations;
  uint64_t realloc_bytes; /* of the block whose reallocation is under way; 0: none is */
} thread_state;

typedef struct tallies {
  tally *rows; /* by node; behind the last one, of blocks without stack */
  size_t count;
  hearth_live_blocks live;
  thread_state *threads;
  size_t thread_count, thread_room;
  uint64_t live_bytes, peak_bytes;
  double step_ns;              /* between moments */
  uint32_t moment;             /* the next one */
  uint64_t events, peak_event; /* operations until now; until the peak */
  uint64_t last_event;         /* those behind it are not looked at */
} tallies;

static tally *row_of(tallies *t, uint32_t stack) {
  return &t->rows[stack == HEARTH_TRACE_NO_STACK ? t->count - 1 : stack];
}

static uint32_t thread_of(const hearth_live_block *block) {
  return (uint32_t)(block->number >> THREAD_SHIFT) & THREADS_MOST;
}

/* Threads beyond the most share the last number: their blocks are not called foreign among each other. */
static hearth_status tally_find_thread(tallies *t, uint32_t *thread, hearth_error *err) {
  *thread = *thread < THREADS_MOST ? *thread : THREADS_MOST;
  return hearth_rows_extend(&t->threads, &t->thread_room, &t->thread_count, (size_t)*thread + 1, sizeof *t->threads,
                            err);
}

/* Take the figures of moments 1, 2 ... up to a time. */
static hearth_status pass_moments(tallies *t, double time_ns, hearth_error *err) {
  for (; t->moment < HEARTH_TALLY_MOMENTS && t->moment * t->step_ns <= time_ns; t->moment++)
    for (size_t i = 0; i < t->count; i++) {
      tally *row = &t->rows[i];
      if (row->live_bytes > 0 && !row->series)
        HEARTH_TRY(hearth_array_create(&row->series, HEARTH_TALLY_MOMENTS, sizeof *row->series, err));
      if (row->series)
        row->series[t->moment] = row->live_bytes;
    }
  return HEARTH_OK;
}

static hearth_status tally_take_allocation(tallies *t, const hearth_trace_event *event, uint32_t thread,
                                           hearth_error *err) {
  thread_state *state = &t->threads[thread];
  hearth_live_block replaced, block = {.address = event->address, .size = event->size, .stack = event->stack};
  block.number = (uint64_t)thread << THREAD_SHIFT | (++state->operations & SEQUENCE);
  if (event->kind == HEARTH_TRACE_REALLOC && state->realloc_bytes > 0 && event->size > state->realloc_bytes) {
    row_of(t, event->stack)->grew++;
    row_of(t, event->stack)->copied_bytes += state->realloc_bytes;
  }
  state->realloc_bytes = 0;
  if (!hearth_live_blocks_add(&t->live, &block, &replaced))
    return hearth_error_nomem(err);
  if (replaced.address)
    row_of(t, replaced.stack)->live_bytes -= replaced.size;
  row_of(t, event->stack)->live_bytes += event->size;
  t->live_bytes += event->size - (replaced.address ? replaced.size : 0);
  if (t->live_bytes > t->peak_bytes) {
    t->peak_bytes = t->live_bytes;
    t->peak_event = t->events;
  }
  return HEARTH_OK;
}

static void tally_take_deallocation(tallies *t, const hearth_trace_event *event, uint32_t thread) {
  hearth_live_block freed;
  thread_state *state = &t->threads[thread];
  if (!hearth_live_blocks_remove(&t->live, event->address, &freed))
    return;
  t->live_bytes -= freed.size;
  row_of(t, freed.stack)->live_bytes -= freed.size;
  if (event->kind == HEARTH_TRACE_REALLOC_FREE) {
    state->realloc_bytes = freed.size;
    return;
  }
  tally *row = row_of(t, freed.stack);
  bool foreign = thread_of(&freed) != thread;
  row->foreign += foreign;
  row->temporary += !foreign && (state->operations & SEQUENCE) == (freed.number & SEQUENCE);
  state->operations++;
}

static hearth_status take_event(void *data, const hearth_trace_event *event, uint32_t thread, hearth_error *err) {
  tallies *t = data;
  if (++t->events > t->last_event || !event->address) /* a failed allocation */
    return HEARTH_OK;
  HEARTH_TRY(pass_moments(t, (double)event->stack_ns, err));
  HEARTH_TRY(tally_find_thread(t, &thread, err));
  if (!hearth_trace_frees(event->kind))
    return tally_take_allocation(t, event, thread, err);
  tally_take_deallocation(t, event, thread);
  return HEARTH_OK;
}

static void tallies_free(tallies *t) {
  hearth_live_blocks_free(&t->live);
  for (size_t i = 0; t->rows && i < t->count; i++)
    free(t->rows[i].series);
  HEARTH_FREE(t->threads, t->rows);
}

/* Again, but only up to the peak: what is live there is live at the peak. */
static hearth_status tally_peak(tallies *t, hearth_trace *trace, hearth_error *err) {
  tallies to_peak = {.count = t->count, .last_event = t->peak_event, .moment = HEARTH_TALLY_MOMENTS};
  hearth_status status = hearth_array_create(&to_peak.rows, t->count, sizeof *t->rows, err);
  HEARTH_THEN(status, hearth_trace_visit(trace, take_event, &to_peak, err));
  for (size_t i = 0; i < t->count && status == HEARTH_OK; i++)
    t->rows[i].peak = to_peak.rows[i].live_bytes;
  tallies_free(&to_peak);
  return status;
}

/* After an error, too, the tallies are to be freed. */
static hearth_status tally_trace(tallies *t, hearth_trace *trace, hearth_error *err) {
  hearth_trace_info info;
  hearth_trace_get_info(trace, &info);
  t->count = info.nodes + 1;
  t->last_event = UINT64_MAX;
  t->step_ns = (double)info.duration_ns / (HEARTH_TALLY_MOMENTS - 1);
  HEARTH_TRY(hearth_array_create(&t->rows, t->count, sizeof *t->rows, err));
  HEARTH_TRY(hearth_trace_visit(trace, take_event, t, err));
  HEARTH_TRY(pass_moments(t, INFINITY, err));
  return tally_peak(t, trace, err);
}

/* -------------------------------------------------- profile -------------------------------------------------- */

static void add_tallies(void *context, hearth_mib *records, size_t count) {
  const tallies *t = context;
  for (size_t i = 0; i < count && i < t->count; i++) {
    records[i].HEARTH_TALLY_TEMPORARY = t->rows[i].temporary;
    records[i].HEARTH_TALLY_FOREIGN = t->rows[i].foreign;
    records[i].HEARTH_TALLY_GREW = t->rows[i].grew;
    records[i].HEARTH_TALLY_COPIED_BYTES = t->rows[i].copied_bytes;
    records[i].HEARTH_TALLY_PEAK = t->rows[i].peak;
  }
}

static hearth_histogram get_series(void *context, size_t node) {
  const uint64_t *series = ((const tallies *)context)->rows[node].series;
  return (hearth_histogram){.counts = series, .size = series ? HEARTH_TALLY_MOMENTS : 0};
}

static void trace_profile_on_note(void *context, hearth_note_level level, const char *text) {
  (void)context;
  if (level == HEARTH_NOTE_WARNING)
    hearth_tool_warning("%s", text);
}

static hearth_status index_with(trace_profile *p, hearth_indexer *indexer, const char *base, const char *path,
                                hearth_error *err) {
  hearth_builder *builder;
  size_t size;
  if (base)
    HEARTH_TRY(hearth_indexer_add_input(indexer, base, err));
  HEARTH_TRY(hearth_indexer_add_input(indexer, path, err));
  HEARTH_TRY(hearth_indexer_result(indexer, path, &builder, err));
  HEARTH_TRY(hearth_builder_write_memory(builder, &p->image, &size, err));
  return hearth_profile_open_memory(p->image, size, path, &p->profile, err);
}

static hearth_status index_inputs(trace_profile *p, const hearth_indexer_options *options, const char *base,
                                  const char *path, hearth_error *err) {
  hearth_indexer *indexer;
  HEARTH_TRY(hearth_indexer_create(options, &indexer, err));
  hearth_status status = index_with(p, indexer, base, path, err);
  hearth_indexer_destroy(indexer);
  return status;
}

bool hearth_trace_profile_open(trace_profile *ret, const char *path, trace_profile_kind kind) {
  bool is_trace = kind == TRACE_PROFILE_TRACE;
  tallies t = {.rows = NULL};
  const hearth_indexer_options options = {.context = &t,
                                          .note = trace_profile_on_note,
                                          .symbols = true,
                                          .trace_records = is_trace ? add_tallies : NULL,
                                          .trace_histogram = is_trace ? get_series : NULL};
  hearth_error err;
  *ret = (trace_profile){0};
  hearth_status status = is_trace ? hearth_trace_open(path, &ret->trace, &err) : HEARTH_OK;
  if (status == HEARTH_OK && is_trace)
    status = tally_trace(&t, ret->trace, &err);
  HEARTH_THEN(status, index_inputs(ret, &options, NULL, path, &err));
  tallies_free(&t);
  if (status != HEARTH_OK)
    hearth_tool_error("%s", err.message);
  return status == HEARTH_OK;
}

bool hearth_trace_profile_join(trace_profile *ret, const char *base, const char *path) {
  hearth_error err;
  *ret = (trace_profile){0};
  hearth_status status = index_inputs(ret, NULL, base, path, &err);
  if (status != HEARTH_OK)
    hearth_tool_error("%s", err.message);
  return status == HEARTH_OK;
}

void hearth_trace_profile_close(trace_profile *both) {
  hearth_profile_close(both->profile);
  hearth_trace_close(both->trace);
  free(both->image);
}
