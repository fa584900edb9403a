/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Call stacks that frame pointers link from the leaf to the root, as in programs that are compiled for profiling: their
 * contexts are found without unwinding. Each frame is known to be linked by the rule of its return address, so that the
 * links lead where the unwinder would go. Frames that have not changed since the thread's last allocation are compared
 * and not followed; each has a hash of the folded stack from there to the root. */
#ifndef HEARTH_RUNTIME_FRAME_CHAIN_H
#define HEARTH_RUNTIME_FRAME_CHAIN_H

#include "fold.h"

#define HEARTH_CHAIN_CONTEXTS 4096
#define HEARTH_CHAIN_CERTAIN  1024
#define HEARTH_CHAIN_LEAVES   64

typedef struct hearth_chain_frame {
  const hearth_frame *at;
  hearth_frame copy;
  uint64_t hash; /* of the folded addresses from here to the root */
} hearth_chain_frame;

/* A context that the thread has had. Hashes of 64 bits stand for folded stacks: of a million, any two have the same one with
 * a probability of 1 to 37 million. */
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

/* hearth_unwind found that frame pointers link the `count` frames from `frame` on, which are the whole stack: stacks that end
 * with the same frame are found from now on. */
void hearth_frame_chain_end(hearth_frame_chain *chain, const hearth_frame *frame, size_t count,
                            hearth_chain_manner manner);

/* The stack is another thread's from now on, or the code is not what it was. */
void hearth_frame_chain_forget(hearth_frame_chain *chain);

/* Forget the contexts of all stacks; by any thread, as long as the owner's stack has no code that is not what it was. */
void hearth_frame_chain_forget_contexts(hearth_frame_chain *chain);

#endif
