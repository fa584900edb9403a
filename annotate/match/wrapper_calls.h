/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The places in the profile where functions that the user listed are called. The profile's contexts belong to the
 * functions that these call in the end, which are further in; here they are found by the place of the call. */
#ifndef HEARTH_WRAPPER_CALLS_H
#define HEARTH_WRAPPER_CALLS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

#include "hearth/profile.h"

typedef struct hearth_wrapper_call {
  uint32_t frame;   /* row of the place that calls */
  uint32_t context; /* row of a context through it */
  uint32_t node;    /* where the place is in that context's stack */
} hearth_wrapper_call;

typedef struct hearth_wrapper_calls {
  hearth_wrapper_call *items; /* by frame, then context */
  size_t count, room;
  bool known;
} hearth_wrapper_calls;

/* Find all calls of functions with these names (linkage names, borrowed) in a profile: takes time in proportion to all its
 * stacks. E_NOMEM, and those of reading a profile. Free in any case. */
hearth_status hearth_wrapper_calls_find(hearth_wrapper_calls *calls, hearth_profile *profile, const char *const *names,
                                        size_t n, hearth_error *err);
void hearth_wrapper_calls_free(hearth_wrapper_calls *calls);

/* Position of the first call by a frame of row `frame` or a later one. */
size_t hearth_wrapper_calls_from(const hearth_wrapper_calls *calls, uint32_t frame);

/* ------------------------------------------------ pointer calls ------------------------------------------------ */

/* Calls of an allocation function through a pointer, as libxml2 makes all of its: `xmlMallocFunc xmlMalloc = malloc;`. The
 * profile says that such a call allocates, but not by which function; its type does. The call is promoted:
 *
 *   p = xmlMalloc(n);   ->   p = xmlMalloc == malloc ? malloc(n) : xmlMalloc(n);
 *
 * The direct call gets contexts and a hint like any other. Where the pointer leads elsewhere, blocks are placed as before. */

/* Is it a call through a pointer that was not promoted yet? */
bool hearth_is_pointer_call(LLVMValueRef call);

/* The function that a pointer call may lead to, by its type: malloc, calloc or realloc. NULL if it cannot be promoted;
 * *ret_why says why, for a remark. */
const char *hearth_pointer_callee(LLVMValueRef call, const char **ret_why);

/* Promote a pointer call that has such a function. Returns the direct call. */
LLVMValueRef hearth_promote_pointer_call(LLVMValueRef call);

#endif
