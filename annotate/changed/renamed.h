/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A source file that is not in the profile, though other files there have functions of the same names: the file was
 * renamed, or the profile is another program's. */
#ifndef HEARTH_RENAMED_H
#define HEARTH_RENAMED_H

#include "hearth/profile.h"
#include "location.h"

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
