/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The summary: totals over all contexts, and the densities at which contexts are hot, for several shares (classify.c). */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "cutoffs.h"
#include "writer.h"

static const uint32_t hot_shares_ppm[] = {500000, 800000, HEARTH_HOT_SHARE_PPM, 950000, 990000};

enum { CUTOFFS = sizeof hot_shares_ppm / sizeof hot_shares_ppm[0] };

bool hearth_writer_accesses_counted(const writer *w) {
  return w->builder->has_runs && w->builder->runs.accesses_counted;
}

static void summary_add_totals(const writer *w, hearth_indexed_summary *summary) {
  const mib_rows *mibs = &w->builder->mibs;
  for (size_t i = 0; i < mibs->count; i++) {
    summary->total_allocs = hearth_merge_SUM(summary->total_allocs, mib_rows_number(mibs, i, HEARTH_COL_AllocCount));
    summary->total_bytes = hearth_merge_SUM(summary->total_bytes, mib_rows_number(mibs, i, HEARTH_COL_TotalSize));
    summary->total_accesses =
        hearth_merge_SUM(summary->total_accesses, mib_rows_number(mibs, i, HEARTH_COL_TotalAccessCount));
  }
}

static hearth_status fill_cutoffs(writer *w, hearth_indexed_summary *summary, hearth_indexed_cutoff *cutoffs) {
  hearth_density_point *points;
  size_t n = 0;
  HEARTH_TRY(hearth_array_create(&points, w->contexts.count, sizeof *points, w->err));
  for (uint32_t i = 0; i < w->contexts.count; i++) {
    hearth_mib mib;
    if (writer_unscoped_context(w, i) != i)
      continue;
    hearth_writer_get_classified(w, i, &mib);
    points[n++] = hearth_density_point_of(&mib);
  }
  if (!hearth_density_points_sort(points, n)) {
    free(points);
    return hearth_error_nomem(w->err);
  }
  for (size_t i = 0; i < CUTOFFS; i++)
    *cutoffs++ =
        (hearth_indexed_cutoff){.share_ppm = hot_shares_ppm[i],
                                .density = hearth_hot_cutoff(points, n, summary->total_accesses, hot_shares_ppm[i])};
  summary->cutoffs = CUTOFFS;
  if (w->variance_count > 0)
    w->densities = hearth_density_order_of_points(points, n);
  free(points);
  return hearth_check_memory(w->densities || w->variance_count == 0, w->err);
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
  const hearth_indexed_summary *written = (const void *)w->summary.data;
  runs.accesses_counted = hearth_writer_accesses_counted(w);
  runs.total_bytes = written->total_bytes;
  runs.total_accesses = written->total_accesses;
  if (hearth_classifier_begin(&classifier, &runs, options))
    classifier.hot_min_density = cutoff_of((const void *)(written + 1), hearth_hot_share_ppm(options));
  return classifier;
}

static void find_cold(writer *w) {
  const hearth_classify_options standard = {0};
  hearth_classifier classifier = hearth_writer_classifier(w, &standard);
  for (uint32_t i = 0; i < w->contexts.count && !w->any_cold; i++) {
    hearth_mib mib = {0};
    hearth_writer_get_classified(w, i, &mib);
    w->any_cold = hearth_classify(&classifier, &mib) == HEARTH_CLASS_COLD;
  }
}

hearth_status hearth_writer_summarise(writer *w) {
  const hearth_profile_summary *runs = &w->builder->runs;
  size_t cutoffs = hearth_writer_accesses_counted(w) ? CUTOFFS : 0;
  w->summary.size = sizeof(hearth_indexed_summary) + cutoffs * sizeof(hearth_indexed_cutoff);
  HEARTH_TRY(hearth_array_create(&w->summary.data, w->summary.size, 1, w->err));
  hearth_indexed_summary *summary = (hearth_indexed_summary *)w->summary.data;
  *summary = (hearth_indexed_summary){.runs = runs->runs,
                                      .duration_ns = runs->duration_ns,
                                      .dropped_blocks = runs->dropped_blocks,
                                      .dropped_frames = runs->dropped_frames};
  summary_add_totals(w, summary);
  if (cutoffs)
    HEARTH_TRY(fill_cutoffs(w, summary, (hearth_indexed_cutoff *)(summary + 1)));
  find_cold(w);
  return HEARTH_OK;
}

hearth_variance hearth_writer_get_variance(const writer *w, uint32_t context) {
  return w->unscoped_contexts ? w->unscoped_variances[writer_unscoped_context(w, context)]
                              : hearth_builder_variance(w->builder, context);
}

void hearth_writer_get_classified(const writer *w, uint32_t context, hearth_mib *ret) {
  if (w->unscoped_contexts)
    *ret = w->unscoped_sums[writer_unscoped_context(w, context)];
  else
    hearth_mib_rows_get(&w->builder->mibs, context, ret);
}
