/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls of an allocation function through a pointer, as libxml2 makes all of its: `xmlMallocFunc xmlMalloc = malloc;`. The
 * profile says that such a call allocates, but not by which function; its type does. The call is promoted:
 *
 *   p = xmlMalloc(n);   ->   p = xmlMalloc == malloc ? malloc(n) : xmlMalloc(n);
 *
 * The direct call gets contexts and a hint like any other. Where the pointer leads elsewhere, blocks are placed as before. */
#ifndef HEARTH_POINTER_CALLS_H
#define HEARTH_POINTER_CALLS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

/* Is it a call through a pointer that was not promoted yet? */
bool hearth_is_pointer_call(LLVMValueRef call);

/* The function that a pointer call may lead to, by its type: malloc, calloc or realloc. NULL if it cannot be promoted;
 * *ret_why says why, for a remark. */
const char *hearth_pointer_callee(LLVMValueRef call, const char **ret_why);

/* Promote a pointer call that has such a function. Returns the direct call. */
LLVMValueRef hearth_promote_pointer_call(LLVMValueRef call);

#endif
