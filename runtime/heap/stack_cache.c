/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A direct-mapped cache: the slot of a stack is a hash of its frame's place and return address; it hits if the words
 * that led through the stack have not changed. */
#include "stack_cache.h"

#include <string.h>

static size_t slot_of(const hearth_frame *frame) {
  uint64_t key = (uintptr_t)frame ^ frame->return_address << 16;

  return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 57) % HEARTH_STACK_CACHE_SLOTS;
}

static bool are_same(const hearth_stack_word *words, size_t count) {
  uintptr_t difference = 0;

  for (size_t i = 0; i < count; ++i)
    difference |= *words[i].at ^ words[i].value;
  return difference == 0;
}

inline bool hearth_stack_cache_find(hearth_stack_cache *cache, const hearth_frame *frame, uint32_t *ret_context) {
  hearth_cached_stack *slot = &cache->slots[slot_of(frame)];

  if (slot->frame != frame)
    return false;
  *ret_context = slot->context;
  bool found = are_same(slot->words, slot->word_count);
  if (__builtin_expect(found && !slot->found, false))
    slot->found = true;
  return found;
}

/* Is the slot to be kept for the stack that it has? */
static bool stays(hearth_cached_stack *slot) {
  if (!slot->frame || slot->found || ++slot->missed == HEARTH_STACK_CACHE_STAY)
    return false;
  return true;
}

void hearth_stack_cache_add(hearth_stack_cache *cache, const hearth_frame *frame, const hearth_trail *trail,
                            uint32_t context) {
  hearth_cached_stack *slot = &cache->slots[slot_of(frame)];

  if (!trail->lasts || trail->frame_count > 0 || trail->word_count > HEARTH_STACK_CACHE_WORDS || stays(slot))
    return;
  slot->frame = frame;
  slot->found = false;
  slot->missed = 0;
  slot->word_count = (uint32_t)trail->word_count;
  slot->context = context;
  memcpy(slot->words, trail->words, trail->word_count * sizeof *slot->words);
}

void hearth_stack_cache_forget(hearth_stack_cache *cache) {
  for (size_t i = 0; i < HEARTH_STACK_CACHE_SLOTS; i++)
    __atomic_store_n(&cache->slots[i].frame, NULL, __ATOMIC_RELAXED);
}
