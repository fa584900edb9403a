/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Searches by build id first, then by debug link, in the order of GDB; a file that does not fit is passed over, and
 * named if none does. Servers are asked last. */
#include "dwarf_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "array.h"
#include "object_file.h"

#define SYSTEM_DIRECTORY "/usr/lib/debug"

char *hearth_path_join(const char *directory, const char *name) {
  if (name[0] == '/' || !directory)
    return strdup(name);
  size_t size = strlen(directory) + strlen(name) + 2;
  char *path = malloc(size);
  if (path)
    snprintf(path, size, "%s/%s", directory, name);
  return path;
}

char *hearth_path_directory(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash)
    return strdup(".");
  return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* One search, and the first file that was there but did not fit. */
typedef struct search {
  hearth_elf_file *binary;
  hearth_bytes id; /* build id of the file that is looked for; no bytes: it has none */
  hearth_debug_directories directories;
  hearth_elf_file *found;
  char unfit[256];
} search;

static bool has_debug_information(hearth_elf_file *file) { return hearth_elf_file_has(file, ".debug_info"); }

/* --- By build id: DIRECTORY/.build-id/ab/cdef....debug ------------------------------------------------------------- */

static bool has_build_id(hearth_elf_file *file, hearth_bytes id) {
  hearth_bytes its = hearth_elf_file_build_id(file);
  return id.size > 0 && its.size == id.size && memcmp(its.data, id.data, id.size) == 0;
}

/* Takes the path, which may be NULL: out of memory. A file that cannot be opened is none. */
static hearth_status try_build_id(search *s, char *path, hearth_error *err) {
  hearth_elf_file *file = NULL;
  HEARTH_TRY(hearth_check_memory(path, err));
  if (hearth_elf_file_open(path, &file, NULL) == HEARTH_OK && has_build_id(file, s->id) && has_debug_information(file))
    s->found = file;
  else
    hearth_elf_file_close(file);
  free(path);
  return HEARTH_OK;
}

static hearth_status search_build_id(search *s, hearth_error *err) {
  if (s->id.size < 2 || s->id.size > 64)
    return HEARTH_OK;
  for (size_t i = 0; !s->found && i < s->directories.count; ++i)
    HEARTH_TRY(try_build_id(s, hearth_build_id_path(s->directories.paths[i], s->id, ".debug"), err));
  return s->found || !s->directories.system
             ? HEARTH_OK
             : try_build_id(s, hearth_build_id_path(SYSTEM_DIRECTORY, s->id, ".debug"), err);
}

/* --- By debug link: a name and a checksum ------------------------------------------------------------------------- */

typedef struct debug_link {
  const char *name; /* NULL: the binary has none */
  uint32_t checksum;
} debug_link;

/* Section .gnu_debuglink: name, NUL, padding up to a multiple of 4, checksum. */
static debug_link read_link(hearth_elf_file *binary) {
  debug_link link = {0};
  hearth_bytes section = hearth_elf_file_section(binary, ".gnu_debuglink");
  const char *name = (const char *)section.data;
  size_t length = name ? strnlen(name, section.size) : 0;
  uint64_t checksum, at = (length + 4) / 4 * 4;
  if (length == 0 || length == section.size || !hearth_bytes_number(section, &at, 4, &checksum))
    return link;
  return (debug_link){name, (uint32_t)checksum};
}

static bool has_checksum(const char *path, uint32_t checksum) {
  uint8_t buffer[65536];
  size_t got;
  uLong sum = crc32(0, NULL, 0);
  FILE *file = fopen(path, "rbe");
  if (!file)
    return false;
  while ((got = fread(buffer, 1, sizeof buffer, file)) > 0)
    sum = crc32(sum, buffer, (uInt)got);
  bool whole = !ferror(file);
  fclose(file);
  return whole && sum == checksum;
}

static hearth_status try_link(search *s, debug_link link, const char *directory, hearth_error *err) {
  hearth_elf_file *file = NULL;
  char *path = hearth_path_join(directory, link.name);
  HEARTH_TRY(hearth_check_memory(path, err));
  if (hearth_elf_file_open(path, &file, NULL) == HEARTH_OK && has_debug_information(file)) {
    if (has_checksum(path, link.checksum))
      s->found = file;
    else if (!s->unfit[0])
      snprintf(s->unfit, sizeof s->unfit, "%s", path);
  }
  if (!s->found)
    hearth_elf_file_close(file);
  free(path);
  return HEARTH_OK;
}

