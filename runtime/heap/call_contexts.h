/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The context of a call: its stack, folded, with the scopes of the thread; or that it is not to be recorded. `frame` is the frame of
 * the function that the program called. */
#ifndef HEARTH_RUNTIME_CALL_CONTEXTS_H
#define HEARTH_RUNTIME_CALL_CONTEXTS_H

#include "thread_cache.h"
#include "unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The context, without scopes, of a stack that the thread knows, without waiting for anything. False: it does not know it. */
bool hearth_find_known_context(hearth_thread_cache *cache, const hearth_frame *frame, uint32_t *ret_context);

/* The context of an allocation of `size` bytes; HEARTH_NO_CONTEXT: it is not to be recorded. `cache`: this thread's, or NULL. */
uint32_t hearth_find_context(size_t size, const hearth_frame *frame, hearth_thread_cache *cache);

/* The context of the call to the function whose frame is given; HEARTH_NO_CONTEXT if nothing is recorded now. */
uint32_t hearth_context_of(const hearth_frame *frame);

/* The context of a block that begins now in another heap, of this pc; HEARTH_NO_CONTEXT: it is not to be recorded. In a
 * critical section; `cache`: this thread's. */
uint32_t hearth_block_context(size_t size, const hearth_frame *frame, uint64_t heap_pc, hearth_thread_cache *cache);

#endif
