/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Canonical order of an indexed profile's tables. Each pass is a sort or a counting sort over one table, so the cost is
 * close to linear in the output; nothing depends on the order of arrival. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/classify.h"
#include "writer.h"

static hearth_status renumbering_create(writer *w, renumbering *table, size_t rows) {
  HEARTH_TRY(hearth_array_create(&table->order, rows, sizeof *table->order, w->err));
  HEARTH_TRY(hearth_array_create(&table->rank, rows, sizeof *table->rank, w->err));
  memset(table->rank, 0xff, rows * sizeof *table->rank);
  return HEARTH_OK;
}

static void renumbering_append(renumbering *table, uint32_t row) {
  table->rank[row] = table->count;
  table->order[table->count++] = row;
}

/* While marking, any rank but HEARTH_NONE means "needed". */
hearth_status hearth_writer_mark_needed(writer *w) {
  const hearth_builder *b = w->builder;
  HEARTH_TRY(renumbering_create(w, &w->functions, b->function_count));
  HEARTH_TRY(renumbering_create(w, &w->frames, b->frame_count));
  HEARTH_TRY(renumbering_create(w, &w->nodes, b->node_count));
  HEARTH_TRY(renumbering_create(w, &w->contexts, b->context_count));
  for (size_t i = 0; i < b->context_count; i++) {
    uint32_t node = b->context_nodes[i];
    while (node != HEARTH_NONE && w->nodes.rank[node] == HEARTH_NONE) {
      uint32_t frame = b->nodes[node].frame;
      w->nodes.rank[node] = 0;
      w->frames.rank[frame] = 0;
      w->functions.rank[b->frames[frame].function] = 0;
      node = b->nodes[node].parent;
    }
  }
  for (size_t i = 0; i < b->frame_count; i++) /* contexts of another profile may have them */
    if (b->frames[i].recursive)
      w->frames.rank[i] = w->functions.rank[b->frames[i].function] = 0;
  return HEARTH_OK;
}

typedef struct function_key {
  uint64_t id;
  uint32_t row;
} function_key;

hearth_status hearth_writer_order_functions(writer *w) {
  const hearth_builder *b = w->builder;
  function_key *keys;
  size_t n = 0;
  HEARTH_TRY(hearth_array_create(&keys, b->function_count, sizeof *keys, w->err));
  for (uint32_t i = 0; i < b->function_count; i++)
    if (w->functions.rank[i] != HEARTH_NONE)
      keys[n++] = (function_key){b->functions[i].id, i};
  qsort(keys, n, sizeof *keys, hearth_compare_u64);
  for (size_t i = 0; i < n; i++)
    renumbering_append(&w->functions, keys[i].row);
  free(keys);
  return HEARTH_OK;
}

typedef struct frame_key {
  uint32_t field[5]; /* function's new number, line, column, discriminator, flags */
  uint32_t row;
} frame_key;

static int compare_frame_keys(const void *a, const void *b) {
  const frame_key *x = a, *y = b;
  for (size_t i = 0; i < 5; i++)
    if (x->field[i] != y->field[i])
      return x->field[i] < y->field[i] ? -1 : 1;
  return 0;
}

hearth_status hearth_writer_order_frames(writer *w) {
  const hearth_builder *b = w->builder;
  frame_key *keys;
  size_t n = 0;
  HEARTH_TRY(hearth_array_create(&keys, b->frame_count, sizeof *keys, w->err));
  for (uint32_t i = 0; i < b->frame_count; i++) {
    const builder_frame *f = &b->frames[i];
    if (w->frames.rank[i] != HEARTH_NONE)
      keys[n++] =
          (frame_key){{w->functions.rank[f->function], f->line, f->column, f->discriminator, f->flags}, .row = i};
  }
  qsort(keys, n, sizeof *keys, compare_frame_keys);
  for (size_t i = 0; i < n; i++)
    renumbering_append(&w->frames, keys[i].row);
  free(keys);
  return HEARTH_OK;
}

uint32_t hearth_writer_node_frame(const writer *w, uint32_t node) {
  return w->frames.rank[w->builder->nodes[node].frame];
}

