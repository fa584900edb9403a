/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions of a source file, in the module and in the profile: how far apart they were, and are; and whether another file had
 * them, which is then this one under its former name, or another program's. */
#ifndef HEARTH_FILE_FUNCTIONS_H
#define HEARTH_FILE_FUNCTIONS_H

#include "hearth/profile.h"
#include "location.h"

/* A profile has no functions' ends, but where the next one of a file begins. If that moved, lines were inserted or removed in
 * the function or behind it. */
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

typedef struct hearth_namesake {
  LLVMValueRef function;
  const char *name; /* linkage name, without suffixes: name_length characters; the module's */
  size_t name_length;
  uint64_t id;
  uint32_t row;   /* in the profile: the last function of that name */
  uint32_t count; /* of these */
} hearth_namesake;

/* The functions of the module's source file, by name; none if the profile knows one of them, or if none that other files
 * could call has a namesake: file-local functions of one name have nothing to do with each other. Else takes time in
 * proportion to all functions of the profile. Errors: those of reading a profile, E_NOMEM. Free in any case. */
typedef struct hearth_namesakes {
  hearth_namesake *items;
  size_t count, room;
} hearth_namesakes;
hearth_status hearth_namesakes_find(hearth_namesakes *namesakes, LLVMModuleRef module, hearth_profile *profile,
                                    hearth_locator *locator, hearth_error *err);
void hearth_namesakes_free(hearth_namesakes *namesakes);

/* Is the function, which has debug information, declared in the module's source file, by the file's last name? */
bool hearth_is_of_source_file(LLVMValueRef function);

/* Can other files call the function? */
bool hearth_is_external(LLVMValueRef function);

#endif
