/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stacks are folded from the root to the leaf: where an address is already among those kept, the kept stack is cut back to
 * it. Bits of a hash tell most addresses that are not. Of remembered stacks, the words that led to the outer frames are
 * compared with copies, from the root on; the walk then ends at the first frame that has not changed. */
#include "known_stacks.h"

#include "mappings.h"

#include "hearth/expect.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline uint64_t bit_of(uint64_t pc) {
  return UINT64_C(1) << (pc * UINT64_C(0x9e3779b97f4a7c15) >> 58); /* 2^64 / golden ratio */
}

static void leave_out(const uint64_t *pcs, const uint8_t *tops, size_t from, size_t to) {
  for (; from != to; from = tops[from + 1])
    hearth_folded_pcs_add(pcs[from]);
}

void hearth_fold_extend(const uint64_t *pcs, hearth_folded *folded, size_t first, size_t from, size_t end) {
  uint8_t *tops = folded->tops;

  tops[end] = (uint8_t)end;
  folded->seen[end] = 0;
  for (size_t i = from; i-- > first;) {
    uint64_t seen = folded->seen[i + 1], bit = bit_of(pcs[i]);
    size_t same = seen & bit ? tops[i + 1] : end;
    while (same != end && pcs[same] != pcs[i])
      same = tops[same + 1];
    if (same != end)
      leave_out(pcs, tops, tops[i + 1], same);
    tops[i] = (uint8_t)(same != end ? same : i);
    folded->seen[i] = seen | bit;
  }
}

size_t hearth_fold_collect(const uint64_t *pcs, const hearth_folded *folded, size_t first, size_t end,
                           uint64_t *ret_pcs) {
  size_t depth = 0;

  for (size_t kept = folded->tops[first]; kept != end; kept = folded->tops[kept + 1])
    ret_pcs[depth++] = pcs[kept];
  return depth;
}

size_t hearth_fold_recursion(uint64_t *pcs, size_t depth) {
  hearth_folded folded;

  hearth_fold_extend(pcs, &folded, 0, depth, depth);
  return hearth_fold_collect(pcs, &folded, 0, depth, pcs);
}

/* A hash table with open addressing, which never grows and forgets nothing. */

enum { SLOT_BITS = 13, SLOTS = 1 << SLOT_BITS };
_Static_assert(HEARTH_FOLDED_PCS_MOST < SLOTS, "a search ends at a free slot");

static uint64_t slots[SLOTS]; /* 0: free */
static uint32_t count;

/* Put an address into a free slot, unless there are enough. False: another one has it now. */
static bool folded_take(uint64_t *slot, uint64_t pc) {
  uint64_t found = 0;

  if (__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) >= HEARTH_FOLDED_PCS_MOST) {
    __atomic_fetch_sub(&count, 1, __ATOMIC_RELAXED);
    return true;
  }
  if (__atomic_compare_exchange_n(slot, &found, pc, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return true;
  __atomic_fetch_sub(&count, 1, __ATOMIC_RELAXED);
  return found == pc;
}

void hearth_folded_pcs_add(uint64_t pc) {
  hearth_mappings_tell_apart(&pc, 1, false);
  size_t at = pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOT_BITS); /* 2^64 / golden ratio */
  for (;; at = (at + 1) % SLOTS) {
    uint64_t found = __atomic_load_n(&slots[at], __ATOMIC_RELAXED);
    if (found == pc || (found == 0 && folded_take(&slots[at], pc)))
      return;
  }
}

const uint64_t *hearth_folded_pcs_next(const uint64_t *pc) {
  for (size_t at = pc ? (size_t)(pc - slots) + 1 : 0; at < SLOTS; at++)
    if (__atomic_load_n(&slots[at], __ATOMIC_RELAXED))
      return &slots[at];
  return NULL;
}

/* -- the previous stack, and those of before --------------------------------------------------------------------------- */

static bool is_same_range(hearth_stack_range a, hearth_stack_range b) {
  return a.lasting && b.lasting && a.low == b.low && a.high == b.high;
}