static uint32_t context_frame(const writer *w, uint32_t context) {
  return hearth_writer_node_frame(w, w->builder->context_nodes[context]);
}

/* By (leaf frame, node): a stable counting sort by frame of the contexts in the order of their nodes. */
hearth_status hearth_writer_order_contexts(writer *w) {
  const hearth_builder *b = w->builder;
  uint32_t *starts; /* of each frame's contexts; when all are there, their ends */
  HEARTH_TRY(hearth_array_create(&starts, w->frames.count, sizeof *starts, w->err));
  w->context_ends = starts;
  for (uint32_t i = 0; i < b->context_count; i++)
    starts[context_frame(w, i) + 1]++;
  for (uint32_t frame = 0; frame < w->frames.count; frame++)
    starts[frame + 1] += starts[frame];
  for (uint32_t i = 0; i < w->nodes.count; i++) {
    uint32_t context = b->nodes[w->nodes.order[i]].context;
    if (context != HEARTH_NONE && w->leaves[context] == i)
      w->contexts.order[starts[context_frame(w, context)]++] = context;
  }
  w->contexts.count = (uint32_t)b->context_count;
  return HEARTH_OK;
}

static int compare_binaries(const void *a, const void *b, const char *pool) {
  const builder_binary *x = a, *y = b;
  int names = strcmp(pool + x->name, pool + y->name);
  if (names != 0)
    return names;
  int ids = memcmp(x->build_id, y->build_id, sizeof x->build_id);
  return ids != 0 ? ids : (x->build_id_size > y->build_id_size) - (x->build_id_size < y->build_id_size);
}

/* By (name, build id); insertion sort, as a run has a few dozen binaries at most. */
hearth_status hearth_writer_order_binaries(writer *w) {
  const hearth_builder *b = w->builder;
  HEARTH_TRY(hearth_array_create(&w->binaries, b->binary_count, sizeof *w->binaries, w->err));
  for (size_t i = 0; i < b->binary_count; i++) {
    size_t at = i;
    for (; at > 0 && compare_binaries(&w->binaries[at - 1], &b->binaries[i], b->pool) > 0; at--)
      w->binaries[at] = w->binaries[at - 1];
    w->binaries[at] = b->binaries[i];
  }
  return HEARTH_OK;
}

/* ------------------------------------------------ summary ------------------------------------------------ */

/* The summary: totals over all contexts, and the densities at which contexts are hot, for several shares. */

static const uint32_t hot_shares_ppm[] = {500000, 800000, HEARTH_HOT_SHARE_PPM, 950000, 990000};

enum { CUTOFFS = sizeof hot_shares_ppm / sizeof hot_shares_ppm[0] };

bool hearth_writer_accesses_counted(const writer *w) {
  return w->builder->has_runs && w->builder->runs.accesses_counted;
}

static void summary_add_totals(const writer *w, hearth_indexed_summary *summary) {
  for (size_t i = 0; i < w->builder->context_count; i++) {
    const hearth_mib *mib = &w->builder->mibs[i];
    summary->total_allocs = hearth_merge_SUM(summary->total_allocs, mib->AllocCount);
    summary->total_bytes = hearth_merge_SUM(summary->total_bytes, mib->TotalSize);
    summary->total_accesses = hearth_merge_SUM(summary->total_accesses, mib->TotalAccessCount);
  }
}

/* The values of one context that the cutoffs need. */
typedef struct density_point {
  double density; /* hearth_mib_density() */
  uint64_t accesses;
} density_point;

static int compare_points(const void *a, const void *b) {
  const density_point *x = a, *y = b;
  return (x->density > y->density) - (x->density < y->density);
}

/* Greatest density such that the points from it upwards hold together at least this share of all accesses; infinity if
 * there are none. Points of one density are taken or left together, so that order does not matter; shares are of
 * integers, where rounding cannot depend on it. */
