/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Clones of functions, told by their names, "FUNCTION.memprof.N": LLVM's pass makes them in a link, so that contexts part. */
#ifndef HEARTH_CLONES_H
#define HEARTH_CLONES_H

#include <stdbool.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Clone `number` of a function; NULL if there is none. */
LLVMValueRef hearth_clone_of(LLVMValueRef function, unsigned number);
bool hearth_is_clone(LLVMValueRef function);

/* To be called before anything looks through aliases: those that a link made in place of clones, which LLVM 22 takes for equal
 * by the numbers of the clones that they call, without regard to which calls have them, become aliases of the original
 * function, and its calls lead to no clones any more. True if there were some. */
bool hearth_clones_distrust_aliases(LLVMModuleRef module);

/* Is the function a clone, or does it have some? */
bool hearth_has_clones(LLVMValueRef function);

#ifdef __cplusplus
}
#endif

#endif
