/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A mapping's binary is found by build id among those given, else by its path if that has the same build id, else by build
 * id in the folders, else on debuginfod servers. */
#include "symboliser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "object_file.h"

struct hearth_binaries {
  hearth_indexer_options options;
  char **directories;
  size_t directory_count, directory_room;
  bool use_symbols;
  hearth_known_binary **rows;
  size_t count, room;
};

hearth_binaries *hearth_binaries_create(const hearth_indexer_options *options) {
  hearth_binaries *b = calloc(1, sizeof *b);
  if (!b)
    return NULL;
  b->options = *options;
  return b;
}

static void free_row(hearth_known_binary *row) {
  hearth_binary_close(row->binary);
  free(row->path);
  free(row);
}

void hearth_binaries_destroy(hearth_binaries *b) {
  if (!b)
    return;
  for (size_t i = 0; i < b->count; ++i)
    free_row(b->rows[i]);
  for (size_t i = 0; i < b->directory_count; ++i)
    free(b->directories[i]);
  HEARTH_FREE(b->directories, b->rows, b);
}

void hearth_binaries_use_symbols(hearth_binaries *b, bool use) { b->use_symbols = use; }

hearth_status hearth_binaries_add_directory(hearth_binaries *b, const char *path, hearth_error *err) {
  char *copy = strdup(path);
  if (!copy || !hearth_array_grow(&b->directories, &b->directory_room, b->directory_count, sizeof *b->directories)) {
    free(copy);
    return hearth_error_nomem(err);
  }
  b->directories[b->directory_count++] = copy;
  return HEARTH_OK;
}

static void binary_note(const hearth_binaries *b, const char *before, const char *text) {
  char line[640];
  snprintf(line, sizeof line, "%s%.600s", before, text);
  if (b->options.note)
    b->options.note(b->options.context, HEARTH_NOTE_DETAIL, line);
}

static bool is_of(const hearth_known_binary *row, const uint8_t *id, uint32_t size, const char *path) {
  return row->build_id_size == size &&
         (size ? memcmp(row->build_id, id, size) == 0 : row->path && path && strcmp(row->path, path) == 0);
}

bool hearth_binaries_is_of(const hearth_known_binary *known, const hearth_raw_map *map) {
  return is_of(known, map->build_id, map->build_id_size, map->path);
}

static hearth_known_binary *binary_find(const hearth_binaries *b, const uint8_t *id, uint32_t size, const char *path) {
  for (size_t i = 0; i < b->count; ++i)
    if (is_of(b->rows[i], id, size, path))
      return b->rows[i];
  return NULL;
}

/* `path` is copied, or NULL. */
static hearth_known_binary *binary_add_row(hearth_binaries *b, const uint8_t *id, uint32_t size, const char *path) {
  hearth_known_binary *row = calloc(1, sizeof *row);
  if (!row)
    return NULL;
  row->path = path ? strdup(path) : NULL;
  if ((path && !row->path) || !hearth_array_grow(&b->rows, &b->room, b->count, sizeof(hearth_known_binary *))) {
    free_row(row);
    return NULL;
  }
  row->build_id_size = size;
  memcpy(row->build_id, id, size);
  return b->rows[b->count++] = row;
}

/* Load the debug information. The binary belongs to the row then; on error it is closed.
 *   wanted  the program, or a file that the user named. Other libraries are not looked up in the system's folder of
 *           debug files: a profile should not depend on whether the C library's are installed */
static hearth_status fill_row(hearth_binaries *b, hearth_known_binary *row, hearth_binary *binary, bool wanted,
                              hearth_error *err) {
  hearth_debug_info *info = hearth_binary_debug_info(binary);
  hearth_debug_directories directories = {b->directories, b->directory_count, wanted};
  hearth_status status = hearth_debug_info_load(info, directories, err);
  if (b->use_symbols && (status == HEARTH_OK || status == HEARTH_E_NO_DEBUG_INFO))
    status = hearth_debug_info_load_names(info, err);
  if (status != HEARTH_OK) {
    hearth_binary_close(binary);
    return status;
  }
  row->binary = binary;
  return HEARTH_OK;
}

hearth_status hearth_binaries_give(hearth_binaries *b, const char *path, hearth_error *err) {
  hearth_binary *binary;
  uint32_t size;
  HEARTH_TRY(hearth_binary_open(path, &binary, err));
  const uint8_t *id = hearth_binary_build_id(binary, &size);
  bool is_known = binary_find(b, id, size, NULL) != NULL;
  hearth_known_binary *row = is_known ? NULL : binary_add_row(b, id, size, NULL);
  if (!row) {
    hearth_binary_close(binary);
    return is_known ? HEARTH_OK : hearth_error_nomem(err);
  }
  hearth_status status = fill_row(b, row, binary, true, err);
  if (status != HEARTH_OK) {
    --b->count;
    free_row(row);
    return status;
  }
  binary_note(b, "using ", path);
  row->given = true;
  return HEARTH_OK;
}

const hearth_known_binary *hearth_binaries_given(const hearth_binaries *b, size_t number) {
  return number < b->count && b->rows[number]->given ? b->rows[number] : NULL; /* given before all others */
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
static bool open_by_id(const hearth_binaries *b, const hearth_raw_map *map, hearth_binary **ret) {
  const hearth_bytes id = {map->build_id, map->build_id_size};
  for (size_t i = 0; i < b->directory_count; ++i) {
    char *path = hearth_build_id_path(b->directories[i], id, "");
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
static hearth_status open_mapped(const hearth_binaries *b, const hearth_raw_map *map, hearth_binary **ret,
                                 hearth_error *err) {
  if (map->build_id_size == 0)
    return hearth_error_set(err, HEARTH_E_NO_BUILD_ID, "%s: has no build id (link it with -Wl,--build-id)", map->path);
  hearth_status status = open_same(map, map->path, ret, err);
  if (status == HEARTH_OK || open_by_id(b, map, ret))
    return HEARTH_OK;
  return binary_ask_servers(map, status, ret, err);
}

/* Add the row of a mapping, which results says in `reason` why its file cannot be used, if so. NULL: out of memory. */
static hearth_known_binary *look_for(hearth_binaries *b, const hearth_raw_map *map, bool is_program) {
  hearth_binary *binary;
  hearth_known_binary *row = binary_add_row(b, map->build_id, map->build_id_size, map->path);
  if (!row)
    return NULL;
  row->is_program = is_program;
  if (open_mapped(b, map, &binary, &row->reason) != HEARTH_OK ||
      fill_row(b, row, binary, is_program, &row->reason) != HEARTH_OK)
    binary_note(b, "", row->reason.message);
  else
    binary_note(b, "using ", hearth_binary_path(binary));
  return row;
}

hearth_status hearth_binaries_find(hearth_binaries *b, const hearth_raw_map *map, bool is_program,
                                   const hearth_known_binary **ret, hearth_error *err) {
  bool has_path = map->path && map->path[0] == '/';
  *ret = NULL;
  if (map->build_id_size == 0 && !has_path)
    return HEARTH_OK;
  *ret = binary_find(b, map->build_id, map->build_id_size, map->path);
  bool is_new = !*ret && has_path;
  if (is_new)
    *ret = look_for(b, map, is_program);
  return is_new && !*ret ? hearth_error_nomem(err) : HEARTH_OK;
}
