/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The allocator's fast path in the program (hearth/fast_path.h), at frequent calls whose blocks usually lie in the main pool: a freed
 * block is taken in place, and malloc is called if there is none; or called at once, for blocks that mostly stay. The hinted
 * function is what is called without that pool, or if the hint that was computed is not the usual one:
 *
 *   if (hint == USUAL && pool)
 *     block = pool->list[class] ? ... : malloc(bytes)
 *   else
 *     block = __hearth_malloc_hot_cold(bytes, hint)
 *
 * The same for realloc of NULL, by which programs allocate that have one function for all. */
#ifndef HEARTH_FAST_PATH_IN_PROGRAM_H
#define HEARTH_FAST_PATH_IN_PROGRAM_H

#include "alloc_functions.h"

typedef struct hearth_fast_call {
  LLVMValueRef call, caller; /* caller: once it is inlined */
  LLVMValueRef plain;        /* the function without hint */
  const hearth_alloc_function *row;
  uint8_t hint;   /* that it has, or usually has */
  bool is_reused; /* a freed block is taken in place */
} hearth_fast_call;

typedef struct hearth_fast_calls {
  hearth_fast_call *items;
  size_t count, room;
} hearth_fast_calls;

/* Note a call of the row's hinted form, in place of one of the plain function, whose hint usually is this constant, for the main pool; it
 * stays as it is if it cannot have the fast path. Inlining goes through the module's instructions, so it waits until nobody else
 * does. */
void hearth_fast_note(hearth_fast_calls *calls, LLVMValueRef call, const hearth_alloc_function *row, LLVMValueRef plain,
                      LLVMValueRef hint);

/* Give all of them their fast path, and forget them. */
void hearth_fast_inline(LLVMModuleRef module, hearth_fast_calls *calls);

#endif
