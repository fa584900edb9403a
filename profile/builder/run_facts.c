/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Facts of the runs, and their live bytes over time. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "builder_tables.h"

/* Facts of runs. Commands form a lattice of three levels: unknown, one command, and commands that differ; merging
 * goes up to the least level above both. So any tree of merges has one result. */

static hearth_status add_command(hearth_builder *builder, const char *command, hearth_error *err) {
  builder_run_facts *known = &builder->run_facts;
  if (!known->has_command && !known->commands_differ) {
    HEARTH_TRY(hearth_builder_intern_string(builder, command, &known->command, err));
    known->has_command = true;
  } else if (known->has_command && strcmp(builder->pool + known->command, command) != 0) {
    known->has_command = false;
    known->commands_differ = true;
  }
  return HEARTH_OK;
}

hearth_status hearth_builder_add_run_facts(hearth_builder *builder, const hearth_run_facts *facts, hearth_error *err) {
  builder_run_facts *known = &builder->run_facts;
  known->peak_bytes = hearth_merge_MAX(known->peak_bytes, facts->peak_bytes);
  known->last_day = facts->last_day > known->last_day ? facts->last_day : known->last_day;
  if (facts->first_day - 1 < known->first_day - 1) /* 0 is the greatest */
    known->first_day = facts->first_day;
  if (facts->commands_differ) {
    known->commands_differ = true;
    known->has_command = false;
  }
  return *facts->command ? add_command(builder, facts->command, err) : HEARTH_OK;
}

hearth_run_facts hearth_builder_run_facts(const hearth_builder *builder) {
  const builder_run_facts *known = &builder->run_facts;
  return (hearth_run_facts){.peak_bytes = known->peak_bytes,
                            .first_day = known->first_day,
                            .last_day = known->last_day,
                            .command = known->has_command ? builder->pool + known->command : "",
                            .commands_differ = known->commands_differ};
}

/* ------------------------------------------------ live history ------------------------------------------------ */

/* Histories are sums, point by point, as all runs have the same number of points: the result does not depend on the
 * order. */

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
  HEARTH_TRY(hearth_check_memory(sum->rows[context], err));
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
