/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Formats for the heap over time, of the profile's history; of several runs, averages. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "exporter.h"
#include "hearth/json_writer.h"
#include "hearth/profile.h"

/* -------------------------------------------------- massif -------------------------------------------------- */

/* Massif's file, as massif/ms_main.c of Valgrind writes it: a snapshot for each point of the history, and one of the
 * peak, which has a tree: of each function that allocates, its callers. Frame rows stand for addresses. */

enum {
  LEAST_SHARE = 100, /* smaller parts of the peak are summed up in one line, as massif does */
  DEEPEST = 1000     /* callers of more have no lines: a stack may be deeper than this process's own */
};

typedef struct held {
  uint64_t bytes;
  uint32_t *frames; /* leaf first */
  size_t count;
} held;

typedef struct massif {
  hearth_exporter *exporter;
  held *rows; /* by frames */
  size_t count;
  uint64_t whole;
} massif;

static hearth_status add_held(hearth_exporter *e, const hearth_selected *selected, void *state, hearth_error *err) {
  massif *m = state;
  held row = {selected->mib.PeakBytes, malloc((e->frames.count + 1) * sizeof *row.frames), e->frames.count};
  if (row.bytes == 0 || !row.frames) {
    free(row.frames);
    return row.bytes == 0 ? HEARTH_OK : hearth_error_nomem(err);
  }
  memcpy(row.frames, e->frames.frames, e->frames.count * sizeof *row.frames);
  m->rows[m->count++] = row;
  m->whole += row.bytes;
  return HEARTH_OK;
}

static int compare_stacks(const void *x, const void *y) {
  const held *a = x, *b = y;
  for (size_t i = 0; i < a->count && i < b->count; i++)
    if (a->frames[i] != b->frames[i])
      return a->frames[i] < b->frames[i] ? -1 : 1;
  return (a->count > b->count) - (a->count < b->count);
}

/* Rows that have one frame at a depth. */
typedef struct branch {
  size_t first, end;
  uint64_t bytes;
} branch;

static int compare_branches(const void *x, const void *y) {
  const branch *a = x, *b = y;
  if (a->bytes != b->bytes)
    return a->bytes > b->bytes ? -1 : 1;
  return (a->first > b->first) - (a->first < b->first);
}

/* Those of `of` that have a frame there; NULL: no memory. */
static branch *find_branches(const massif *m, const branch *of, size_t depth, size_t *ret_count) {
  branch *found = malloc((of->end - of->first + 1) * sizeof *found);
  *ret_count = 0;
  for (size_t i = of->first; found && i < of->end; i++) {
    const held *row = &m->rows[i];
    if (row->count <= depth)
      continue;
    branch *last = *ret_count > 0 ? &found[*ret_count - 1] : NULL;
    if (!last || m->rows[last->first].frames[depth] != row->frames[depth]) {
      last = &found[(*ret_count)++];
      *last = (branch){.first = i};
    }
    last->end = i + 1;
    last->bytes += row->bytes;
  }
  if (found)
    qsort(found, *ret_count, sizeof *found, compare_branches);
  return found;
}

static hearth_status print_place(const massif *m, uint32_t frame, hearth_error *err) {
  hearth_exporter *e = m->exporter;
  hearth_place place;
  HEARTH_TRY(hearth_place_get(e->profile, &e->names, frame, &place, err));
  fprintf(e->stream, "0x%" PRIX32 ": %s (%s", frame, place.function.name,
          *place.function.path ? place.function.path : "???");
  if (place.line)
    fprintf(e->stream, ":%" PRIu32, place.line);
  fputs(")\n", e->stream);
  return HEARTH_OK;
}

/* The line of a branch, whose frame is at `depth` - 1, and those of its callers below it. */
static hearth_status print_branch(const massif *m, const branch *of, size_t depth, uint64_t runs, hearth_error *err) {
  FILE *out = m->exporter->stream;
  size_t count, shown = 0;
  uint64_t rest = 0;
  branch *below = find_branches(m, of, depth, &count);
  HEARTH_TRY(hearth_check_memory(below, err));
  if (depth == DEEPEST)
    count = 0;
  while (shown < count && below[shown].bytes >= m->whole / LEAST_SHARE)
    shown++;
  for (size_t i = shown; i < count; i++)
    rest += below[i].bytes;
  fprintf(out, "%*sn%zu: %" PRIu64 " ", (int)depth, "", shown + (count > shown), of->bytes / runs);
  hearth_status status = HEARTH_OK;
  if (depth == 0)
    fputs("(heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n", out);
  else
    status = print_place(m, m->rows[of->first].frames[depth - 1], err);
  for (size_t i = 0; i < shown && status == HEARTH_OK; i++)
    status = print_branch(m, &below[i], depth + 1, runs, err);
  if (count > shown && status == HEARTH_OK)
    fprintf(out, "%*sn0: %" PRIu64 " in %zu place%s, below 1%% of the peak\n", (int)depth + 1, "", rest / runs,
            count - shown, count - shown == 1 ? "" : "s");
  free(below);
  return status;
}