static double hot_cutoff(const density_point *sorted, size_t n, uint64_t total, uint32_t share_ppm) {
  double cutoff = INFINITY;
  uint64_t held = 0;
  for (size_t i = n; i > 0 && (unsigned __int128)held * 1000000 < (unsigned __int128)total * share_ppm;) {
    cutoff = sorted[i - 1].density;
    for (; i > 0 && sorted[i - 1].density == cutoff; i--)
      held = hearth_merge_SUM(held, sorted[i - 1].accesses);
  }
  return cutoff;
}

static hearth_status fill_cutoffs(writer *w, hearth_indexed_summary *summary, hearth_indexed_cutoff *cutoffs) {
  density_point *points;
  size_t n = 0;
  HEARTH_TRY(hearth_array_create(&points, w->contexts.count, sizeof *points, w->err));
  for (uint32_t i = 0; i < w->contexts.count; i++) {
    hearth_mib mib;
    if (writer_unscoped_context(w, i) != i)
      continue;
    hearth_writer_get_classified(w, i, &mib);
    points[n++] = (density_point){hearth_mib_density(&mib), mib.TotalAccessCount};
  }
  qsort(points, n, sizeof *points, compare_points);
  for (size_t i = 0; i < CUTOFFS; i++)
    *cutoffs++ = (hearth_indexed_cutoff){.share_ppm = hot_shares_ppm[i],
                                         .density = hot_cutoff(points, n, summary->total_accesses, hot_shares_ppm[i])};
  summary->cutoffs = CUTOFFS;
  free(points);
  return HEARTH_OK;
}

/* The cutoff of the greatest share up to this one, as readers have it (hearth_profile_get_hot_cutoff). Shares
 * ascend. */
static double cutoff_of(const hearth_indexed_cutoff *cutoffs, uint32_t share_ppm) {
  double density = INFINITY;
  for (size_t i = 0; i < CUTOFFS && cutoffs[i].share_ppm <= share_ppm; i++)
    density = cutoffs[i].density;
  return density;
}

hearth_classifier hearth_writer_classifier(const writer *w, const hearth_classify_options *options) {
  hearth_classifier classifier;
  hearth_profile_summary runs = w->builder->runs;
  const hearth_indexed_summary *written = (const void *)w->sections[HEARTH_SECTION_SUMMARY].data;
  runs.accesses_counted = hearth_writer_accesses_counted(w);
  runs.total_bytes = written->total_bytes;
  runs.total_accesses = written->total_accesses;
  if (hearth_classifier_begin(&classifier, &runs, options))
    classifier.hot_min_density = cutoff_of((const void *)(written + 1), hearth_hot_share_ppm(options));
  return classifier;
}

hearth_status hearth_writer_summarise(writer *w) {
  const hearth_profile_summary *runs = &w->builder->runs;
  size_t cutoffs = hearth_writer_accesses_counted(w) ? CUTOFFS : 0;
  hearth_indexed_summary *summary;
  HEARTH_TRY(hearth_writer_add_section(w, HEARTH_SECTION_SUMMARY, 1,
                                       sizeof *summary + cutoffs * sizeof(hearth_indexed_cutoff), &summary));
  *summary = (hearth_indexed_summary){.runs = runs->runs,
                                      .duration_ns = runs->duration_ns,
                                      .dropped_blocks = runs->dropped_blocks,
                                      .dropped_frames = runs->dropped_frames};
  summary_add_totals(w, summary);
  if (cutoffs)
    HEARTH_TRY(fill_cutoffs(w, summary, (hearth_indexed_cutoff *)(summary + 1)));
  return HEARTH_OK;
}

hearth_variance hearth_writer_get_variance(const writer *w, uint32_t context) {
  if (w->sections[HEARTH_SECTION_VARIANCES].count == 0) /* of one run, whose contexts without scopes are no runs */
    return (hearth_variance){{0}};
  return w->unscoped_contexts ? w->unscoped_variances[writer_unscoped_context(w, context)]
                              : hearth_builder_variance(w->builder, context);
}

void hearth_writer_get_classified(const writer *w, uint32_t context, hearth_mib *ret) {
  *ret = w->unscoped_contexts ? w->unscoped_sums[writer_unscoped_context(w, context)] : w->builder->mibs[context];
}
