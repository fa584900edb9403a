/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The allocator's fast path in the program (hearth/lowered_calls.h), at frequent calls whose blocks usually lie in the
 * main pool: a freed block is taken in place, or else the allocator goes on from there. The hinted function is
 * called without that pool, or if the hint that was computed is not the usual one:
 *
 *   if (hint == USUAL && pool->list[class])
 *     block = ...
 *   else
 *     block = hint == USUAL && pool->key ? hearth_fast_malloc_3(pool, class) : __hearth_malloc_hot_cold(bytes, hint)
 *
 * The same for realloc of NULL, by which programs allocate that have one function for all. */
#ifndef HEARTH_FAST_PATH_IN_PROGRAM_H
#define HEARTH_FAST_PATH_IN_PROGRAM_H

#include "alloc_functions.h"

typedef struct hearth_fast_call {
  LLVMValueRef call;
  const hearth_alloc_function *row;
  uint8_t hint;     /* that it has, or usually has */
  bool is_in_place; /* the code replaces the call; else a function has it */
} hearth_fast_call;

typedef struct hearth_fast_calls {
  hearth_fast_call *items;
  size_t count, room;
} hearth_fast_calls;

/* Note a call of the row's hinted form, whose hint usually is this constant, for the main pool; it stays as it is if
 * it cannot have the fast path. Where control seldom comes, a function of the module has it, or the code around the
 * call would lack registers. Inlining goes through the module's instructions, so it waits until nobody else does. */
void hearth_fast_note(hearth_fast_calls *calls, LLVMValueRef call, const hearth_alloc_function *row, LLVMValueRef hint);

/* Give all of them their fast path, and forget them. */
void hearth_fast_inline(LLVMModuleRef module, hearth_fast_calls *calls);

#endif
