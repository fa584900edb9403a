/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Histories are sums, point by point, as all runs have the same number of points: the result does not depend on the order. */
#include <stdlib.h>

#include "array.h"
#include "builder_tables.h"

static void add_points(uint64_t *to, const uint64_t *from, uint64_t weight) {
  for (size_t i = 0; i < HEARTH_RAW_POINTS; i++)
    to[i] = hearth_merge_SUM(to[i], hearth_repeat_SUM(from[i], weight));
}

hearth_status hearth_builder_add_history(hearth_builder *builder, const hearth_heap_history *history,
                                         hearth_error *err) {
  builder_history *sum = &builder->history;
  (void)err; /* for the same signature as its siblings: it cannot fail */
  sum->runs = hearth_merge_SUM(sum->runs, hearth_repeat_SUM(history->runs, builder->weight));
  sum->peak_ppm = hearth_merge_SUM(sum->peak_ppm, hearth_repeat_SUM(history->peak_ppm, builder->weight));
  add_points(sum->levels, history->levels, builder->weight);
  return HEARTH_OK;
}

hearth_status hearth_builder_add_levels(hearth_builder *builder, uint32_t node, const uint64_t *levels,
                                        hearth_error *err) {
  builder_history *sum = &builder->history;
  uint32_t context = builder->nodes[node].context;
  if (context == HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(hearth_rows_extend(&sum->rows, &sum->room, &sum->count, context + 1, sizeof *sum->rows, err));
  if (!sum->rows[context])
    sum->rows[context] = calloc(HEARTH_RAW_POINTS, sizeof **sum->rows);
  if (!sum->rows[context])
    return hearth_error_nomem(err);
  add_points(sum->rows[context], levels, builder->weight);
  return HEARTH_OK;
}

const uint64_t *hearth_builder_levels(const hearth_builder *builder, size_t context) {
  return context < builder->history.count ? builder->history.rows[context] : NULL;
}

void hearth_builder_free_history(builder_history *history) {
  for (size_t i = 0; i < history->count; i++)
    free(history->rows[i]);
  free(history->rows);
}
