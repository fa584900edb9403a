/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The names of functions and binaries in views: demangled C++ names, or the id where the profile has no name. */
#ifndef HEARTH_VIEW_NAMES_H
#define HEARTH_VIEW_NAMES_H

#include "hearth/profile.h"

typedef struct hearth_names {
  hearth_profile *profile;
  bool linkage_names;
  char **names; /* by function row; NULL: not asked for yet */
} hearth_names;

/* The profile is borrowed. Destroy also after an error. */
hearth_status hearth_names_init(hearth_names *names, hearth_profile *profile, bool linkage_names, hearth_error *err);
void hearth_names_destroy(hearth_names *names);

/* Lives as long as `names`; demangled when first asked for. */
hearth_status hearth_names_get(hearth_names *names, uint32_t function, const char **ret, hearth_error *err);

/* A function as views print it. */
typedef struct hearth_function_text {
  hearth_function_info info;
  const char *name; /* lives as long as the names */
  char path[HEARTH_PATH_LIMIT];
} hearth_function_text;

hearth_status hearth_function_text_get(hearth_names *names, uint32_t function, hearth_function_text *ret,
                                       hearth_error *err);

typedef struct hearth_binary_text {
  const char *name;                                                      /* lives as long as the profile's handle */
  char build_id[2 * sizeof(((hearth_indexed_binary *)0)->build_id) + 1]; /* hexadecimal; "" if there is none */
} hearth_binary_text;

hearth_status hearth_binary_text_get(hearth_profile *profile, uint32_t row, hearth_binary_text *ret, hearth_error *err);

/* Demangled name, or a copy of a name that is no C++ linkage name. Free with free(); NULL: out of memory. */
char *hearth_demangle(const char *linkage_name);

#endif
