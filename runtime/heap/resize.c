/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* realloc. A block that stays in its chunk ends, and another begins there; a large one that its own call stack makes larger
 * goes on; the others move. */
#include "block_life.h"
#include "blocks.h"
#include "thread_state.h"
#include "watched.h"

#include <string.h>

/* Code that looks at such a block meanwhile does not look at its size: no critical section is needed. */
static inline bool stays_unrecorded(void *pointer, size_t size) {
  hearth_block block;

  return hearth_heap_find(pointer, &block) == HEARTH_POINTER_LIVE && block.context == HEARTH_NO_CONTEXT &&
         hearth_heap_resize(block.header, size);
}

static inline bool is_sampling(void) {
  return hearth_rt.path == HEARTH_PATH_SAMPLE || (hearth_rt.path == HEARTH_PATH_TRACE && hearth_rt.options.sample > 0);
}

static inline bool resize_unrecorded(void *pointer, size_t size) {
  uint64_t left;

  if (!is_sampling() || !hearth_sampler_leaves(&hearth_this_thread.sampler, size, &left) ||
      !stays_unrecorded(pointer, size))
    return false;
  hearth_this_thread.sampler.bytes_left = left;
  return true;
}

/* A claimed block ends and another begins in its place, at the same moment. False: not possible in this signal handler, or the
 * chunk does not suit; then it is live again. */
static bool replace_in_place(const hearth_block *block, size_t size, uint32_t context, hearth_thread_cache *cache) {
  hearth_moment moment = moment_for(context != HEARTH_NO_CONTEXT ? context : block->context), end = moment;

  end.ns = hearth_header_round_time(end.ns) | HEARTH_CLOCK_KNOWN;
  if (!record_end(block, end, cache)) {
    hearth_header_set_state(block->header, HEARTH_BLOCK_LIVE);
    return false;
  }
  hearth_heap_resize(block->header, size);
  begin_life_in_place(block->header, size, context, moment);
  return true;
}

#define GROWING_LEAST ((size_t)32768) /* blocks of this size have address space for half as much again when they grow */

/* A large block that its own call stack makes larger goes on, with the counters it has: summing all of them at each step would
 * take as long as copying it. In a sample, each step is drawn anew. */
static inline bool block_goes_on(const hearth_block *block, size_t size, uint32_t context) {
  return block->size >= GROWING_LEAST && size >= block->size && context == block->context && is_counted_live(block) &&
         hearth_shadow_has_counters() && hearth_rt.options.sample == 0;
}

/* The claimed block does so, and is live again. */
static void grow_block(const hearth_block *block, size_t size) {
  hearth_shadow_clear_added(hearth_header_memory(block->header), block->size, size);
  hearth_heap_resize(block->header, size);
  if (hearth_rt.counts_live)
    hearth_live_change((int64_t)(size - block->size));
  hearth_history_grow(block, size - block->size);
  hearth_header_set_state(block->header, HEARTH_BLOCK_LIVE);
}

/* The first `size` bytes of a live block, or the first `old_size`, in a new one. What grows by small steps is not copied at
 * each of them. */
static void *move_block(void *pointer, size_t old_size, size_t size, const hearth_frame *frame) {
  bool grows = size > old_size && size >= GROWING_LEAST;
  void *memory = grows ? hearth_allocate_with(size, HEARTH_MALLOC_ALIGNMENT, size / 2, false, frame)
                       : hearth_allocate(size, HEARTH_MALLOC_ALIGNMENT, frame);

  if (!memory)
    return NULL;
  memcpy(memory, pointer, old_size < size ? old_size : size);
  hearth_release(pointer, "realloc");
  return memory;
}

void *hearth_resize(void *pointer, size_t size, const hearth_frame *frame) {
  hearth_block block;
  hearth_chunk chunk;

  if (resize_unrecorded(pointer, size))
    return pointer;
  hearth_pointer_kind kind = hearth_heap_find(pointer, &block);
  if (kind != HEARTH_POINTER_LIVE)
    hearth_block_refuse(pointer, kind, "realloc");
  if (hearth_heap_can_resize(block.header, size)) {
    if (__builtin_expect(hearth_rt.tracks_peak, false) && size < block.size)
      hearth_block_keep_peak(pointer);
    hearth_reentry_enter();
    hearth_thread_cache *own = hearth_thread_cache_own();
    uint32_t context = hearth_find_context(size, frame, own);
    hearth_thread_cache *cache = hearth_thread_cache_take(own);
    kind = hearth_heap_claim(pointer, &block, &chunk);
    bool grows = kind == HEARTH_POINTER_LIVE && block_goes_on(&block, size, context);
    if (grows)
      grow_block(&block, size);
    bool replaced = !grows && kind == HEARTH_POINTER_LIVE && replace_in_place(&block, size, context, cache);
    if (replaced && hearth_watched_contains(block.header))
      hearth_watched_renew(block.header, context);
    hearth_thread_cache_give(cache);
    hearth_reentry_leave();
    if (kind != HEARTH_POINTER_LIVE)
      hearth_block_refuse(pointer, kind, "realloc");
    if (grows || replaced)
      return pointer;
  }
  return move_block(pointer, block.size, size, frame);
}
