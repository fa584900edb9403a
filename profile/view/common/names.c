/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names are demangled when they are asked for first, and kept. */
#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Itanium C++ ABI, section 3.4 "Demangler API": a C function of every C++ run-time library, declared in a header that
 * only C++ can read. */
char *__cxa_demangle(const char *mangled_name, char *buffer, size_t *length, int *status);

char *hearth_demangle(const char *linkage_name) {
  enum { DEMANGLE_NO_MEMORY = -1, DEMANGLE_OK = 0 };
  int status = 1;
  char *name = NULL;
  if (strncmp(linkage_name, "_Z", 2) == 0) /* "f" would be taken for the type float */
    name = __cxa_demangle(linkage_name, NULL, NULL, &status);
  if (status == DEMANGLE_OK || status == DEMANGLE_NO_MEMORY)
    return name;
  return strdup(linkage_name);
}

hearth_status hearth_names_init(hearth_names *names, hearth_profile *profile, bool linkage_names, hearth_error *err) {
  *names = (hearth_names){.profile = profile, .linkage_names = linkage_names};
  names->names = calloc((size_t)hearth_profile_function_count(profile) + 1, sizeof *names->names);
  return names->names ? HEARTH_OK : hearth_error_nomem(err);
}

void hearth_names_destroy(hearth_names *names) {
  for (uint32_t i = 0; names->names && i < hearth_profile_function_count(names->profile); i++)
    free(names->names[i]);
  free(names->names);
  names->names = NULL;
}

static char *make_name(const hearth_names *names, const hearth_function_info *function) {
  char id[24];
  if (!*function->name) {
    snprintf(id, sizeof id, "0x%016llx", (unsigned long long)function->id);
    return strdup(id);
  }
  return names->linkage_names ? strdup(function->name) : hearth_demangle(function->name);
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

hearth_status hearth_function_text_get(hearth_names *names, uint32_t function, hearth_function_text *ret,
                                       hearth_error *err) {
  HEARTH_TRY(hearth_profile_get_function(names->profile, function, &ret->info, err));
  HEARTH_TRY(hearth_profile_get_path(names->profile, ret->info.path, ret->path, sizeof ret->path, err));
  return hearth_names_get(names, function, &ret->name, err);
}

hearth_status hearth_binary_text_get(hearth_profile *profile, uint32_t row, hearth_binary_text *ret,
                                     hearth_error *err) {
  const uint8_t *build_id;
  uint32_t size;
  HEARTH_TRY(hearth_profile_get_binary(profile, row, &ret->name, &build_id, &size, err));
  ret->build_id[0] = '\0';
  for (uint32_t i = 0; i < size; i++)
    snprintf(ret->build_id + 2 * i, 3, "%02x", build_id[i]);
  return HEARTH_OK;
}
