/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Massif's file, as massif/ms_main.c of Valgrind writes it: a snapshot for each point of the history, and one of the
 * peak, which has a tree: of each function that allocates, its callers. Frame rows stand for addresses. Of several
 * runs, averages. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "exporter.h"
#include "hearth/profile.h"

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

static hearth_status export_history(massif *m, const hearth_heap_history *history, hearth_error *err) {
  if (history->runs == 0)
    return hearth_error_set(err, HEARTH_E_NOT_FOUND, "%s: has no history of the heap: record anew",
                            m->exporter->options->title);
  m->rows = calloc((size_t)hearth_profile_context_count(m->exporter->profile) + 1, sizeof *m->rows);
  HEARTH_TRY(hearth_check_memory(m->rows, err));
  HEARTH_TRY(hearth_export_each(m->exporter, add_held, m, err));
  qsort(m->rows, m->count, sizeof *m->rows, compare_stacks);
  return massif_print_all(m, history, err);
}

hearth_status hearth_export_massif(hearth_exporter *e, hearth_error *err) {
  massif m = {.exporter = e};
  hearth_heap_history history;
  HEARTH_TRY(hearth_profile_get_history(e->profile, &history, err));
  hearth_status status = export_history(&m, &history, err);
  for (size_t i = 0; i < m.count; i++)
    free(m.rows[i].frames);
  free(m.rows);
  hearth_heap_history_free(&history);
  return status;
}