/* As try_link in "DIRECTORY/BELOW". */
static hearth_status try_link_below(search *s, debug_link link, const char *directory, const char *below,
                                    hearth_error *err) {
  size_t size = strlen(directory) + strlen(below) + 2;
  char *both = malloc(size);
  HEARTH_TRY(hearth_check_memory(both, err));
  snprintf(both, size, "%s/%s", directory, below);
  hearth_status status = try_link(s, link, both, err);
  free(both);
  return status;
}

static hearth_status search_link(search *s, debug_link link, hearth_error *err) {
  char *real = realpath(hearth_elf_file_path(s->binary), NULL);
  char *home = hearth_path_directory(real ? real : hearth_elf_file_path(s->binary));
  free(real);
  HEARTH_TRY(hearth_check_memory(home, err));
  hearth_status status = try_link(s, link, home, err);
  if (status == HEARTH_OK && !s->found)
    status = try_link_below(s, link, home, ".debug", err);
  for (size_t i = 0; status == HEARTH_OK && !s->found && i < s->directories.count; ++i) {
    status = try_link(s, link, s->directories.paths[i], err);
    if (status == HEARTH_OK && !s->found)
      status = try_link_below(s, link, s->directories.paths[i], home, err);
  }
  if (status == HEARTH_OK && !s->found && s->directories.system)
    status = try_link_below(s, link, SYSTEM_DIRECTORY, home, err);
  free(home);
  return status;
}

/* --- From a server ------------------------------------------------------------------------------------------------ */

static hearth_status debug_file_ask_servers(search *s, hearth_error *err) {
  char *path = NULL;
  if (s->found || !s->directories.system)
    return HEARTH_OK;
  HEARTH_TRY(hearth_debug_server_ask(s->id, HEARTH_SERVED_DEBUG_FILE, &path, err));
  return path ? try_build_id(s, path, err) : HEARTH_OK;
}

/* --- All ---------------------------------------------------------------------------------------------------------- */

hearth_status hearth_debug_file_find(hearth_elf_file *binary, hearth_debug_directories directories,
                                     hearth_elf_file **ret, hearth_error *err) {
  search s = {.binary = binary, .id = hearth_elf_file_build_id(binary), .directories = directories};
  const char *path = hearth_elf_file_path(binary);
  *ret = NULL;
  if (has_debug_information(binary))
    return HEARTH_OK;
  HEARTH_TRY(search_build_id(&s, err));
  debug_link link = read_link(binary);
  if (!s.found && link.name)
    HEARTH_TRY(search_link(&s, link, err));
  HEARTH_TRY(debug_file_ask_servers(&s, err));
  *ret = s.found;
  if (s.found)
    return HEARTH_OK;
  if (s.unfit[0])
    return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                            "%s: stripped, and its debug file %s is of another build: the checksum differs (keep the "
                            "debug file of this build)",
                            path, s.unfit);
  if (link.name)
    return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                            "%s: stripped, and its debug file %s was not found (keep it beside the binary or in "
                            ".debug/, or name its folder with --debug-dir)",
                            path, link.name);
  return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                          "%s: no debug information (compile with -gmlt -fdebug-info-for-profiling, do not strip)",
                          path);
}

/* --- What dwz moved ----------------------------------------------------------------------------------------------- */

/* Section .gnu_debugaltlink: path, NUL, build id. */
hearth_status hearth_debug_alternate_find(hearth_elf_file *file, hearth_debug_directories directories,
                                          hearth_elf_file **ret, hearth_error *err) {
  search s = {.binary = file, .directories = directories};
  hearth_bytes section = hearth_elf_file_section(file, ".gnu_debugaltlink");
  const char *name = hearth_bytes_string(section, 0);
  *ret = NULL;
  if (section.size == 0)
    return HEARTH_OK;
  if (name) {
    hearth_bytes_slice(section, strlen(name) + 1, section.size - strlen(name) - 1, &s.id);
    char *home = hearth_path_directory(hearth_elf_file_path(file));
    hearth_status status = home ? try_build_id(&s, hearth_path_join(home, name), err) : hearth_error_nomem(err);
    free(home);
    HEARTH_TRY(status);
    if (!s.found)
      HEARTH_TRY(search_build_id(&s, err));
    HEARTH_TRY(debug_file_ask_servers(&s, err));
  }
  *ret = s.found;
  return s.found ? HEARTH_OK
                 : hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                                    "%s: the file %s, that dwz moved a part of its debug information to, was not found",
                                    hearth_elf_file_path(file), name ? name : "?");
}
