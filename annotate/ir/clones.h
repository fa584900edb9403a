/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Clones of functions, told by their names, "FUNCTION.memprof.N": LLVM's pass makes them, and ours, so that contexts part. */
#ifndef HEARTH_CLONES_H
#define HEARTH_CLONES_H

#include <stdbool.h>

#include <llvm-c/Core.h>

#define HEARTH_CLONE_NAME_MAX 512

/* Write the name of clone `number` (>= 1) of a function; false if it is too long. */
bool hearth_clone_name(LLVMValueRef function, unsigned number, char ret[HEARTH_CLONE_NAME_MAX]);

/* Clone `number` of a function; NULL if there is none. */
LLVMValueRef hearth_clone_of(LLVMValueRef function, unsigned number);
bool hearth_is_clone(LLVMValueRef function);

/* Is the function a clone, or does it have some? */
bool hearth_has_clones(LLVMValueRef function);

#endif
