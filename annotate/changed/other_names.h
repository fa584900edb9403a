/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions whose linkage names changed though their source may not have: another type of a parameter or of what a template
 * returns, another namespace around them. */
#ifndef HEARTH_OTHER_NAMES_H
#define HEARTH_OTHER_NAMES_H

#include "hearth/profile.h"
#include "location.h"

typedef struct hearth_other_name {
  LLVMValueRef function;
  uint64_t id;  /* now */
  uint32_t row; /* in the profile */
} hearth_other_name;

typedef struct hearth_other_names {
  hearth_other_name *items;
  size_t count, room;
} hearth_other_names;

/* Pairs of functions of the module's source file: one that only the module has, and one that only the profile has. A
 * pair agrees in the name with scopes and template arguments, or else in the bare name, if no other function on
 * either side has it. None if the profile knows nothing of the file. Takes time in proportion to all functions of
 * the profile. Errors: those of reading a profile, E_NOMEM. Free in any case. */
hearth_status hearth_other_names_find(hearth_other_names *names, LLVMModuleRef module, hearth_profile *profile,
                                      hearth_locator *locator, hearth_error *err);
void hearth_other_names_free(hearth_other_names *names);

#endif
