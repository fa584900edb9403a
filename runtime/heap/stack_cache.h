/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Call stacks that a thread has had before and that frame pointers do not link (frame_chain.h), with their contexts. Most
 * allocations come from the same place as some earlier one: then a comparison of the words is enough, which needs no load to wait for the one before it. */
#ifndef HEARTH_RUNTIME_STACK_CACHE_H
#define HEARTH_RUNTIME_STACK_CACHE_H

#include "unwind.h"

#include <stdbool.h>

#define HEARTH_STACK_CACHE_SLOTS 128
#define HEARTH_STACK_CACHE_WORDS 64 /* stacks of longer trails are not remembered */
#define HEARTH_STACK_CACHE_STAY  8

typedef struct hearth_cached_stack {
  const hearth_frame *frame; /* the innermost one; NULL: the slot is empty */
  uint32_t word_count, context;
  bool found;     /* since it was put there */
  uint8_t missed; /* other stacks that had to make do without the slot since then */
  hearth_stack_word words[HEARTH_STACK_CACHE_WORDS];
} hearth_cached_stack;

typedef struct hearth_stack_cache {
  hearth_cached_stack slots[HEARTH_STACK_CACHE_SLOTS];
} hearth_stack_cache;

/* The context of the stack that begins with `frame`, if it is remembered. Reads only the words that the trail led
 * through on the calling thread's own stack, which `frame` is on. */
bool hearth_stack_cache_find(hearth_stack_cache *cache, const hearth_frame *frame, uint32_t *ret_context);

/* Remember the stack that hearth_unwind found, unless it is linked or does not last. A stack that has not been found again gives way
 * only to one of HEARTH_STACK_CACHE_STAY: where hardly any stack comes again, most need not be copied. */
void hearth_stack_cache_add(hearth_stack_cache *cache, const hearth_frame *frame, const hearth_trail *trail,
                            uint32_t context);

/* Forget all; by any thread, as hearth_frame_chain_forget_contexts. */
void hearth_stack_cache_forget(hearth_stack_cache *cache);

#endif
