#include "stack_cache.h"

#include <string.h>

/* A frame, for comparisons. */
typedef uint64_t words __attribute__((vector_size(sizeof(hearth_frame)), aligned(8), may_alias));

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

inline bool hearth_stack_cache_find(const hearth_stack_cache *cache, const hearth_frame *frame, uint32_t *ret_context) {
  const hearth_cached_stack *slot = &cache->slots[slot_of(frame)];

  if (slot->frame != frame)
    return false;
  *ret_context = slot->context;
  if (slot->frame_count == 0)
    return are_same(slot->words, slot->word_count);
  words difference = {0, 0};
  for (uint32_t i = 0; i < slot->frame_count; ++i) {
    difference |= *(const words *)frame ^ *(const words *)&slot->frames[i];
    frame = slot->frames[i].caller;
  }
  return (difference[0] | difference[1]) == 0;
}

void hearth_stack_cache_add(hearth_stack_cache *cache, const hearth_frame *frame, const hearth_trail *trail,
                            uint32_t context) {
  hearth_cached_stack *slot = &cache->slots[slot_of(frame)];

  if (!trail->lasts ||
      (trail->frame_count ? trail->frame_count > HEARTH_STACK_CACHE_DEPTH : trail->word_count > HEARTH_TRAIL_MOST))
    return;
  slot->frame = frame;
  slot->frame_count = (uint32_t)trail->frame_count;
  slot->word_count = (uint32_t)trail->word_count;
  slot->context = context;
  for (size_t i = 0; i < trail->frame_count; ++i) {
    slot->frames[i] = *frame;
    frame = frame->caller;
  }
  if (trail->frame_count == 0)
    memcpy(slot->words, trail->words, trail->word_count * sizeof *slot->words);
}
