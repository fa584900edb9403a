/* Which calls allocate, and what their hinted forms are called. The table is alloc_functions.def. */
#ifndef HEARTH_ALLOC_FUNCTIONS_H
#define HEARTH_ALLOC_FUNCTIONS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

/* The bits of LLVM's attribute allockind (LangRef, "Function Attributes"). */
typedef enum hearth_alloc_kind {
  HEARTH_ALLOC_OTHER = 0,
  HEARTH_ALLOC_REALLOC = 1 << 1,
  HEARTH_ALLOC_UNINITIAL = 1 << 0 | 1 << 3,
  HEARTH_ALLOC_ZEROED = 1 << 0 | 1 << 4,
  HEARTH_ALLOC_ALIGNED = 1 << 0 | 1 << 3 | 1 << 5
} hearth_alloc_kind;

typedef enum hearth_alloc_family {
  HEARTH_ALLOC_FAMILY_C,
  HEARTH_ALLOC_FAMILY_NEW,
  HEARTH_ALLOC_FAMILY_NEW_ARRAY
} hearth_alloc_family;

/* A row of the table. */
typedef struct hearth_alloc_function {
  const char *name, *hinted, *signature, *size;
  hearth_alloc_kind kind;
  hearth_alloc_family family;
} hearth_alloc_function;

/* The row of the function that a call calls directly, or NULL: not a call, an indirect one, another function,
 * one of the same name with another type, one that the module defines itself, or a call that lowering made. */
const hearth_alloc_function *hearth_alloc_function_of(LLVMValueRef instruction);

/* Whether a function type is this: letters for result and parameters, as in the table. */
bool hearth_has_signature(LLVMTypeRef type, const char *signature);

#endif
