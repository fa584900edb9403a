/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A mapping's binary is found by build id among those given, else by its path if that has the same build id. Debug
 * information is loaded once for each binary. */
#include "modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/ids.h"
#include "map_overlaps.h"
#include "path_name.h"

/* A build id met so far. A module without binary is one that cannot be used: remembered, so as to try and tell once. */
typedef struct module {
  uint32_t build_id_size; /* 0: known by its path */
  uint8_t build_id[HEARTH_RAW_BUILD_ID_MAX];
  char *path; /* of the mapping; NULL if it was given */
  hearth_binary *binary;
  hearth_frame_cache *cache;
  bool given, used, is_program;
  /* While there is no binary: */
  uint64_t missed; /* addresses in it */
  uint64_t lost_contexts, lost_bytes;
  hearth_error reason; /* why there is no binary */
} module;

struct hearth_modules {
  hearth_builder *builder;
  hearth_indexer_options options;
  module *modules;
  size_t count, capacity, given;
  char **directories; /* with debug files */
  size_t directory_count, directory_capacity;
  bool use_symbols;
};

hearth_modules *hearth_modules_create(hearth_builder *builder, const hearth_indexer_options *options) {
  hearth_modules *m = calloc(1, sizeof *m);
  if (!m)
    return NULL;
  m->builder = builder;
  m->options = *options;
  return m;
}

void hearth_modules_destroy(hearth_modules *m) {
  if (!m)
    return;
  for (size_t i = 0; i < m->count; ++i) {
    hearth_frame_cache_destroy(m->modules[i].cache);
    hearth_binary_close(m->modules[i].binary);
    free(m->modules[i].path);
  }
  for (size_t i = 0; i < m->directory_count; ++i)
    free(m->directories[i]);
  free(m->directories);
  free(m->modules);
  free(m);
}

void hearth_modules_use_symbols(hearth_modules *m, bool use) { m->use_symbols = use; }

hearth_status hearth_modules_add_directory(hearth_modules *m, const char *path, hearth_error *err) {
  char *copy = strdup(path);
  if (!copy ||
      !hearth_array_grow(&m->directories, &m->directory_capacity, m->directory_count, sizeof *m->directories)) {
    free(copy);
    return hearth_error_nomem(err);
  }
  m->directories[m->directory_count++] = copy;
  return HEARTH_OK;
}

hearth_status hearth_modules_share_directories(hearth_modules *m, const hearth_modules *other, hearth_error *err) {
  for (size_t i = 0; i < other->directory_count; ++i)
    HEARTH_TRY(hearth_modules_add_directory(m, other->directories[i], err));
  return HEARTH_OK;
}