/* A frame's return address, and the words that were found behind it, must not have changed. */
static void keep_words(hearth_previous_stack *previous, const hearth_frame *frame) {
  const hearth_stack_word *end = previous->words + HEARTH_PREVIOUS_STACK_WORDS, *known = end;

  while (known > end - previous->word_count && (uintptr_t)known[-1].at >= (uintptr_t)frame &&
         *known[-1].at == known[-1].value)
    --known;
  while (previous->count > 0 && previous->words + previous->return_words[HEARTH_DEPTH_MOST - previous->count] < known)
    --previous->count;
  previous->word_count = (size_t)(end - known);
}

/* An unwinder that comes to an unchanged frame goes on the same way as before, if all frames further out are unchanged,
 * too. The frames further in, old and new, do not matter. */
hearth_known_stack hearth_previous_stack_keep(hearth_previous_stack *previous, const hearth_frame *frame) {
  hearth_stack_range range = hearth_unwind_stack(frame);

  if (!is_same_range(previous->range, range))
    previous->count = previous->word_count = 0;
  else
    keep_words(previous, frame);
  previous->range = range;
  const hearth_trail_place *end = previous->places + HEARTH_DEPTH_MOST;
  return (hearth_known_stack){.places = end - previous->count, .end = end};
}

/* The places of words[0..count), which go to `base` on. Words that are no return addresses give the value of bp,
 * further in than the place of its use: it matters for the places between. Where bp was saved in another way, which is
 * rare, some words of another kind make a place less often found. */
static void set_places(hearth_previous_stack *previous, const hearth_trail *trail, size_t count, size_t first,
                       size_t from, size_t base) {
  hearth_trail_place bp = from < HEARTH_DEPTH_MOST ? previous->places[from] : (hearth_trail_place){0, 0, 0, 0};
  size_t at = from;

  while (count-- > 0) {
    const hearth_stack_word *word = &trail->own[count];
    uint8_t returns = at > first ? trail->return_words[at - 1 - first] : 0;
    if (at == first || (returns & ~HEARTH_TRAIL_BLIND) != count) {
      bp.bp_at = (uintptr_t)word->at;
      bp.bp = word->value;
      continue;
    }
    uintptr_t sp = (uintptr_t)(word->at + 1);
    if (bp.bp_at >= sp)
      bp.bp_at = 0;
    hearth_expect(at > first && base + count < HEARTH_PREVIOUS_STACK_WORDS);
    previous->places[--at] = (hearth_trail_place){returns & HEARTH_TRAIL_BLIND ? 0 : sp, word->value, bp.bp_at, bp.bp};
    previous->return_words[at] = (uint16_t)(base + count);
  }
}

/* The trail's last word, if it ends at a place, is that place's return address, which is known. False: there are too
 * many. */
static bool set_words(hearth_previous_stack *previous, const hearth_trail *trail, size_t first, size_t from) {
  bool joins = from < HEARTH_DEPTH_MOST;
  size_t end = joins ? previous->return_words[from] + 1u : HEARTH_PREVIOUS_STACK_WORDS;

  if (trail->word_count == 0 || trail->word_count > HEARTH_TRAIL_MOST || trail->word_count > end)
    return false;
  size_t base = end - trail->word_count;
  set_places(previous, trail, trail->word_count - joins, first, from, base);
  memcpy(previous->words + base, trail->own, trail->word_count * sizeof *trail->own);
  previous->word_count = HEARTH_PREVIOUS_STACK_WORDS - base;
  return true;
}

/* Make the trail the one of the stack's `shown` innermost frames. */
static void set_trail(const hearth_previous_stack *previous, size_t first, size_t shown, hearth_trail *trail) {
  const hearth_stack_word *end = previous->words + HEARTH_PREVIOUS_STACK_WORDS;
  trail->words = end - previous->word_count;
  if (shown < previous->count)
    end = previous->words + previous->return_words[first + shown - 1] + 1;
  trail->word_count = (size_t)(end - trail->words);
}

