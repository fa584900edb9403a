/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Global variables: a row for each, found by its id. Sums and maxima, and of descriptions that differ the least:
 * merges come to one result in any order. */
#include <stdlib.h>
#include <string.h>

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

static void builder_globals_merge(const hearth_builder *builder, builder_global *to, const builder_global *from) {
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
    builder_globals_merge(builder, &builder->globals[at], &row);
    return HEARTH_OK;
  }
  HEARTH_TRY(id_table_reserve_row(&builder->globals_by_id, &builder->globals, &builder->global_room,
                                  builder->global_count, sizeof *builder->globals, err));
  id_table_insert(&builder->globals_by_id, id_table_mix(row.id), (uint32_t)builder->global_count);
  builder->globals[builder->global_count++] = row;
  return HEARTH_OK;
}
