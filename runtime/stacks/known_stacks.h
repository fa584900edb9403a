/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a thread remembers of call stacks, so that the next one, which is much the same, need not be unwound and
 * folded as a whole. Stacks are arrays of addresses, leaf first. */
#ifndef HEARTH_RUNTIME_KNOWN_STACKS_H
#define HEARTH_RUNTIME_KNOWN_STACKS_H

#include "thread_state.h"
#include "unwind.h"

#include <stdbool.h>
#include <stdint.h>

/* Folding of recursion: one of each cycle of calls is kept. Where an address occurs again further from the root, the
 * part between is left out (and noted), as hearth_builder_fold_recursion does. */

/* For each position of a stack, the kept addresses of the part from there to the root. One more entry ends the
 * stack. */
typedef struct hearth_folded {
  uint8_t tops[HEARTH_DEPTH_MOST + 1];  /* position of the innermost address; the next one is tops[that + 1] */
  uint64_t seen[HEARTH_DEPTH_MOST + 1]; /* a bit for each address that may be among them: others need not be searched */
} hearth_folded;

/* Fold pcs[first..end): the results of an earlier call for the positions [from, end) still hold. `end` is at most
 * HEARTH_DEPTH_MOST. */
void hearth_fold_extend(const uint64_t *pcs, hearth_folded *folded, size_t first, size_t from, size_t end);

/* Write the kept addresses of pcs[first..end), leaf first; ret_pcs may be pcs if `first` is 0. Returns how many
 * addresses. */
size_t hearth_fold_collect(const uint64_t *pcs, const hearth_folded *folded, size_t first, size_t end,
                           uint64_t *ret_pcs);

/* Fold pcs[0..depth) in place. Returns the new depth. */
size_t hearth_fold_recursion(uint64_t *pcs, size_t depth);

/* Return addresses of folded calls: calls that may be in progress where a stack lacks them. Any thread may
 * add and read at any time, signal handlers too. */

/* Further ones are not noted: plans may then heed calls that they should not. */
#define HEARTH_FOLDED_PCS_MOST 6144u

/* An address that is there is not added again. */
void hearth_folded_pcs_add(uint64_t pc);

/* Those added so far, in any order: the one behind `pc`, NULL for the first one. NULL: that was the last. */
const uint64_t *hearth_folded_pcs_next(const uint64_t *pc);

/* Call stacks that frame pointers link from the leaf to the root, as in programs that are compiled for profiling: their
 * contexts are found without unwinding. Each frame is known to be linked by the rule of its return address, so that the
 * links lead where the unwinder would go. Frames that have not changed since the thread's last allocation are compared
 * and not followed; each has a hash of the folded stack from there to the root. */

#define HEARTH_CHAIN_CONTEXTS 4096
#define HEARTH_CHAIN_CERTAIN  1024
#define HEARTH_CHAIN_LEAVES   64

typedef struct hearth_chain_frame {
  const hearth_frame *at;
  hearth_frame copy;
  uint64_t hash; /* of the folded addresses from here to the root */
} hearth_chain_frame;

/* A context that the thread has had. Hashes of 64 bits stand for folded stacks: of a million, any two have the same
 * one with a probability of 1 to 37 million. */
typedef struct hearth_chain_context {
  uint64_t hash;
  uint32_t context; /* 0: none */
} hearth_chain_context;

/* A frame that was the innermost one, on a stack with that hash: there is nothing to look up. */
typedef struct hearth_chain_leaf {
  const hearth_frame *at;
  uintptr_t return_address;
  uint64_t outer_hash; /* of the folded addresses behind it */
  uint32_t context;    /* 0: none */
} hearth_chain_leaf;

/* What is wanted of stacks; stays the same. */
typedef struct hearth_chain_manner {
  size_t most; /* addresses of a stack, before it is folded */
  bool folds;
} hearth_chain_manner;

/* All zero at first. Positions are those of the arrays: leaf first, the root's is the last. */
typedef struct hearth_frame_chain {
  const hearth_frame *end; /* outermost frame; NULL: not known */
  hearth_frame end_copy;   /* its words; the unwinder went no further from there ... */
  uintptr_t root;          /* ... while this was hearth_this_thread.root */
  bool is_behind; /* the end is the frame of the outermost function itself: its return address is start code's */
  uintptr_t low;  /* of the stack */
  uint64_t seed;  /* hash of the empty stack */
  bool complete;  /* the frames are those of the stack that was looked for last */
  hearth_chain_manner manner;
  uint32_t rests;     /* look-ups to leave out, as stacks are too deep */
  size_t count;       /* of frames */
  size_t hashed_from; /* positions before this are neither folded nor hashed yet */
  hearth_chain_frame frames[HEARTH_DEPTH_MOST];
  uint64_t pcs[HEARTH_DEPTH_MOST];
  hearth_folded folded;
  const hearth_frame *fresh[HEARTH_DEPTH_MOST]; /* for hearth_frame_chain_find */
  hearth_chain_leaf leaves[HEARTH_CHAIN_LEAVES];
  uint64_t certain[HEARTH_CHAIN_CERTAIN]; /* addresses whose callers are found by the frame pointer */
  hearth_chain_context contexts[HEARTH_CHAIN_CONTEXTS];
} hearth_frame_chain;

/* The context of the stack that begins with `frame`; 0: it is not known, and `complete` says whether the chain is that
 * stack. Rules of addresses that the thread has not had lately are looked up only if `may_wait`: that may take locks.
 * Reads only the calling thread's own stack. */
uint32_t hearth_frame_chain_find(hearth_frame_chain *chain, const hearth_frame *frame, bool may_wait);

/* Of a complete chain: write the addresses, as hearth_unwind and hearth_fold_recursion do. Returns how many. */
size_t hearth_frame_chain_copy(const hearth_frame_chain *chain, uint64_t *ret_pcs);

/* Remember the context of the complete chain. */
void hearth_frame_chain_set_context(hearth_frame_chain *chain, uint32_t context);

/* hearth_unwind found that frame pointers link the `count` frames from `frame` on, which are the whole stack: stacks
 * that end with the same frame are found from now on. */
void hearth_frame_chain_end(hearth_frame_chain *chain, const hearth_frame *frame, size_t count,
                            hearth_chain_manner manner);

/* The stack is another thread's from now on, or the code is not what it was. */
void hearth_frame_chain_forget(hearth_frame_chain *chain);

/* Forget the contexts of all stacks; by any thread, as long as the owner's stack has no code that is not what it was. */
void hearth_frame_chain_forget_contexts(hearth_frame_chain *chain);

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

/* Call stacks that a thread has had before and that frame pointers do not link, with their contexts. Most
 * allocations come from the same place as some earlier one: then a comparison of the words is enough, which needs no
 * load to wait for the one before it. */

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

/* Remember the stack that hearth_unwind found, unless it is linked or does not last. A stack that has not been found
 * again gives way only to one of HEARTH_STACK_CACHE_STAY: where hardly any stack comes again, most need not be
 * copied. */
void hearth_stack_cache_add(hearth_stack_cache *cache, const hearth_frame *frame, const hearth_trail *trail,
                            uint32_t context);

/* Forget all; by any thread, as hearth_frame_chain_forget_contexts. */
void hearth_stack_cache_forget(hearth_stack_cache *cache);

#endif