static void note(const hearth_modules *m, hearth_note_level level, const char *text) {
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

/* Files without build id are told apart by path. */
static module *find(const hearth_modules *m, const uint8_t *id, uint32_t size, const char *path) {
  for (size_t i = 0; i < m->count; ++i) {
    module *row = &m->modules[i];
    if (row->build_id_size == size &&
        (size ? memcmp(row->build_id, id, size) == 0 : row->path && path && strcmp(row->path, path) == 0))
      return row;
  }
  return NULL;
}

static module *find_mapped(const hearth_modules *m, const hearth_raw_map *map) {
  return find(m, map->build_id, map->build_id_size, map->path);
}

/* `path` is copied, or NULL. */
static module *add_row(hearth_modules *m, const uint8_t *id, uint32_t size, const char *path) {
  char *copy = path ? strdup(path) : NULL;
  if ((path && !copy) || !hearth_array_grow(&m->modules, &m->capacity, m->count, sizeof *m->modules)) {
    free(copy);
    return NULL;
  }
  module *row = &m->modules[m->count++];
  *row = (module){.build_id_size = size, .path = copy};
  memcpy(row->build_id, id, size);
  return row;
}

/* Load the debug information. The binary belongs to the row then; on error it is closed.
 *   wanted  the program, or a file that the user named. Other libraries are not looked up in the system's folder of
 *           debug files: a profile should not depend on whether the C library's are installed */
static hearth_status fill_row(hearth_modules *m, module *row, hearth_binary *binary, bool wanted, hearth_error *err) {
  hearth_debug_info *info = hearth_binary_debug_info(binary);
  hearth_debug_directories directories = {m->directories, m->directory_count, wanted};
  hearth_status status = hearth_debug_info_load(info, directories, err);
  if (m->use_symbols && (status == HEARTH_OK || status == HEARTH_E_NO_DEBUG_INFO))
    status = hearth_debug_info_load_names(info, err);
  if (status == HEARTH_OK && !(row->cache = hearth_frame_cache_create(binary, m->builder)))
    status = hearth_error_nomem(err);
  if (status != HEARTH_OK) {
    hearth_binary_close(binary);
    return status;
  }
  row->binary = binary;
  return HEARTH_OK;
}

hearth_status hearth_modules_give(hearth_modules *m, const char *path, hearth_error *err) {
  hearth_binary *binary;
  uint32_t size;
  hearth_status status = hearth_binary_open(path, &binary, err);
  if (status != HEARTH_OK)
    return status;
  const uint8_t *id = hearth_binary_build_id(binary, &size);
  if (find(m, id, size, NULL)) { /* the same binary twice is harmless */
    hearth_binary_close(binary);
    return HEARTH_OK;
  }
  module *row = add_row(m, id, size, NULL);
  if (!row) {
    hearth_binary_close(binary);
    return hearth_error_nomem(err);
  }
  status = fill_row(m, row, binary, true, err);
  if (status != HEARTH_OK) {
    --m->count;
    return status;
  }
  char text[640];
  snprintf(text, sizeof text, "using %.600s", path);
  note(m, HEARTH_NOTE_DETAIL, text);
  row->given = true;
  ++m->given;
  return HEARTH_OK;
}

/* Open the file that a mapping names, if it is still the one that ran. */
static hearth_status open_mapped(const hearth_raw_map *map, hearth_binary **ret, hearth_error *err) {
  uint32_t size;
  if (map->build_id_size == 0)
    return hearth_error_set(err, HEARTH_E_NO_BUILD_ID, "%s: has no build id (link it with -Wl,--build-id)", map->path);
  HEARTH_TRY(hearth_binary_open(map->path, ret, err));
  const uint8_t *id = hearth_binary_build_id(*ret, &size);
  if (size == map->build_id_size && memcmp(id, map->build_id, size) == 0)
    return HEARTH_OK;
  hearth_binary_close(*ret);
  return hearth_error_set(err, HEARTH_E_MISMATCH, "%s: has been rebuilt since it ran", map->path);
}

/* The row that results says in `reason` why the file cannot be used, if so. NULL: out of memory. */
static module *follow_path(hearth_modules *m, const hearth_raw_map *map, bool is_program) {
  hearth_binary *binary;
  char text[640];
  module *row = add_row(m, map->build_id, map->build_id_size, map->path);
  if (!row)
    return NULL;
  row->is_program = is_program;
  if (open_mapped(map, &binary, &row->reason) != HEARTH_OK ||
      fill_row(m, row, binary, is_program, &row->reason) != HEARTH_OK) {
    note(m, HEARTH_NOTE_DETAIL, row->reason.message);
    return row;
  }
  snprintf(text, sizeof text, "using %s", map->path);
  note(m, HEARTH_NOTE_DETAIL, text);
  return row;
}

static hearth_status none_given_fits(const hearth_modules *m, const char *name, const hearth_raw_dump *dump,
                                     bool is_skipped, hearth_error *err) {
  char given[2 * HEARTH_RAW_BUILD_ID_MAX + 1], seen[2 * HEARTH_RAW_BUILD_ID_MAX + 1];
  const module *row = &m->modules[0];
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
    if (row && row->reason.status != HEARTH_OK)
      return hearth_error_set(err, row->reason.status, "%s: no usable binary: %.400s%s", name, row->reason.message,
                              row->reason.status == HEARTH_E_NO_DEBUG_INFO ? "; --symbols does with names of functions"
                                                                           : hearth_modules_remedy(&row->reason));
  }
  print_id(seen, sizeof seen, dump->map_count ? dump->maps[0].build_id : NULL,
           dump->map_count ? dump->maps[0].build_id_size : 0);
  return hearth_error_set(err, HEARTH_E_MISMATCH,
                          "%s: does not say where its program is: give it with --binary (build id %s)", name, seen);
}

static int compare_placed(const void *a, const void *b) {
  const hearth_placed_map *x = a, *y = b;
  return (x->map->start > y->map->start) - (x->map->start < y->map->start);
}

/* The module of a mapping; NULL: it is no file (vdso, generated code), or one of unknown place.
 *   is_program  its separate debug file is looked for in the system's folder, too */
