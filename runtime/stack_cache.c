#include "stack_cache.h"

/* A frame, for comparisons. */
typedef uint64_t words __attribute__((vector_size(sizeof(hearth_frame)), aligned(8), may_alias));

static size_t slot_of(const hearth_frame *frame) {
  uint64_t key = (uintptr_t)frame ^ frame->return_address << 16;

  return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 57) % HEARTH_STACK_CACHE_SLOTS;
}

inline bool hearth_stack_cache_find(const hearth_stack_cache *cache, const hearth_frame *frame, uint32_t *ret_context) {
  const hearth_cached_stack *slot = &cache->slots[slot_of(frame)];

  if (slot->frame != frame)
    return false;
  words difference = {0, 0};
  for (uint32_t i = 0; i < slot->count; ++i) {
    difference |= *(const words *)frame ^ *(const words *)&slot->frames[i];
    frame = slot->frames[i].caller;
  }
  *ret_context = slot->context;
  return (difference[0] | difference[1]) == 0;
}

void hearth_stack_cache_add(hearth_stack_cache *cache, const hearth_frame *frame, size_t count, uint32_t context) {
  hearth_cached_stack *slot = &cache->slots[slot_of(frame)];

  if (count > HEARTH_STACK_CACHE_DEPTH)
    return;
  slot->frame = frame;
  slot->count = (uint32_t)count;
  slot->context = context;
  for (size_t i = 0; i < count; ++i) {
    slot->frames[i] = *frame;
    frame = frame->caller;
  }
}
