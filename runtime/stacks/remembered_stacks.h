/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The call stack that a thread unwound last, if frame pointers do not link it (frame_chain.h). The next one mostly differs from it in a few calls at the leaf: the words
 * that led to the outer frames are compared with copies, from the root on, which needs no load to wait for the one
 * before it. Only the new part is unwound and folded. */
#ifndef HEARTH_RUNTIME_KNOWN_STACKS_H
#define HEARTH_RUNTIME_KNOWN_STACKS_H

#include "fold.h"
#include "thread_state.h"
#include "unwind.h"

#include <stdbool.h>

#define HEARTH_PREVIOUS_STACK_WORDS 512

/* Leaf first, at the ends of the arrays: the root's place stays the same. */
typedef struct hearth_previous_stack {
  size_t count;             /* of frames; 0: none are known */
  size_t word_count;        /* of the trail */
  hearth_stack_range range; /* that they are on, or would be */
  hearth_trail_place places[HEARTH_DEPTH_MOST];
  uint16_t return_words[HEARTH_DEPTH_MOST]; /* by place: which word has its pc */
  hearth_stack_word words[HEARTH_PREVIOUS_STACK_WORDS];
  uint64_t pcs[HEARTH_DEPTH_MOST];
  size_t folded_from; /* positions before this are not folded yet */
  hearth_folded folded;
} hearth_previous_stack;

/* Forget frames that have changed. Returns the known part of the last stack: if a walk comes there (hearth_unwind), the
 * stack that begins with `frame` is the same from there on. The result lives until the previous stack changes. Reads
 * only the calling thread's own stack, which is in use from `frame` on. */
hearth_known_stack hearth_previous_stack_keep(hearth_previous_stack *previous, const hearth_frame *frame);

/* After hearth_previous_stack_keep: make the stack of that frame the last one. hearth_unwind found
 * pcs[0..depth), of at most `most`, up to the kept part, or all; the trail becomes that of the whole stack, as long as
 * that is the previous stack. False: it is linked, too deep, or does not last; then nothing changes. */
bool hearth_previous_stack_set(hearth_previous_stack *previous, const uint64_t *pcs, size_t depth, size_t most,
                               hearth_trail *trail);

/* Write the innermost addresses of the previous stack, at most `most`, folded or not. Returns how many. */
size_t hearth_previous_stack_copy(hearth_previous_stack *previous, bool folded, size_t most, uint64_t *ret_pcs);

/* Call stacks that a thread has had before and that frame pointers do not link (frame_chain.h), with their contexts. Most
 * allocations come from the same place as some earlier one: then a comparison of the words is enough, which needs no load to wait for the one before it. */

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