static void print_snapshot(FILE *out, unsigned number, double ms, uint64_t bytes, const char *tree) {
  fprintf(out,
          "#-----------\nsnapshot=%u\n#-----------\ntime=%.3f\nmem_heap_B=%" PRIu64
          "\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
          number, ms, bytes, tree);
}

static hearth_status massif_print_all(const massif *m, const hearth_heap_history *history, hearth_error *err) {
  FILE *out = m->exporter->stream;
  const hearth_profile_summary *summary = &m->exporter->summary;
  const branch all = {0, m->count, m->whole};
  double ms = (double)summary->duration_ns / 1e6 / (double)(summary->runs ? summary->runs : 1);
  double peak = (double)history->peak_ppm / (double)history->runs / 1e6 * HEARTH_RAW_POINTS;
  unsigned number = 0;
  bool is_past = false;
  fprintf(out, "desc: exported by hearth\ncmd: %s\ntime_unit: ms\n", m->exporter->options->title);
  for (unsigned i = 0; i <= HEARTH_RAW_POINTS; i++) {
    if (!is_past && (i + 0.5 > peak || i == HEARTH_RAW_POINTS)) {
      is_past = true;
      print_snapshot(out, number++, ms * peak / HEARTH_RAW_POINTS, m->whole / history->runs, "peak");
      HEARTH_TRY(print_branch(m, &all, 0, history->runs, err));
    }
    if (i < HEARTH_RAW_POINTS)
      print_snapshot(out, number++, ms * (i + 0.5) / HEARTH_RAW_POINTS, history->levels[i] / history->runs, "empty");
  }
  return HEARTH_OK;
}

static hearth_status write_massif(hearth_exporter *e, const hearth_heap_history *history, hearth_error *err) {
  massif m = {.exporter = e};
  hearth_status status = hearth_array_create(&m.rows, hearth_profile_context_count(e->profile), sizeof *m.rows, err);
  HEARTH_THEN(status, hearth_export_each(e, add_held, &m, err));
  if (status == HEARTH_OK) {
    qsort(m.rows, m.count, sizeof *m.rows, compare_stacks);
    status = massif_print_all(&m, history, err);
  }
  for (size_t i = 0; i < m.count; i++)
    free(m.rows[i].frames);
  free(m.rows);
  return status;
}

/* -------------------------------------------------- Chrome -------------------------------------------------- */

/* Chrome's JSON trace format, for Perfetto and chrome://tracing: counter events (phase "C") of the live bytes in all and
 * by the functions that held most, and an instant event at the peak. Microseconds. Source: Chromium's "Trace Event
 * Format". */

enum { MOST_FUNCTIONS = 20 };

/* Of the functions of one name. */
typedef struct series {
  const char *name;
  uint32_t first; /* context of it */
  uint64_t most;
  uint64_t levels[HEARTH_RAW_POINTS];
} series;

typedef struct counters {
  const hearth_heap_history *history;
  series *rows; /* as many as the history has, or fewer */
  size_t count, at;
  uint64_t shown[HEARTH_RAW_POINTS]; /* by all rows */
} counters;

static series *find_series(counters *c, const char *name, uint32_t context) {
  size_t i = 0;
  while (i < c->count && strcmp(c->rows[i].name, name) != 0)
    i++;
  if (i == c->count)
    c->rows[c->count++] = (series){.name = name, .first = context};
  return &c->rows[i];
}

/* Contexts ascend, as those of the history do. */
static hearth_status counter_add_context(hearth_exporter *e, const hearth_selected *selected, void *state,
                                         hearth_error *err) {
  counters *c = state;
  uint32_t frame;
  hearth_frame_info owner;
  const char *name;
  while (c->at < c->history->count && c->history->rows[c->at].context < selected->context)
    c->at++;
  if (c->at == c->history->count || c->history->rows[c->at].context != selected->context || e->frames.count == 0)
    return HEARTH_OK;
  HEARTH_TRY(hearth_names_owner(&e->names, selected->node, &frame, err));
  HEARTH_TRY(hearth_profile_get_frame(e->profile, frame, &owner, err));
  HEARTH_TRY(hearth_names_get(&e->names, owner.function, &name, err));
  series *row = find_series(c, name, selected->context);
  for (size_t i = 0; i < HEARTH_RAW_POINTS; i++)
    row->levels[i] += c->history->rows[c->at].levels[i];
  return HEARTH_OK;
}

