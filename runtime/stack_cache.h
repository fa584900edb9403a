/* Call stacks that a thread has had before, with their contexts. Most allocations come from where some earlier one came
 * from: then comparing the frames, which needs no load to wait for the one before it, is all there is to do. */
#ifndef HEARTH_RUNTIME_STACK_CACHE_H
#define HEARTH_RUNTIME_STACK_CACHE_H

#include "unwind.h"

#include <stdbool.h>

#define HEARTH_STACK_CACHE_SLOTS 128
#define HEARTH_STACK_CACHE_DEPTH 64 /* deeper stacks are not remembered */

typedef struct hearth_cached_stack {
  const hearth_frame *frame;                     /* the innermost one; NULL: the slot is empty */
  uint32_t count, context;                       /* frames */
  hearth_frame frames[HEARTH_STACK_CACHE_DEPTH]; /* copies: each leads to the next one's place */
} hearth_cached_stack;

typedef struct hearth_stack_cache {
  hearth_cached_stack slots[HEARTH_STACK_CACHE_SLOTS];
} hearth_stack_cache;

/* The context of the stack that begins with `frame`, if it is remembered. Reads no frame but such as lie where there was
 * one on the calling thread's own stack, which `frame` is on. */
bool hearth_stack_cache_find(const hearth_stack_cache *cache, const hearth_frame *frame, uint32_t *ret_context);

/* Remember what hearth_unwind found: `count` frames from `frame` on, all on the thread's own stack. */
void hearth_stack_cache_add(hearth_stack_cache *cache, const hearth_frame *frame, size_t count, uint32_t context);

#endif