bool hearth_previous_stack_set(hearth_previous_stack *previous, const uint64_t *pcs, size_t depth, size_t most,
                               hearth_trail *trail) {
  const hearth_trail_place *end = previous->places + HEARTH_DEPTH_MOST;
  size_t kept = trail->ends_at ? (size_t)(end - trail->ends_at) : 0, from = HEARTH_DEPTH_MOST - kept;

  if (!trail->lasts || trail->frame_count > 0 || depth > from || (kept == 0 && depth == most))
    return false;
  size_t first = from - depth;
  if (!set_words(previous, trail, first, from))
    return false;
  previous->count = depth + kept;
  hearth_expect(previous->count <= HEARTH_DEPTH_MOST && previous->word_count <= HEARTH_PREVIOUS_STACK_WORDS);
  memcpy(previous->pcs + first, pcs, depth * sizeof *pcs);
  if (previous->folded_from < from)
    previous->folded_from = from;
  set_trail(previous, first, previous->count < most ? previous->count : most, trail);
  return true;
}

size_t hearth_previous_stack_copy(hearth_previous_stack *previous, bool folded, size_t most, uint64_t *ret_pcs) {
  size_t first = HEARTH_DEPTH_MOST - previous->count, count = previous->count < most ? previous->count : most;

  if (folded && count == previous->count) {
    hearth_fold_extend(previous->pcs, &previous->folded, first, previous->folded_from, HEARTH_DEPTH_MOST);
    previous->folded_from = first;
    return hearth_fold_collect(previous->pcs, &previous->folded, first, HEARTH_DEPTH_MOST, ret_pcs);
  }
  memcpy(ret_pcs, previous->pcs + first, count * sizeof *ret_pcs);
  return folded ? hearth_fold_recursion(ret_pcs, count) : count;
}

/* A direct-mapped cache: the slot of a stack is a hash of its frame's place and return address; it hits if the words
 * that led through the stack have not changed. */

static size_t stack_slot_of(const hearth_frame *frame) {
  uint64_t key = (uintptr_t)frame ^ frame->return_address << 16;

  return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 57) % HEARTH_STACK_CACHE_SLOTS;
}

static bool have_same_words(const hearth_stack_word *words, size_t count) {
  uintptr_t difference = 0;

  for (size_t i = 0; i < count; ++i)
    difference |= *words[i].at ^ words[i].value;
  return difference == 0;
}

bool hearth_stack_cache_find(hearth_stack_cache *cache, const hearth_frame *frame, uint32_t *ret_context) {
  hearth_cached_stack *slot = &cache->slots[stack_slot_of(frame)];

  if (slot->frame != frame)
    return false;
  *ret_context = slot->context;
  bool found = have_same_words(slot->words, slot->word_count);
  if (__builtin_expect(found && !slot->found, false))
    slot->found = true;
  return found;
}

/* Is the slot to be kept for the stack that it has? */
static bool stays_in_slot(hearth_cached_stack *slot) {
  if (!slot->frame || slot->found || ++slot->missed == HEARTH_STACK_CACHE_STAY)
    return false;
  return true;
}

void hearth_stack_cache_add(hearth_stack_cache *cache, const hearth_frame *frame, const hearth_trail *trail,
                            uint32_t context) {
  hearth_cached_stack *slot = &cache->slots[stack_slot_of(frame)];

  if (!trail->lasts || trail->frame_count > 0 || trail->word_count > HEARTH_STACK_CACHE_WORDS || stays_in_slot(slot))
    return;
  slot->frame = frame;
  slot->found = false;
  slot->missed = 0;
  slot->word_count = (uint32_t)trail->word_count;
  slot->context = context;
  hearth_expect(context > 0);
  memcpy(slot->words, trail->words, trail->word_count * sizeof *slot->words);
}

void hearth_stack_cache_forget(hearth_stack_cache *cache) {
  for (size_t i = 0; i < HEARTH_STACK_CACHE_SLOTS; i++)
    __atomic_store_n(&cache->slots[i].frame, NULL, __ATOMIC_RELAXED);
}
