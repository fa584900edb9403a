/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How far apart the functions of a file were, and are: a profile has no functions' ends, but where the next one of a file
 * begins. If that moved, lines were inserted or removed in the function or behind it. */
#ifndef HEARTH_SPACING_H
#define HEARTH_SPACING_H

#include "hearth/profile.h"
#include "location.h"

typedef struct hearth_spaced_function {
  uint32_t path, then, now; /* its first line in the profile and in the module */
} hearth_spaced_function;

typedef struct hearth_spacing {
  hearth_spaced_function *items; /* of all files, by path and line then */
  size_t count, room;
} hearth_spacing;

/* Find the spacing of functions that module and profile have. Errors: those of reading a profile, E_NOMEM; free
 * `spacing` also after an error. */
hearth_status hearth_spacing_find(hearth_spacing *spacing, LLVMModuleRef module, hearth_profile *profile,
                                  hearth_locator *locator, hearth_error *err);
void hearth_spacing_free(hearth_spacing *spacing);

/* By how many lines more than the function itself, which begins in line `now`, the next one of its file moved; false if there
 * is none, or it stands elsewhere now. */
bool hearth_spacing_behind(const hearth_spacing *spacing, const hearth_function_info *function, uint32_t now,
                           uint32_t *ret);

#endif
