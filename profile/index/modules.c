/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The files that the dumps of one indexer have mapped: frames of addresses in them, and losses for want of
 * them. */
#include "symboliser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"
#include "hearth/ids.h"
#include "raw_dump.h"

/* Mappings, sorted by start, are cut into groups in which one reaches into the next; a group is flagged unless all of it
 * means the same. */

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

/* One flag for each mapping of the dump, that the caller frees. Mappings that give an address the same meaning may
 * overlap. Errors: E_NOMEM. */
static hearth_status hearth_map_overlaps_find(const hearth_raw_dump *dump, bool **ret_flags, hearth_error *err) {
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

/* A file that dumps of this indexer have mapped. */
typedef struct module {
  const hearth_known_binary *known;
  hearth_frame_cache *cache; /* NULL: not used so far */
  bool used;
  /* While there is no binary: */
  uint64_t missed; /* addresses in it */
  uint64_t lost_contexts, lost_bytes;
} module;

struct hearth_modules {
  hearth_builder *builder;
  hearth_indexer_options options;
  hearth_binaries *binaries;
  module *modules;
  size_t count, capacity;
};

hearth_modules *hearth_modules_create(hearth_builder *builder, hearth_binaries *binaries,
                                      const hearth_indexer_options *options) {
  hearth_modules *m = calloc(1, sizeof *m);
  if (!m)
    return NULL;
  m->builder = builder;
  m->binaries = binaries;
  m->options = *options;
  return m;
}

void hearth_modules_destroy(hearth_modules *m) {
  if (!m)
    return;
  for (size_t i = 0; i < m->count; ++i)
    hearth_frame_cache_destroy(m->modules[i].cache);
  free(m->modules);
  free(m);
}

static void module_note(const hearth_modules *m, hearth_note_level level, const char *text) {
  if (m->options.note)
    m->options.note(m->options.context, level, text);
}

static void print_id(char *buffer, size_t size, const uint8_t *id, uint32_t id_size) {
  size_t at = 0;
  for (uint32_t i = 0; i < id_size && at + 3 <= size; ++i)
    at += (size_t)snprintf(buffer + at, size - at, "%02x", id[i]);
  if (id_size == 0)
    snprintf(buffer, size, "none");
}

static module *module_find(const hearth_modules *m, const hearth_known_binary *known) {
  for (size_t i = 0; i < m->count; ++i)
    if (m->modules[i].known == known)
      return &m->modules[i];
  return NULL;
}

static module *find_mapped(const hearth_modules *m, const hearth_raw_map *map) {
  for (size_t i = 0; i < m->count; ++i)
    if (hearth_binaries_is_of(m->modules[i].known, map))
      return &m->modules[i];
  return NULL;
}

static hearth_status module_add_row(hearth_modules *m, const hearth_known_binary *known, module **ret,
                                    hearth_error *err) {
  HEARTH_TRY(hearth_rows_reserve(&m->modules, &m->capacity, m->count, 1, sizeof *m->modules, err));
  *ret = &m->modules[m->count++];
  **ret = (module){.known = known};
  return HEARTH_OK;
}

static hearth_status none_given_fits(const hearth_modules *m, const char *name, const hearth_raw_dump *dump,
                                     bool is_skipped, hearth_error *err) {
  char given[2 * HEARTH_RAW_BUILD_ID_MAX + 1], seen[2 * HEARTH_RAW_BUILD_ID_MAX + 1];
  const hearth_known_binary *row = hearth_binaries_given(m->binaries, 0);
  const char *path = hearth_binary_path(row->binary);
  const hearth_raw_map *map = dump->map_count ? &dump->maps[0] : NULL;
  for (size_t i = 0; i < dump->map_count; ++i)
    if (dump->maps[i].path && strcmp(hearth_base_name(dump->maps[i].path), hearth_base_name(path)) == 0)
      map = &dump->maps[i];
  print_id(given, sizeof given, row->build_id, row->build_id_size);
  print_id(seen, sizeof seen, map ? map->build_id : NULL, map ? map->build_id_size : 0);
  return hearth_error_set(err, HEARTH_E_MISMATCH,
                          "%s: written by another build: %s has build id %s, the profile's program %s%s%s (give the "
                          "binary that was profiled%s)",
                          name, path, given, map && map->path ? map->path : "", map && map->path ? " has " : "", seen,
                          is_skipped ? "" : ", or leave such profiles out: --failure-mode=all");
}

const char *hearth_modules_remedy(const hearth_error *reason) {
  bool has_its_own = reason->status == HEARTH_E_NO_DEBUG_INFO || reason->status == HEARTH_E_NO_BUILD_ID;
  return has_its_own ? "" : " (give the file that ran with --binary)";
}

static hearth_status none_found(const hearth_modules *m, const char *name, const hearth_raw_dump *dump,
                                hearth_error *err) {
  char seen[2 * HEARTH_RAW_BUILD_ID_MAX + 1];
  /* The first mapping is the program's. */
  if (dump->map_count && dump->maps[0].build_id_size == 0 && dump->maps[0].path)
    return hearth_error_set(err, HEARTH_E_NO_BUILD_ID,
                            "%s: its program %s has no build id (link it with -Wl,--build-id)", name,
                            dump->maps[0].path);
  for (size_t i = 0; i < dump->map_count; ++i) {
    const module *row = find_mapped(m, &dump->maps[i]);
    const hearth_error *reason = row ? &row->known->reason : NULL;
    if (reason && reason->status != HEARTH_OK)
      return hearth_error_set(err, reason->status, "%s: no usable binary: %.400s%s", name, reason->message,
                              reason->status == HEARTH_E_NO_DEBUG_INFO ? "; --symbols does with names of functions"
                                                                       : hearth_modules_remedy(reason));
  }
  print_id(seen, sizeof seen, dump->map_count ? dump->maps[0].build_id : NULL,
           dump->map_count ? dump->maps[0].build_id_size : 0);
  return hearth_error_set(err, HEARTH_E_MISMATCH,
                          "%s: does not say where its program is: give it with --binary (build id %s)", name, seen);
}

static int module_compare_placed(const void *a, const void *b) {
  const hearth_placed_map *x = a, *y = b;
  return (x->map->start > y->map->start) - (x->map->start < y->map->start);
}

/* The module of a mapping; NULL: it is no file (vdso, generated code), or one of unknown place.
 *   is_program  its separate debug file is looked for in the system's folder, too */
static hearth_status module_of(hearth_modules *m, const hearth_raw_map *map, bool is_program, module **ret,
                               hearth_error *err) {
  const hearth_known_binary *known;
  *ret = find_mapped(m, map);
  if (*ret)
    return HEARTH_OK;
  HEARTH_TRY(hearth_binaries_find(m->binaries, map, is_program, &known, err));
  return known ? module_add_row(m, known, ret, err) : HEARTH_OK;
}

static hearth_status module_use(hearth_modules *m, module *row, hearth_error *err) {
  const hearth_known_binary *known = row->known;
  if (row->cache)
    return HEARTH_OK;
  row->cache = hearth_frame_cache_create(known->binary, m->builder);
  HEARTH_TRY(hearth_check_memory(row->cache != NULL, err));
  row->used = true;
  return hearth_builder_add_binary(m->builder, hearth_base_name(hearth_binary_path(known->binary)), known->build_id,
                                   known->build_id_size, err);
}

static void tell_overlaps(const hearth_modules *m, const char *name, const hearth_raw_dump *dump,
                          const bool *overlaps) {
  char text[640];
  size_t count = 0;
  const char *path = NULL;
  for (size_t i = 0; i < dump->map_count; ++i) {
    count += overlaps[i];
    if (overlaps[i] && !path)
      path = dump->maps[i].path;
  }
  snprintf(text, sizeof text,
           "%.250s: %zu mappings (%.250s and others) are at the same addresses, one after the other: their frames are "
           "left out",
           name, count, path ? path : "?");
  if (count > 0)
    module_note(m, HEARTH_NOTE_WARNING, text);
}

/* The preloaded runtime calls main: its frame says nothing of the program. */
bool hearth_modules_is_runtime(const hearth_raw_map *map) {
  return map->path && strcmp(hearth_base_name(map->path), "libhearth_preload.so") == 0;
}

/* Fills in up to dump->map_count rows. */
static hearth_status place_all(hearth_modules *m, const hearth_raw_dump *dump, const bool *overlaps,
                               hearth_placed_map *placed, size_t *ret_count, hearth_error *err) {
  *ret_count = 0;
  for (size_t i = 0; i < dump->map_count; ++i) {
    module *row;
    if (hearth_modules_is_runtime(&dump->maps[i]))
      continue;
    /* The first mapping is the program's. */
    HEARTH_TRY(module_of(m, &dump->maps[i], i == 0, &row, err));
    if (!row || !row->known->binary)
      continue;
    HEARTH_TRY(module_use(m, row, err));
    if (!overlaps[i])
      placed[(*ret_count)++] = (hearth_placed_map){&dump->maps[i], row->known->binary, row->cache};
  }
  return HEARTH_OK;
}

hearth_status hearth_modules_place(hearth_modules *m, const char *name, const hearth_raw_dump *dump,
                                   hearth_placed_map **ret_placed, size_t *ret_count, hearth_error *err) {
  bool *overlaps = NULL;
  HEARTH_TRY(hearth_map_overlaps_find(dump, &overlaps, err));
  hearth_placed_map *placed = calloc(dump->map_count + 1, sizeof *placed);
  hearth_status status = placed ? place_all(m, dump, overlaps, placed, ret_count, err) : hearth_error_nomem(err);
  if (status == HEARTH_OK) {
    tell_overlaps(m, name, dump, overlaps);
    qsort(placed, *ret_count, sizeof *placed, module_compare_placed);
    *ret_placed = placed;
  } else {
    free(placed);
  }
  free(overlaps);
  return status;
}

hearth_status hearth_modules_check(hearth_modules *m, const char *name, const hearth_raw_dump *dump, bool is_skipped,
                                   hearth_error *err) {
  bool given = false, found = false;
  for (size_t i = 0; i < dump->map_count; ++i) {
    module *row;
    if (hearth_modules_is_runtime(&dump->maps[i]))
      continue;
    HEARTH_TRY(module_of(m, &dump->maps[i], i == 0, &row, err));
    given = given || (row && row->known->given);
    found = found || (row && row->known->binary);
  }
  if (!given && hearth_binaries_given(m->binaries, 0))
    return none_given_fits(m, name, dump, is_skipped, err);
  return found ? HEARTH_OK : none_found(m, name, dump, err);
}

void hearth_modules_miss(hearth_modules *m, const hearth_raw_map *map) {
  module *row = find_mapped(m, map);
  if (row && !row->known->binary)
    row->missed++;
}

const hearth_error *hearth_modules_lose(hearth_modules *m, const hearth_raw_map *map, uint64_t bytes) {
  module *row = find_mapped(m, map);
  const hearth_error *reason = row ? &row->known->reason : NULL;
  if (!row || row->known->binary || reason->status == HEARTH_OK || reason->status == HEARTH_E_NO_DEBUG_INFO)
    return NULL;
  row->lost_contexts++;
  row->lost_bytes = hearth_merge_SUM(row->lost_bytes, bytes);
  return reason;
}

static void tell_unused(const hearth_modules *m, const hearth_known_binary *row) {
  char id[2 * HEARTH_RAW_BUILD_ID_MAX + 1], text[640];
  print_id(id, sizeof id, row->build_id, row->build_id_size);
  snprintf(text, sizeof text, "%.500s: its build id %s is in none of the raw profiles", hearth_binary_path(row->binary),
           id);
  module_note(m, HEARTH_NOTE_WARNING, text);
}

static void module_tell_missed(const hearth_modules *m, const module *row) {
  char text[640], contexts[96] = "";
  if (row->lost_contexts > 0)
    snprintf(contexts, sizeof contexts, ", with them %llu context%s (%llu bytes)",
             (unsigned long long)row->lost_contexts, row->lost_contexts == 1 ? "" : "s",
             (unsigned long long)row->lost_bytes);
  snprintf(text, sizeof text, "%.400s: %llu address%s of its code %s left out of the call stacks%s%s",
           row->known->reason.message, (unsigned long long)row->missed, row->missed == 1 ? "" : "es",
           row->missed == 1 ? "is" : "are", contexts, hearth_modules_remedy(&row->known->reason));
  module_note(m, HEARTH_NOTE_WARNING, text);
}

void hearth_modules_report(const hearth_modules *m) {
  const hearth_known_binary *given;
  for (size_t i = 0; (given = hearth_binaries_given(m->binaries, i)); ++i) {
    const module *row = module_find(m, given);
    if (!row || !row->used)
      tell_unused(m, given);
  }
  for (size_t i = 0; i < m->count; ++i) {
    const module *row = &m->modules[i];
    /* Of libraries it is nothing unusual to be without debug information. */
    bool usual = row->known->reason.status == HEARTH_E_NO_DEBUG_INFO && !row->known->is_program;
    if (row->missed > 0 && !usual)
      module_tell_missed(m, row);
  }
}
