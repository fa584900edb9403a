/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Origins of runs: few rows, found by looking at all of them. A row that finds no room makes all of them coarser. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "builder_tables.h"

static builder_origin make_coarse(builder_origin row, uint32_t granularity) {
  if (granularity >= HEARTH_ORIGINS_BY_WEEK)
    row.day = hearth_origin_week(row.day);
  if (granularity >= HEARTH_ORIGINS_NO_HOST)
    row.host = HEARTH_NONE;
  if (granularity >= HEARTH_ORIGINS_BUILDS)
    row.day = 0;
  if (granularity >= HEARTH_ORIGINS_ONE) {
    memset(row.build_id, 0, sizeof row.build_id);
    row.build_id_size = 0;
  }
  return row;
}

static bool origin_rows_are_equal(const builder_origin *a, const builder_origin *b) {
  return a->host == b->host && a->day == b->day && a->build_id_size == b->build_id_size &&
         memcmp(a->build_id, b->build_id, sizeof a->build_id) == 0;
}

/* False: there is no room. */
static bool add_coarse(builder_origins *o, const builder_origin *row) {
  builder_origin added = make_coarse(*row, o->granularity);
  size_t i = 0;
  while (i < o->count && !origin_rows_are_equal(&o->rows[i], &added))
    i++;
  if (i == HEARTH_ORIGINS_MOST)
    return false;
  if (i == o->count) {
    o->rows[o->count++] = added;
    return true;
  }
  o->rows[i].runs = hearth_merge_SUM(o->rows[i].runs, added.runs);
  o->rows[i].total_bytes = hearth_merge_SUM(o->rows[i].total_bytes, added.total_bytes);
  return true;
}

void hearth_builder_raise_origins(hearth_builder *builder, uint32_t granularity) {
  builder_origins *o = &builder->origins;
  size_t count = o->count;
  if (granularity <= o->granularity)
    return;
  o->granularity = granularity;
  o->count = 0;
  for (size_t i = 0; i < count; i++) { /* there are never more than were read */
    builder_origin row = o->rows[i];
    add_coarse(o, &row);
  }
}

hearth_status hearth_builder_add_origin(hearth_builder *builder, const hearth_origin *origin, hearth_error *err) {
  bool has_bytes = !(builder->unrecorded & UINT64_C(1) << HEARTH_COL_TotalSize);
  builder_origin row = {.host = HEARTH_NONE,
                        .day = origin->day,
                        .build_id_size = origin->build_id_size,
                        .runs = hearth_repeat_SUM(origin->runs, builder->weight),
                        .total_bytes = has_bytes ? hearth_repeat_SUM(origin->total_bytes, builder->weight) : 0};
  if (row.runs == 0 && row.total_bytes == 0)
    return HEARTH_OK;
  memcpy(row.build_id, origin->build_id, sizeof row.build_id);
  if (*origin->host)
    HEARTH_TRY(hearth_builder_intern_string(builder, origin->host, &row.host, err));
  while (!add_coarse(&builder->origins, &row))
    hearth_builder_raise_origins(builder, builder->origins.granularity + 1);
  return HEARTH_OK;
}

hearth_origin hearth_builder_origin(const hearth_builder *builder, size_t i) {
  const builder_origin *row = &builder->origins.rows[i];
  hearth_origin origin = {.host = row->host == HEARTH_NONE ? "" : builder->pool + row->host,
                          .day = row->day,
                          .build_id_size = row->build_id_size,
                          .runs = row->runs,
                          .total_bytes = row->total_bytes};
  memcpy(origin.build_id, row->build_id, sizeof origin.build_id);
  return origin;
}

/* The granularity begins anew, so that profiles merged with the result keep their hosts and days. With more builds than fit, so it
 * cannot. */
void hearth_builder_strip_origins(hearth_builder *builder) {
  builder_origins *o = &builder->origins;
  hearth_builder_raise_origins(builder, HEARTH_ORIGINS_BUILDS);
  if (o->granularity == HEARTH_ORIGINS_BUILDS)
    o->granularity = HEARTH_ORIGINS_BY_DAY;
}

/* Facts of runs. Commands form a lattice of three levels: unknown, one command, and commands that differ; merging goes up to
 * the least level above both. So any tree of merges has one result. */

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
  if (facts->commands_differ) {
    known->commands_differ = true;
    known->has_command = false;
  }
  return *facts->command ? add_command(builder, facts->command, err) : HEARTH_OK;
}

hearth_run_facts hearth_builder_run_facts(const hearth_builder *builder) {
  const builder_run_facts *known = &builder->run_facts;
  return (hearth_run_facts){.peak_bytes = known->peak_bytes,
                            .command = known->has_command ? builder->pool + known->command : "",
                            .commands_differ = known->commands_differ};
}

/* ------------------------------------------------ live history ------------------------------------------------ */

/* Histories are sums, point by point, as all runs have the same number of points: the result does not depend on the order. */

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
