/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The files that the dumps of one indexer have mapped, each opened once: frames of addresses in them, and losses for
 * want of them. A mapping's binary is found by build id among those given, else by its path if that has the same
 * build id, else by build id in the folders, else on debuginfod servers. */
#include "index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"
#include "hearth/ids.h"
#include "object_file.h"
#include "raw_dump.h"

/* Mappings, sorted by start, are cut into groups in which one reaches into the next; a group is flagged unless all
 * of it means the same. */

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

/* Groups are as far as one mapping reaches into the next, in the order of their addresses. */
static void flag_all(const hearth_raw_dump *dump, const hearth_raw_map **sorted, bool *flags) {
  for (size_t begin = 0, end; begin < dump->map_count; begin = end) {
    uint64_t reach = sorted[begin]->end;
    bool same = true;
    for (end = begin + 1; end < dump->map_count && sorted[end]->start < reach; end++) {
      same &= same_meaning(dump, sorted[begin], sorted[end]);
      reach = sorted[end]->end > reach ? sorted[end]->end : reach;
    }
    for (size_t i = begin; i < end && !same; i++)
      flags[sorted[i] - dump->maps] = true;
  }
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

/* A file that was given, or that dumps of this indexer have mapped. */
typedef struct module {
  uint32_t build_id_size; /* 0: known by its path */
  uint8_t build_id[HEARTH_RAW_BUILD_ID_MAX];
  char *path;            /* of the mapping; NULL if it was given */
  hearth_binary *binary; /* NULL: it cannot be used */
  hearth_error reason;   /* why not */
  bool given, is_program;
  hearth_frame_cache *cache; /* NULL: not used so far */
  /* While there is no binary: */
  uint64_t missed; /* addresses in it */
  uint64_t lost_contexts, lost_bytes;
} module;

struct hearth_modules {
  hearth_builder *builder;
  hearth_indexer_options options;
  char **directories;
  size_t directory_count, directory_room;
  bool use_symbols;
  module **rows; /* the given ones first; callers keep the addresses of reasons */
  size_t count, room;
};

hearth_modules *hearth_modules_create(hearth_builder *builder, const hearth_indexer_options *options) {
  hearth_modules *m = calloc(1, sizeof *m);
  if (m)
    *m = (hearth_modules){.builder = builder, .options = *options};
  return m;
}

static void module_free(module *row) {
  hearth_frame_cache_destroy(row->cache);
  hearth_binary_close(row->binary);
  free(row->path);
  free(row);
}

void hearth_modules_destroy(hearth_modules *m) {
  if (!m)
    return;
  for (size_t i = 0; i < m->count; i++)
    module_free(m->rows[i]);
  for (size_t i = 0; i < m->directory_count; i++)
    free(m->directories[i]);
  HEARTH_FREE(m->directories, m->rows, m);
}

void hearth_modules_use_symbols(hearth_modules *m, bool use) { m->use_symbols = use; }

hearth_status hearth_modules_add_directory(hearth_modules *m, const char *path, hearth_error *err) {
  char *copy = strdup(path);
  if (!copy || !hearth_array_grow(&m->directories, &m->directory_room, m->directory_count, sizeof *m->directories)) {
    free(copy);
    return hearth_error_nomem(err);
  }
  m->directories[m->directory_count++] = copy;
  return HEARTH_OK;
}

static void module_note(const hearth_modules *m, hearth_note_level level, const char *text) {
  if (m->options.note)
    m->options.note(m->options.context, level, text);
}

static void tell_use(const hearth_modules *m, const char *path) {
  char line[640];
  snprintf(line, sizeof line, "using %.600s", path);
  module_note(m, HEARTH_NOTE_DETAIL, line);
}

static void print_id(char *buffer, size_t size, const uint8_t *id, uint32_t id_size) {
  size_t at = 0;
  for (uint32_t i = 0; i < id_size && at + 3 <= size; ++i)
    at += (size_t)snprintf(buffer + at, size - at, "%02x", id[i]);
  if (id_size == 0)
    snprintf(buffer, size, "none");
}

static module *module_find(const hearth_modules *m, const uint8_t *id, uint32_t size, const char *path) {
  for (size_t i = 0; i < m->count; i++) {
    module *row = m->rows[i];
    if (row->build_id_size == size &&
        (size ? memcmp(row->build_id, id, size) == 0 : row->path && path && strcmp(row->path, path) == 0))
      return row;
  }
  return NULL;
}

static module *find_mapped(const hearth_modules *m, const hearth_raw_map *map) {
  return module_find(m, map->build_id, map->build_id_size, map->path);
}

/* `path` is copied, or NULL. */
static hearth_status module_add_row(hearth_modules *m, const uint8_t *id, uint32_t size, const char *path, module **ret,
                                    hearth_error *err) {
  HEARTH_TRY(hearth_rows_reserve(&m->rows, &m->room, m->count, 1, sizeof(module *), err));
  module *row = calloc(1, sizeof *row);
  HEARTH_TRY(hearth_check_memory(row != NULL, err));
  *row = (module){.build_id_size = size, .path = path ? strdup(path) : NULL};
  memcpy(row->build_id, id, size);
  *ret = m->rows[m->count++] = row;
  return hearth_check_memory(!path || row->path, err);
}

/* Load the debug information. The binary belongs to the module then; on error it is closed.
 *   wanted  the program, or a file that the user named. Other libraries are not looked up in the system's folder of
 *           debug files: a profile should not depend on whether the C library's are installed */
static hearth_status module_load(const hearth_modules *m, module *row, hearth_binary *binary, bool wanted,
                                 hearth_error *err) {
  hearth_debug_info *info = hearth_binary_debug_info(binary);
  hearth_debug_directories directories = {m->directories, m->directory_count, wanted};
  hearth_status status = hearth_debug_info_load(info, directories, err);
  if (m->use_symbols && (status == HEARTH_OK || status == HEARTH_E_NO_DEBUG_INFO))
    status = hearth_debug_info_load_names(info, err);
  if (status != HEARTH_OK) {
    hearth_binary_close(binary);
    return status;
  }
  row->binary = binary;
  tell_use(m, hearth_binary_path(binary));
  return HEARTH_OK;
}

hearth_status hearth_modules_give(hearth_modules *m, const char *path, hearth_error *err) {
  hearth_binary *binary;
  uint32_t size;
  module *row;
  HEARTH_TRY(hearth_binary_open(path, &binary, err));
  const uint8_t *id = hearth_binary_build_id(binary, &size);
  bool is_known = module_find(m, id, size, NULL) != NULL;
  hearth_status status = is_known ? HEARTH_OK : module_add_row(m, id, size, NULL, &row, err);
  if (is_known || status != HEARTH_OK) {
    hearth_binary_close(binary);
    return status;
  }
  row->given = true;
  status = module_load(m, row, binary, true, err);
  if (status != HEARTH_OK)
    module_free(m->rows[--m->count]);
  return status;
}

/* -------------------------------------------------- mapped files ------------------------------------------------ */

/* Open a file, if it is the one that was mapped. */
static hearth_status open_same(const hearth_raw_map *map, const char *path, hearth_binary **ret, hearth_error *err) {
  uint32_t size;
  HEARTH_TRY(hearth_binary_open(path, ret, err));
  const uint8_t *id = hearth_binary_build_id(*ret, &size);
  if (size == map->build_id_size && memcmp(id, map->build_id, size) == 0)
    return HEARTH_OK;
  hearth_binary_close(*ret);
  return hearth_error_set(err, HEARTH_E_MISMATCH, "%s: has been rebuilt since it ran", path);
}

/* As open_same, of a file that was at the mapping's own path when it ran. */
static bool open_copy(const hearth_raw_map *map, const char *path, hearth_binary **ret) {
  if (open_same(map, path, ret, NULL) != HEARTH_OK)
    return false;
  if (hearth_binary_rename(*ret, map->path, NULL) == HEARTH_OK)
    return true;
  hearth_binary_close(*ret);
  return false;
}

/* DIRECTORY/.build-id/ab/cdef...: the binary beside its debug file. */
static bool open_by_id(const hearth_modules *m, const hearth_raw_map *map, hearth_binary **ret) {
  const hearth_bytes id = {map->build_id, map->build_id_size};
  for (size_t i = 0; i < m->directory_count; ++i) {
    char *path = hearth_build_id_path(m->directories[i], id, "");
    bool found = path && open_copy(map, path, ret);
    free(path);
    if (found)
      return true;
  }
  return false;
}

/* `status`: of the search so far, which stands if no server has the file. */
static hearth_status binary_ask_servers(const hearth_raw_map *map, hearth_status status, hearth_binary **ret,
                                        hearth_error *err) {
  char *path = NULL;
  HEARTH_TRY(
      hearth_debug_server_ask((hearth_bytes){map->build_id, map->build_id_size}, HEARTH_SERVED_BINARY, &path, err));
  bool found = path && open_copy(map, path, ret);
  free(path);
  return found ? HEARTH_OK : status;
}

/* Where the file still is the one that ran, its path is the place to look first. */
static hearth_status open_mapped(const hearth_modules *m, const hearth_raw_map *map, hearth_binary **ret,
                                 hearth_error *err) {
  if (map->build_id_size == 0)
    return hearth_error_set(err, HEARTH_E_NO_BUILD_ID, "%s: has no build id (link it with -Wl,--build-id)", map->path);
  hearth_status status = open_same(map, map->path, ret, err);
  if (status == HEARTH_OK || open_by_id(m, map, ret))
    return HEARTH_OK;
  return binary_ask_servers(map, status, ret, err);
}

/* The module of a mapping, which is opened and loaded if it was not yet; `reason` says why its file cannot be used, if so.
 *   is_program  its separate debug file is looked for in the system's folder, too
 *   ret         NULL: it is no file (vdso, generated code), or one of unknown place */
static hearth_status module_of(hearth_modules *m, const hearth_raw_map *map, bool is_program, module **ret,
                               hearth_error *err) {
  hearth_binary *binary;
  *ret = find_mapped(m, map);
  if (*ret || !map->path || map->path[0] != '/')
    return HEARTH_OK;
  HEARTH_TRY(module_add_row(m, map->build_id, map->build_id_size, map->path, ret, err));
  hearth_error *reason = &(*ret)->reason;
  (*ret)->is_program = is_program;
  if (open_mapped(m, map, &binary, reason) != HEARTH_OK ||
      module_load(m, *ret, binary, is_program, reason) != HEARTH_OK)
    module_note(m, HEARTH_NOTE_DETAIL, reason->message);
  return HEARTH_OK;
}

/* -------------------------------------------------- dumps -------------------------------------------------- */

static hearth_status none_given_fits(const hearth_modules *m, const char *name, const hearth_raw_dump *dump,
                                     bool is_skipped, hearth_error *err) {
  char given[2 * HEARTH_RAW_BUILD_ID_MAX + 1], seen[2 * HEARTH_RAW_BUILD_ID_MAX + 1];
  const module *row = m->rows[0];
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
    const hearth_error *reason = row ? &row->reason : NULL;
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

static hearth_status module_use(hearth_modules *m, module *row, hearth_error *err) {
  if (row->cache)
    return HEARTH_OK;
  row->cache = hearth_frame_cache_create(row->binary, m->builder);
  HEARTH_TRY(hearth_check_memory(row->cache != NULL, err));
  return hearth_builder_add_binary(m->builder, hearth_base_name(hearth_binary_path(row->binary)), row->build_id,
                                   row->build_id_size, err);
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
    if (!row || !row->binary)
      continue;
    HEARTH_TRY(module_use(m, row, err));
    if (!overlaps[i])
      placed[(*ret_count)++] = (hearth_placed_map){&dump->maps[i], row->binary, row->cache};
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
    given = given || (row && row->given);
    found = found || (row && row->binary);
  }
  if (!given && m->count > 0 && m->rows[0]->given)
    return none_given_fits(m, name, dump, is_skipped, err);
  return found ? HEARTH_OK : none_found(m, name, dump, err);
}

void hearth_modules_miss(hearth_modules *m, const hearth_raw_map *map) {
  module *row = find_mapped(m, map);
  if (row && !row->binary)
    row->missed++;
}

const hearth_error *hearth_modules_lose(hearth_modules *m, const hearth_raw_map *map, uint64_t bytes) {
  module *row = find_mapped(m, map);
  const hearth_error *reason = row ? &row->reason : NULL;
  if (!row || row->binary || reason->status == HEARTH_OK || reason->status == HEARTH_E_NO_DEBUG_INFO)
    return NULL;
  row->lost_contexts++;
  row->lost_bytes = hearth_merge_SUM(row->lost_bytes, bytes);
  return reason;
}

static void tell_unused(const hearth_modules *m, const module *row) {
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
           row->reason.message, (unsigned long long)row->missed, row->missed == 1 ? "" : "es",
           row->missed == 1 ? "is" : "are", contexts, hearth_modules_remedy(&row->reason));
  module_note(m, HEARTH_NOTE_WARNING, text);
}

void hearth_modules_report(const hearth_modules *m) {
  for (size_t i = 0; i < m->count; ++i) {
    const module *row = m->rows[i];
    if (row->given && !row->cache)
      tell_unused(m, row);
    /* Of libraries it is nothing unusual to be without debug information. */
    bool usual = row->reason.status == HEARTH_E_NO_DEBUG_INFO && !row->is_program;
    if (row->missed > 0 && !usual)
      module_tell_missed(m, row);
  }
}
