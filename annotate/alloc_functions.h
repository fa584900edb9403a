/* Which calls allocate, and what their hinted forms are called. The table is alloc_functions.def. */
#ifndef HEARTH_ALLOC_FUNCTIONS_H
#define HEARTH_ALLOC_FUNCTIONS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

typedef struct hearth_alloc_function {
  const char *name, *hinted, *signature;
  char family;
} hearth_alloc_function;

/* The row of the function that a call calls directly, or NULL: not a call, an indirect one, another function,
 * one of the same name with another type, or one that the module defines itself. */
const hearth_alloc_function *hearth_alloc_function_of(LLVMValueRef instruction);

/* Whether a function type is this: letters for result and parameters, as in the table. */
bool hearth_has_signature(LLVMTypeRef type, const char *signature);

#endif