static hearth_status module_of(hearth_modules *m, const hearth_raw_map *map, bool is_program, module **ret,
                               hearth_error *err) {
  bool has_path = map->path && map->path[0] == '/';
  *ret = map->build_id_size > 0 || has_path ? find_mapped(m, map) : NULL;
  if (*ret || !has_path)
    return HEARTH_OK;
  *ret = follow_path(m, map, is_program);
  return *ret ? HEARTH_OK : hearth_error_nomem(err);
}

static hearth_status mark_used(hearth_modules *m, module *row, hearth_error *err) {
  if (row->used)
    return HEARTH_OK;
  row->used = true;
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
    note(m, HEARTH_NOTE_WARNING, text);
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
    HEARTH_TRY(mark_used(m, row, err));
    if (!overlaps[i])
      placed[(*ret_count)++] = (hearth_placed_map){&dump->maps[i], row->binary, row->cache};
  }
  return HEARTH_OK;
}

hearth_status hearth_modules_place(hearth_modules *m, const char *name, const hearth_raw_dump *dump,
                                   hearth_placed_map **ret_placed, size_t *ret_count, hearth_error *err) {
  bool *overlaps;
  HEARTH_TRY(hearth_map_overlaps_find(dump, &overlaps, err));
  hearth_placed_map *placed = calloc(dump->map_count + 1, sizeof *placed);
  hearth_status status = placed ? place_all(m, dump, overlaps, placed, ret_count, err) : hearth_error_nomem(err);
  if (status == HEARTH_OK) {
    tell_overlaps(m, name, dump, overlaps);
    qsort(placed, *ret_count, sizeof *placed, compare_placed);
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
  if (m->given > 0 && !given)
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
  if (!row || row->binary || row->reason.status == HEARTH_OK || row->reason.status == HEARTH_E_NO_DEBUG_INFO)
    return NULL;
  row->lost_contexts++;
  row->lost_bytes = hearth_merge_SUM(row->lost_bytes, bytes);
  return &row->reason;
}

hearth_status hearth_modules_share_use(hearth_modules *m, const hearth_modules *other, hearth_error *err) {
  for (size_t i = 0; i < other->count; ++i) {
    const module *theirs = &other->modules[i];
    module *same = find(m, theirs->build_id, theirs->build_id_size, theirs->path);
    if (!same && theirs->missed > 0) {
      same = add_row(m, theirs->build_id, theirs->build_id_size, theirs->path);
      if (!same)
        return hearth_error_nomem(err);
      same->is_program = theirs->is_program;
      same->reason = theirs->reason;
    }
    if (same) {
      same->used = same->used || theirs->used;
      same->missed += theirs->missed;
      same->lost_contexts += theirs->lost_contexts;
      same->lost_bytes = hearth_merge_SUM(same->lost_bytes, theirs->lost_bytes);
    }
  }
  return HEARTH_OK;
}

static void tell_unused(const hearth_modules *m, const module *row) {
  char id[2 * HEARTH_RAW_BUILD_ID_MAX + 1], text[640];
  print_id(id, sizeof id, row->build_id, row->build_id_size);
  snprintf(text, sizeof text, "%.500s: its build id %s is in none of the raw profiles", hearth_binary_path(row->binary),
           id);
  note(m, HEARTH_NOTE_WARNING, text);
}

static void tell_missed(const hearth_modules *m, const module *row) {
  char text[640], contexts[96] = "";
  if (row->lost_contexts > 0)
    snprintf(contexts, sizeof contexts, ", with them %llu context%s (%llu bytes)",
             (unsigned long long)row->lost_contexts, row->lost_contexts == 1 ? "" : "s",
             (unsigned long long)row->lost_bytes);
  snprintf(text, sizeof text, "%.400s: %llu address%s of its code %s left out of the call stacks%s%s",
           row->reason.message, (unsigned long long)row->missed, row->missed == 1 ? "" : "es",
           row->missed == 1 ? "is" : "are", contexts, hearth_modules_remedy(&row->reason));
  note(m, HEARTH_NOTE_WARNING, text);
}

void hearth_modules_report(const hearth_modules *m) {
  for (size_t i = 0; i < m->count; ++i) {
    const module *row = &m->modules[i];
    /* Of libraries it is nothing unusual to be without debug information. */
    bool usual = row->reason.status == HEARTH_E_NO_DEBUG_INFO && !row->is_program;
    if (row->given && !row->used)
      tell_unused(m, row);
    if (row->missed > 0 && !usual)
      tell_missed(m, row);
  }
}
