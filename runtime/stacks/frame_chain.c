/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Known frames are compared from the root on, so that no load waits for the one before it. From the leaf, links are
 * followed up to the first frame that has not changed. */
#include "known_stacks.h"

#include "machine.h"
#include "os.h"
#include "thread_state.h"

#include "hearth/expect.h"

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

/* Follow links to a frame that is known, or to the end. *first is its position, and *ret_count how many are before
 * it. False: the links lead elsewhere, or there are too many. */
static inline bool follow_links(hearth_frame_chain *chain, const hearth_frame *frame, size_t *first,
                                size_t *ret_count) {
  size_t count = 0;

  for (;;) {
    while (*first < CHAIN_LAST && chain->frames[*first].at < frame)
      ++*first; /* it is there, but no link leads to it */
    *ret_count = count;
    if ((*first < CHAIN_LAST && chain->frames[*first].at == frame) || (chain->is_behind && frame == chain->end))
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
static __attribute__((noinline)) bool chain_push(hearth_frame_chain *chain, size_t count, bool may_wait) {
  size_t first = CHAIN_LAST - chain->count;
  bool certain = true;

  while (count-- > 0) {
    const hearth_frame *frame = chain->fresh[count];
    uint64_t pc = hearth_code_address(frame->return_address) - 1;
    if (frame != chain->end && !is_certain(chain, pc, may_wait)) { /* from the end no link is followed */
      certain = false;
      break;
    }
    hearth_expect(first > 0 && (first == CHAIN_LAST || frame < chain->frames[first].at));
    --first;
    chain->frames[first].at = frame;
    chain->frames[first].copy = *frame;
    chain->pcs[first] = pc;
  }
  chain->count = CHAIN_LAST - first;
  return certain;
}

/* Of the stack from the position on. */
static inline uint64_t outer_hash(const hearth_frame_chain *chain, size_t position) {
  return position < CHAIN_LAST ? chain->frames[position].hash : chain->seed;
}

/* Fold and hash what is not yet, of a stack that is not too deep: of others only the innermost part is to be folded. */
static inline void hash_new(hearth_frame_chain *chain) {
  size_t first = CHAIN_LAST - chain->count, from = chain->hashed_from;

  hearth_expect(first <= from && from <= CHAIN_LAST);
  if (from == first)
    return;
  if (chain->manner.folds)
    hearth_fold_extend(chain->pcs, &chain->folded, first, from, CHAIN_LAST);
  for (size_t i = from; i-- > first;) {
    size_t top = chain->manner.folds ? chain->folded.tops[i] : i;
    chain->frames[i].hash = top == i ? mix_pc(outer_hash(chain, i + 1), chain->pcs[i]) : chain->frames[top].hash;
  }
  chain->hashed_from = first;
}

/* The hash that stands for the whole stack. */
static inline uint64_t key_of(const hearth_frame_chain *chain) { return chain->frames[CHAIN_LAST - chain->count].hash; }

static inline hearth_chain_context *chain_slot_of(hearth_frame_chain *chain, uint64_t key) {
  return &chain->contexts[key % HEARTH_CHAIN_CONTEXTS];
}

/* The leaf's place, if its caller's frame is the one at the position, which is hashed; else NULL. The chain may go
 * on further in: that is looked at again. */
static inline hearth_chain_leaf *leaf_at(hearth_frame_chain *chain, const hearth_frame *frame, size_t position) {
  const hearth_frame *caller = position < CHAIN_LAST ? chain->frames[position].at
                               : chain->is_behind    ? chain->end
                                                     : NULL;

  return frame->caller == caller && chain->hashed_from <= position && CHAIN_LAST - position < chain->manner.most
             ? &chain->leaves[(frame->return_address ^ frame->return_address >> 6) % HEARTH_CHAIN_LEAVES]
             : NULL;
}

static inline uint32_t find_leaf(hearth_frame_chain *chain, const hearth_frame *frame, size_t position) {
  const hearth_chain_leaf *leaf = leaf_at(chain, frame, position);

  return leaf && leaf->at == frame && leaf->return_address == frame->return_address &&
                 leaf->outer_hash == outer_hash(chain, position)
             ? leaf->context
             : 0;
}

/* The chain's innermost frame. */
static inline void set_leaf(hearth_frame_chain *chain, uint32_t context) {
  size_t first = CHAIN_LAST - chain->count;
  const hearth_frame *frame = chain->frames[first].at;
  hearth_chain_leaf *leaf = leaf_at(chain, frame, first + 1);

  if (leaf)
    *leaf = (hearth_chain_leaf){frame, frame->return_address, outer_hash(chain, first + 1), context};
}

/* By the hash of the whole stack, of which the frames from the position on have not changed. */
static __attribute__((noinline)) uint32_t find_by_hash(hearth_frame_chain *chain, const hearth_frame *frame,
                                                       size_t first, bool may_wait) {
  size_t count;
  uint32_t context;

  bool leads = follow_links(chain, frame, &first, &count);
  chain->count = CHAIN_LAST - first;
  if (chain->hashed_from < first)
    chain->hashed_from = first;
  if (!leads || (count > 0 && !chain_push(chain, count, may_wait)) || chain->count == 0)
    return 0;
  chain->complete = true;
  if (__builtin_expect(chain->count > chain->manner.most, false))
    return 0;
  hash_new(chain);
  uint64_t key = key_of(chain);
  hearth_chain_context *slot = chain_slot_of(chain, key);
  context = slot->hash == key ? slot->context : 0;
  if (count == 1 && context > 0)
    set_leaf(chain, context);
  return context;
}

uint32_t hearth_frame_chain_find(hearth_frame_chain *chain, const hearth_frame *frame, bool may_wait) {
  chain->complete = false;
  if (__builtin_expect(!is_between(chain, frame), false))
    return 0;
  if (__builtin_expect(chain->rests > 0, false)) {
    --chain->rests;
    return 0;
  }
  size_t first = keep(chain, frame);
  uint32_t context = find_leaf(chain, frame, first);
  return context > 0 ? context : find_by_hash(chain, frame, first, may_wait);
}

size_t hearth_frame_chain_copy(const hearth_frame_chain *chain, uint64_t *ret_pcs) {
  size_t first = CHAIN_LAST - chain->count,
         count = chain->count < chain->manner.most ? chain->count : chain->manner.most;

  if (chain->manner.folds && count == chain->count)
    return hearth_fold_collect(chain->pcs, &chain->folded, first, CHAIN_LAST, ret_pcs);
  memcpy(ret_pcs, chain->pcs + first, count * sizeof *ret_pcs);
  return chain->manner.folds ? hearth_fold_recursion(ret_pcs, count) : count;
}

void hearth_frame_chain_set_context(hearth_frame_chain *chain, uint32_t context) {
  uint64_t key = key_of(chain);

  if (chain->count <= chain->manner.most)
    *chain_slot_of(chain, key) = (hearth_chain_context){key, context};
}

/* Does the link of the outermost frame whose return address counts lead to one whose return address is start code's? */
static bool leads_to_root(const hearth_frame *frame, hearth_stack_range range) {
  const hearth_frame *caller = frame->caller;

  return hearth_this_thread.root && caller > frame && (uintptr_t)caller % sizeof(uintptr_t) == 0 &&
         (uintptr_t)caller <= range.high - sizeof *caller &&
         hearth_frame_callers_part((uintptr_t)caller, (uintptr_t)caller->caller) >= hearth_this_thread.root;
}

void hearth_frame_chain_end(hearth_frame_chain *chain, const hearth_frame *frame, size_t count,
                            hearth_chain_manner manner) {
  hearth_stack_range range = hearth_unwind_stack(frame);

  while (--count > 0)
    frame = frame->caller;
  bool is_linked = hearth_unwind_is_linked(hearth_code_address(frame->return_address) - 1);
  if (!range.lasting || frame->return_address < HEARTH_PAGE_BYTES || (!is_linked && !hearth_this_thread.root))
    return;
  chain->is_behind = is_linked && leads_to_root(frame, range);
  if (chain->is_behind)
    frame = frame->caller;
  chain->end = frame;
  chain->end_copy = *frame;
  chain->root = hearth_this_thread.root;
  chain->low = range.low;
  chain->seed = mix_pc(mix_pc((uintptr_t)frame, (uintptr_t)frame->caller), chain->root);
  chain->manner = manner;
  chain->count = 0;
  chain->hashed_from = CHAIN_LAST;
}

void hearth_frame_chain_forget(hearth_frame_chain *chain) {
  chain->end = NULL;
  chain->complete = false;
}

/* The owner may be looking at a place: it finds the context or none. */
void hearth_frame_chain_forget_contexts(hearth_frame_chain *chain) {
  for (size_t i = 0; i < HEARTH_CHAIN_CONTEXTS; i++)
    __atomic_store_n(&chain->contexts[i].context, 0, __ATOMIC_RELAXED);
  for (size_t i = 0; i < HEARTH_CHAIN_LEAVES; i++)
    __atomic_store_n(&chain->leaves[i].context, 0, __ATOMIC_RELAXED);
  for (size_t i = 0; i < HEARTH_CHAIN_CERTAIN; i++)
    __atomic_store_n(&chain->certain[i], 0, __ATOMIC_RELAXED);
}
