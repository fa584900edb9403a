/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which global variables are profiled, and what they are called in profiles: by the instrumentation, and again by the
 * compilation that uses the profile. */
#ifndef HEARTH_GLOBAL_NAMES_H
#define HEARTH_GLOBAL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "hearth/program_tables.h"

typedef struct hearth_global_name {
  char name[HEARTH_GLOBAL_NAME_MAX + 1];
  char file[HEARTH_GLOBAL_NAME_MAX + 1]; /* base name; "": of a string literal */
  uint32_t line;                         /* 0: unknown */
  uint32_t flags;                        /* as in hearth_global_row */
} hearth_global_name;

/* False: it is none that is profiled. Those are defined here for good, lie in the section that the compiler chooses,
 * and are not thread-local. A string literal, which has no name, is called by its content. */
bool hearth_global_name_of(LLVMValueRef global, hearth_global_name *ret);

/* Bytes. */
uint64_t hearth_global_size(LLVMTargetDataRef layout, LLVMValueRef global);

#endif
