/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Known frames are compared from the root on, so that no load waits for the one before it. From the leaf, links are followed up
 * to the first frame that has not changed. */
#include "frame_chain.h"

#include "machine.h"
#include "os.h"
#include "thread_state.h"

#include <string.h>

#define CHAIN_LAST  HEARTH_DEPTH_MOST
#define CHAIN_GROUP 4  /* frames that are compared at once */
#define CHAIN_RESTS 32 /* following 255 links for nothing takes as long as a tenth of unwinding them */

static inline bool are_same(const hearth_frame *a, const hearth_frame *b) {
  return a->caller == b->caller && a->return_address == b->return_address;
}

/* Is the stack between `frame` and the known end? Code on other stacks is left to the unwinder. */
static inline bool is_between(const hearth_frame_chain *chain, const hearth_frame *frame) {
  const hearth_frame *end = chain->end;

  return end && (uintptr_t)frame >= chain->low && frame <= end && chain->root == hearth_this_thread.root &&
         are_same(end, &chain->end_copy);
}

/* A frame, for comparisons. */
typedef uint64_t frame_words __attribute__((vector_size(sizeof(hearth_frame)), aligned(8), may_alias));

static inline frame_words difference_of(const hearth_chain_frame *known) {
  return *(const frame_words *)known->at ^ *(const frame_words *)&known->copy;
}

static inline bool are_same_frames_there(const hearth_chain_frame *known) {
  frame_words difference =
      (difference_of(&known[0]) | difference_of(&known[1])) | (difference_of(&known[2]) | difference_of(&known[3]));

  return (difference[0] | difference[1]) == 0;
}

/* The position of the innermost frame that has not changed. Those further in have lower addresses. */
static inline size_t keep(const hearth_frame_chain *chain, const hearth_frame *frame) {
  size_t first = CHAIN_LAST, least = CHAIN_LAST - chain->count;

  while (first >= least + CHAIN_GROUP && chain->frames[first - CHAIN_GROUP].at >= frame &&
         are_same_frames_there(&chain->frames[first - CHAIN_GROUP]))
    first -= CHAIN_GROUP;
  while (first > least && chain->frames[first - 1].at >= frame &&
         are_same(chain->frames[first - 1].at, &chain->frames[first - 1].copy))
    --first;
  return first;
}

/* Follow links to a frame that is known, or to the end. *first is its position, and *ret_count how many are before it. False:
 * the links lead elsewhere, or there are too many. */
static inline bool follow_links(hearth_frame_chain *chain, const hearth_frame *frame, size_t *first,
                                size_t *ret_count) {
  size_t count = 0;

  for (;;) {
    while (*first < CHAIN_LAST && chain->frames[*first].at < frame)
      ++*first; /* it is there, but no link leads to it */
    *ret_count = count;
    if (*first < CHAIN_LAST && chain->frames[*first].at == frame)
      return true;
    if (count == *first) {
      chain->rests = CHAIN_RESTS;
      return false;
    }
    chain->fresh[count++] = frame;
    *ret_count = count;
    if (frame == chain->end)
      return true;
    const hearth_frame *next = frame->caller;
    if (next < frame + 1 || next > chain->end || (uintptr_t)next % sizeof(uintptr_t) != 0)
      return false;
    frame = next;
  }
}

static inline bool is_certain(hearth_frame_chain *chain, uint64_t pc, bool may_wait) {
  uint64_t *place = &chain->certain[pc * UINT64_C(0x9e3779b97f4a7c15) >> 54]; /* 2^64 / golden ratio */

  _Static_assert(HEARTH_CHAIN_CERTAIN == 1 << (64 - 54), "the hash is a place");
  if (__builtin_expect(*place == pc, true))
    return true;
  if (!may_wait || !hearth_unwind_is_linked(pc))
    return false;
  *place = pc;
  return true;
}

static inline uint64_t mix_pc(uint64_t hash, uint64_t pc) {
  hash = (hash ^ pc) * UINT64_C(0xff51afd7ed558ccd); /* the finalizer of MurmurHash3 */
  return hash ^ hash >> 32;
}