static int compare_series(const void *a, const void *b) {
  const series *x = a, *y = b;
  if (x->most != y->most)
    return x->most > y->most ? -1 : 1;
  return (x->first > y->first) - (x->first < y->first);
}

static void keep_heaviest(counters *c) {
  for (size_t i = 0; i < c->count; i++)
    for (size_t k = 0; k < HEARTH_RAW_POINTS; k++)
      if (c->rows[i].levels[k] > c->rows[i].most)
        c->rows[i].most = c->rows[i].levels[k];
  qsort(c->rows, c->count, sizeof *c->rows, compare_series);
  if (c->count > MOST_FUNCTIONS)
    c->count = MOST_FUNCTIONS;
  for (size_t i = 0; i < c->count; i++)
    for (size_t k = 0; k < HEARTH_RAW_POINTS; k++)
      c->shown[k] += c->rows[i].levels[k];
}

static void counter_begin_event(hearth_json *json, const char *phase, const char *name, double us) {
  hearth_json_print(json, "\n{ph:%s, cat:\"heap\", name:%s, pid:1, tid:1, ts:%f", phase, name, us);
}

static void end_event(hearth_json *json) { hearth_json_print(json, "}}"); }

static void write_by_function(const counters *c, hearth_json *json, size_t point) {
  uint64_t runs = c->history->runs, all = c->history->levels[point];
  for (size_t i = 0; i < c->count; i++)
    hearth_json_key_uint(json, c->rows[i].name, c->rows[i].levels[point] / runs);
  hearth_json_key_uint(json, "(others)", all > c->shown[point] ? (all - c->shown[point]) / runs : 0);
}

static void counter_write_point(const counters *c, hearth_json *json, double us, size_t point) {
  counter_begin_event(json, "C", "live bytes", us);
  hearth_json_print(json, "args:{all:%lu", c->history->levels[point] / c->history->runs);
  end_event(json);
  counter_begin_event(json, "C", "live bytes by function", us);
  hearth_json_key_object(json, "args");
  write_by_function(c, json, point);
  end_event(json);
}

static void counter_write_events(hearth_exporter *e, const counters *c) {
  hearth_json json = {.stream = e->stream};
  double run_us = (double)e->summary.duration_ns / 1000 / (double)(e->summary.runs ? e->summary.runs : 1);
  hearth_json_print(&json, "{traceEvents:[");
  counter_begin_event(&json, "M", "process_name", 0);
  hearth_json_print(&json, "args:{name:%s", e->options->title);
  end_event(&json);
  counter_begin_event(&json, "i", "peak", (double)hearth_history_peak_ns(c->history, &e->summary) / 1e3);
  hearth_json_print(&json, "s:\"p\", args:{");
  end_event(&json);
  for (size_t i = 0; i < HEARTH_RAW_POINTS; i++)
    counter_write_point(c, &json, run_us * (double)i / HEARTH_RAW_POINTS, i);
  hearth_json_print(&json, "]}");
  fputc('\n', e->stream);
}

static hearth_status write_counters(hearth_exporter *e, const hearth_heap_history *history, hearth_error *err) {
  counters c = {.history = history};
  hearth_status status = hearth_array_create(&c.rows, history->count, sizeof *c.rows, err);
  HEARTH_THEN(status, hearth_export_each(e, counter_add_context, &c, err));
  if (status == HEARTH_OK) {
    keep_heaviest(&c);
    counter_write_events(e, &c);
  }
  free(c.rows);
  return status;
}

/* ------------------------------------------------- both ------------------------------------------------- */

hearth_status hearth_export_history(hearth_exporter *e, hearth_export_format format, hearth_error *err) {
  hearth_heap_history history;
  HEARTH_TRY(hearth_profile_get_history(e->profile, &history, err));
  hearth_status status =
      history.runs == 0
          ? hearth_error_set(err, HEARTH_E_NOT_FOUND, "%s: has no history of the heap: record anew", e->options->title)
      : format == HEARTH_EXPORT_MASSIF ? write_massif(e, &history, err)
                                       : write_counters(e, &history, err);
  hearth_heap_history_free(&history);
  return status;
}
