/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Mappings, sorted by start, are cut into groups in which one reaches into the next; a group is flagged unless all of it
 * means the same. */
#include "map_overlaps.h"

#include <stdlib.h>
#include <string.h>

static int compare_starts(const void *a, const void *b) {
  const hearth_raw_map *x = *(const hearth_raw_map *const *)a, *y = *(const hearth_raw_map *const *)b;
  return (x->start > y->start) - (x->start < y->start);
}

/* Where the file's first byte, or ELF address 0, is in memory. */
static uint64_t bias_of(const hearth_raw_dump *dump, const hearth_raw_map *map) {
  return dump->kind == HEARTH_RAW_FILE_OFFSET ? map->start - map->base : map->base;
}

static bool same_meaning(const hearth_raw_dump *dump, const hearth_raw_map *a, const hearth_raw_map *b) {
  return a->build_id_size > 0 && a->build_id_size == b->build_id_size &&
         memcmp(a->build_id, b->build_id, a->build_id_size) == 0 && bias_of(dump, a) == bias_of(dump, b);
}

/* Flag the mappings [begin, end) of `sorted` if they do not all mean the same. */
static void flag_group(const hearth_raw_dump *dump, const hearth_raw_map **sorted, size_t begin, size_t end,
                       bool *flags) {
  bool same = true;
  for (size_t i = begin + 1; i < end && same; i++)
    same = same_meaning(dump, sorted[begin], sorted[i]);
  for (size_t i = begin; i < end && !same; i++)
    flags[sorted[i] - dump->maps] = true;
}

/* Groups, as far as one mapping reaches into the next, in the order of their addresses. */
static void flag_all(const hearth_raw_dump *dump, const hearth_raw_map **sorted, bool *flags) {
  size_t begin = 0;
  uint64_t reach = 0;
  for (size_t i = 0; i < dump->map_count; i++) {
    if (sorted[i]->start >= reach) {
      flag_group(dump, sorted, begin, i, flags);
      begin = i;
    }
    if (sorted[i]->end > reach)
      reach = sorted[i]->end;
  }
  flag_group(dump, sorted, begin, dump->map_count, flags);
}

hearth_status hearth_map_overlaps_find(const hearth_raw_dump *dump, bool **ret_flags, hearth_error *err) {
  const hearth_raw_map **sorted = malloc((dump->map_count + 1) * sizeof *sorted);
  bool *flags = calloc(dump->map_count + 1, sizeof *flags);
  if (!sorted || !flags) {
    free(sorted);
    free(flags);
    return hearth_error_nomem(err);
  }
  for (size_t i = 0; i < dump->map_count; i++)
    sorted[i] = &dump->maps[i];
  qsort(sorted, dump->map_count, sizeof *sorted, compare_starts);
  flag_all(dump, sorted, flags);
  free(sorted);
  *ret_flags = flags;
  return HEARTH_OK;
}