/* Add frames, outermost first. False: one's caller is not where its frame pointer leads. */
static __attribute__((noinline)) bool push(hearth_frame_chain *chain, size_t count, bool may_wait) {
  size_t first = CHAIN_LAST - chain->count;
  bool certain = true;

  while (count-- > 0) {
    const hearth_frame *frame = chain->fresh[count];
    uint64_t pc = hearth_code_address(frame->return_address) - 1;
    if (first < CHAIN_LAST && !is_certain(chain, pc, may_wait)) { /* from the end no link is followed */
      certain = false;
      break;
    }
    --first;
    chain->frames[first].at = frame;
    chain->frames[first].copy = *frame;
    chain->pcs[first] = pc;
  }
  chain->count = CHAIN_LAST - first;
  return certain;
}

/* Fold and hash what is not yet, of a stack that is not too deep: of others only the innermost part is to be folded. */
static inline void hash_new(hearth_frame_chain *chain) {
  size_t first = CHAIN_LAST - chain->count, from = chain->hashed_from;

  if (from == first)
    return;
  if (chain->folds)
    hearth_fold_extend(chain->pcs, &chain->folded, first, from, CHAIN_LAST);
  for (size_t i = from; i-- > first;) {
    size_t top = chain->folds ? chain->folded.tops[i] : i;
    uint64_t outer = i + 1 < CHAIN_LAST ? chain->frames[i + 1].hash : chain->seed;
    chain->frames[i].hash = top == i ? mix_pc(outer, chain->pcs[i]) : chain->frames[top].hash;
  }
  chain->hashed_from = first;
}

static inline hearth_chain_context *slot_of(hearth_frame_chain *chain) {
  return &chain->contexts[chain->frames[CHAIN_LAST - chain->count].hash % HEARTH_CHAIN_CONTEXTS];
}

uint32_t hearth_frame_chain_find(hearth_frame_chain *chain, const hearth_frame *frame, bool may_wait) {
  size_t count;

  chain->complete = false;
  if (__builtin_expect(!is_between(chain, frame), false))
    return 0;
  if (__builtin_expect(chain->rests > 0, false)) {
    --chain->rests;
    return 0;
  }
  size_t first = keep(chain, frame);
  bool leads = follow_links(chain, frame, &first, &count);
  chain->count = CHAIN_LAST - first;
  if (chain->hashed_from < first)
    chain->hashed_from = first;
  if (!leads || (count > 0 && !push(chain, count, may_wait)))
    return 0;
  chain->complete = true;
  if (__builtin_expect(chain->count > chain->most, false))
    return 0;
  hash_new(chain);
  hearth_chain_context *slot = slot_of(chain);
  return slot->hash == chain->frames[CHAIN_LAST - chain->count].hash ? slot->context : 0;
}

size_t hearth_frame_chain_copy(const hearth_frame_chain *chain, uint64_t *ret_pcs) {
  size_t first = CHAIN_LAST - chain->count, count = chain->count < chain->most ? chain->count : chain->most;

  if (chain->folds && count == chain->count)
    return hearth_fold_collect(chain->pcs, &chain->folded, first, CHAIN_LAST, ret_pcs);
  memcpy(ret_pcs, chain->pcs + first, count * sizeof *ret_pcs);
  return chain->folds ? hearth_fold_recursion(ret_pcs, count) : count;
}

void hearth_frame_chain_set_context(hearth_frame_chain *chain, uint32_t context) {
  if (chain->count <= chain->most)
    *slot_of(chain) = (hearth_chain_context){chain->frames[CHAIN_LAST - chain->count].hash, context};
}

void hearth_frame_chain_end(hearth_frame_chain *chain, const hearth_frame *frame, size_t count, size_t most,
                            bool folds) {
  hearth_stack_range range = hearth_unwind_stack(frame);

  while (--count > 0)
    frame = frame->caller;
  if (!hearth_this_thread.root || !range.lasting || frame->return_address < HEARTH_OS_PAGE)
    return;
  chain->end = frame;
  chain->end_copy = *frame;
  chain->root = hearth_this_thread.root;
  chain->low = range.low;
  chain->seed = mix_pc(mix_pc((uintptr_t)frame, (uintptr_t)frame->caller), chain->root);
  chain->most = (uint32_t)most;
  chain->folds = folds;
  chain->count = 0;
  chain->hashed_from = CHAIN_LAST;
}

void hearth_frame_chain_forget(hearth_frame_chain *chain) {
  chain->end = NULL;
  chain->complete = false;
}
