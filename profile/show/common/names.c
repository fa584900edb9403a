/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names are made when they are asked for first, and kept. */
#include "names.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/ids.h"

enum { KIND_WRAPPER = 1, KIND_OTHER = 2 };

static const char *const known_wrappers[] = {
#define HEARTH_WRAPPER(pattern) pattern,
#include "wrappers.def"
};

/* Itanium C++ ABI, section 3.4 "Demangler API": a C function of every C++ run-time library, declared in a header that
 * only C++ can read. */
char *__cxa_demangle(const char *mangled_name, char *buffer, size_t *length, int *status);

static char *demangle(const char *linkage_name) {
  enum { DEMANGLE_NO_MEMORY = -1, DEMANGLE_OK = 0 };
  int status = 1;
  char *name = NULL;
  if (strncmp(linkage_name, "_Z", 2) == 0) /* "f" would be taken for the type float */
    name = __cxa_demangle(linkage_name, NULL, NULL, &status);
  if (status == DEMANGLE_OK || status == DEMANGLE_NO_MEMORY)
    return name;
  return strdup(linkage_name);
}

char *hearth_name_make(const char *linkage_name, hearth_name_style style) {
  if (style == HEARTH_NAMES_LINKED)
    return strdup(linkage_name);
  char *name = demangle(linkage_name);
  if (name && style == HEARTH_NAMES_SHORT)
    hearth_shorten_name(name);
  return name;
}

hearth_status hearth_names_init(hearth_names *names, hearth_profile *profile, const hearth_view_options *view,
                                hearth_error *err) {
  size_t rows = (size_t)hearth_profile_function_count(profile) + 1;
  *names = (hearth_names){.profile = profile};
  if (view) {
    names->style = view->linkage_names ? HEARTH_NAMES_LINKED : view->full_names ? HEARTH_NAMES_FULL : names->style;
    names->wrappers = view->wrappers;
    names->wrapper_count = view->wrapper_count;
    names->depth = view->depth;
  }
  names->names = calloc(rows, sizeof *names->names);
  names->kinds = calloc(rows, sizeof *names->kinds);
  return names->names && names->kinds ? HEARTH_OK : hearth_error_nomem(err);
}

void hearth_names_destroy(hearth_names *names) {
  for (uint32_t i = 0; names->names && i < hearth_profile_function_count(names->profile); i++)
    free(names->names[i]);
  free(names->names);
  free(names->kinds);
  names->names = NULL;
  names->kinds = NULL;
}

static char *make_name(const hearth_names *names, const hearth_function_info *function) {
  char id[24];
  if (*function->name)
    return hearth_name_make(function->name, names->style);
  snprintf(id, sizeof id, "0x%016llx", (unsigned long long)function->id);
  return strdup(id);
}

hearth_status hearth_names_get(hearth_names *names, uint32_t function, const char **ret, hearth_error *err) {
  if (!names->names[function]) {
    hearth_function_info info;
    HEARTH_TRY(hearth_profile_get_function(names->profile, function, &info, err));
    names->names[function] = make_name(names, &info);
    if (!names->names[function])
      return hearth_error_nomem(err);
  }
  *ret = names->names[function];
  return HEARTH_OK;
}

hearth_status hearth_path_get(hearth_profile *profile, uint32_t path, char ret[HEARTH_PATH_LIMIT], hearth_error *err) {
  HEARTH_TRY(hearth_profile_get_path(profile, path, ret, HEARTH_PATH_LIMIT, err));
  hearth_shorten_path(ret);
  return HEARTH_OK;
}

hearth_status hearth_function_text_get(hearth_names *names, uint32_t function, hearth_function_text *ret,
                                       hearth_error *err) {
  HEARTH_TRY(hearth_profile_get_function(names->profile, function, &ret->info, err));
  HEARTH_TRY(hearth_path_get(names->profile, ret->info.path, ret->path, err));
  return hearth_names_get(names, function, &ret->name, err);
}

/* -------------------------------------------------- wrappers -------------------------------------------------- */

static bool matches(const char *pattern, const char *name, const char *path) {
  pattern += *pattern == '-';
  return fnmatch(pattern, strchr(pattern, '/') ? path : name, 0) == 0;
}

/* The last pattern that matches decides: the user's are behind the table's. */
static bool is_wrapper(const hearth_names *names, const char *name, const char *path) {
  for (size_t i = names->wrapper_count; i-- > 0;)
    if (matches(names->wrappers[i], name, path))
      return names->wrappers[i][0] != '-';
  for (size_t i = sizeof known_wrappers / sizeof *known_wrappers; i-- > 0;)
    if (matches(known_wrappers[i], name, path))
      return known_wrappers[i][0] != '-';
  return false;
}

static hearth_status judge(const hearth_names *names, uint32_t function, bool *ret, hearth_error *err) {
  hearth_function_info info;
  char path[HEARTH_PATH_LIMIT];
  HEARTH_TRY(hearth_profile_get_function(names->profile, function, &info, err));
  HEARTH_TRY(hearth_path_get(names->profile, info.path, path, err));
  char *name = hearth_name_make(info.name, HEARTH_NAMES_SHORT);
  if (!name)
    return hearth_error_nomem(err);
  *ret = !hearth_is_name_file(path) && is_wrapper(names, name, path);
  free(name);
  return HEARTH_OK;
}

hearth_status hearth_names_is_wrapper(hearth_names *names, uint32_t function, bool *ret, hearth_error *err) {
  unsigned char *kind = &names->kinds[function];
  if (!*kind) {
    HEARTH_TRY(judge(names, function, ret, err));
    *kind = *ret ? KIND_WRAPPER : KIND_OTHER;
  }
  *ret = *kind == KIND_WRAPPER;
  return HEARTH_OK;
}

bool hearth_is_address_name(const char *name) {
  const char *at = strstr(name, "+0x");
  return at && at > name && at[3] != '\0' && at[3 + strspn(at + 3, "0123456789abcdef")] == '\0';
}

/* -------------------------------------------------- binaries -------------------------------------------------- */

static bool is_library_name(const char *name) {
  const char *at = name;
  while ((at = strstr(at, ".so")) && at[3] != '\0' && at[3] != '.')
    at++;
  return at != NULL;
}

hearth_status hearth_binary_text_get(hearth_profile *profile, uint32_t row, hearth_binary_text *ret,
                                     hearth_error *err) {
  const uint8_t *build_id;
  uint32_t size;
  HEARTH_TRY(hearth_profile_get_binary(profile, row, &ret->name, &build_id, &size, err));
  ret->is_library = is_library_name(ret->name);
  ret->build_id[0] = '\0';
  for (uint32_t i = 0; i < size; i++)
    snprintf(ret->build_id + 2 * i, 3, "%02x", build_id[i]);
  return HEARTH_OK;
}
