/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Global variables: a row for each, found by its id. Sums and maxima, and of descriptions that differ the least: merges come to
 * one result in any order. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "builder_tables.h"
#include "hearth/ids.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

const char *hearth_global_kind_name(enum hearth_global_kind kind) {
  static const char *const names[HEARTH_GLOBAL_KINDS] = {"data", "bss", "rodata", "data.rel.ro", "literal", "unknown"};
  return names[kind];
}

size_t hearth_llvm_global_name_length(const char *name) {
  static const char unique[] = ".__uniq.";
  const char *kept = strstr(name, unique);
  const char *dot = strchr(kept ? kept + strlen(unique) : name, '.');
  return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

uint64_t hearth_global_id(const char *name, const char *file, uint32_t flags) {
  XXH3_state_t state;
  if (hearth_is_stripped_name(name))
    return strtoull(name + 1, NULL, 16);
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, name, strlen(name) + 1);
  if (flags & HEARTH_GLOBAL_LOCAL)
    XXH3_64bits_update(&state, file, strlen(file));
  return XXH3_64bits_digest(&state);
}

static bool equal_global(const void *owner, uint32_t row, const void *id) {
  return ((const hearth_builder *)owner)->globals[row].id == *(const uint64_t *)id;
}

/* Is the first the better description? One that says something, then the least. */
static bool is_preferred(const char *a, uint32_t line_a, const char *b, uint32_t line_b) {
  if (!*a || !*b)
    return *a != 0;
  int order = strcmp(a, b);
  return order < 0 || (order == 0 && line_a - 1 < line_b - 1);
}

/* What is known of the kind, the greatest. */
static uint32_t rank_of_flags(uint32_t flags) {
  flags &= ~HEARTH_GLOBAL_STORES;
  return hearth_global_kind_of(flags) == HEARTH_GLOBAL_UNKNOWN ? flags & HEARTH_GLOBAL_LOCAL : flags + 1;
}

static void merge(const hearth_builder *builder, builder_global *to, const builder_global *from) {
  const char *pool = builder->pool;
  if (is_preferred(pool + from->name, 1, pool + to->name, 1))
    to->name = from->name;
  if (is_preferred(pool + from->file, from->line, pool + to->file, to->line)) {
    to->file = from->file;
    to->line = from->line;
  }
  const uint32_t counted = to->flags & from->flags & HEARTH_GLOBAL_STORES;
  to->stores = counted ? hearth_merge_SUM(to->stores, from->stores) : 0;
  if (rank_of_flags(from->flags) > rank_of_flags(to->flags))
    to->flags = from->flags;
  to->flags = (to->flags & ~HEARTH_GLOBAL_STORES) | counted;
  to->size = hearth_merge_MAX(to->size, from->size);
  to->accesses = hearth_merge_SUM(to->accesses, from->accesses);
  to->touched_lines = hearth_merge_MAX(to->touched_lines, from->touched_lines);
}

hearth_status hearth_builder_add_global(hearth_builder *builder, const hearth_global *global, hearth_error *err) {
  builder_global row = {.id = hearth_global_id(global->name, global->file, global->flags),
                        .line = global->line,
                        .flags = global->flags & ~HEARTH_GLOBAL_HOT,
                        .size = global->size,
                        .accesses = hearth_repeat_SUM(global->accesses, builder->weight),
                        .touched_lines = global->touched_lines,
                        .stores = hearth_repeat_SUM(global->stores, builder->weight)};
  if (builder->unrecorded & UINT64_C(1) << HEARTH_COL_TotalAccessCount)
    return HEARTH_OK;
  HEARTH_TRY(hearth_builder_intern_string(builder, global->name, &row.name, err));
  HEARTH_TRY(hearth_builder_intern_string(builder, global->file, &row.file, err));
  uint32_t at = id_table_find(&builder->globals_by_id, id_table_mix(row.id), equal_global, builder, &row.id);
  if (at != HEARTH_NONE) {
    merge(builder, &builder->globals[at], &row);
    return HEARTH_OK;
  }
  HEARTH_TRY(id_table_reserve_row(&builder->globals_by_id, &builder->globals, &builder->global_room,
                                  builder->global_count, sizeof *builder->globals, err));
  id_table_insert(&builder->globals_by_id, id_table_mix(row.id), (uint32_t)builder->global_count);
  builder->globals[builder->global_count++] = row;
  return HEARTH_OK;
}

hearth_global hearth_builder_global(const hearth_builder *builder, size_t i) {
  const builder_global *row = &builder->globals[i];
  return (hearth_global){.name = builder->pool + row->name,
                         .file = builder->pool + row->file,
                         .line = row->line,
                         .flags = row->flags,
                         .size = row->size,
                         .accesses = row->accesses,
                         .touched_lines = row->touched_lines,
                         .stores = row->stores};
}

/* ------------------------------------------------ the heap over time ------------------------------------------------ */

/* What is known of the runs beside their contexts: facts, and how many bytes were live when. */

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
