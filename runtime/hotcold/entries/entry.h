/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The common part of the C and the C++ entry points. This file's object also holds free and the other interposed
 * functions, so a program that links any hinted function gets them. */
#ifndef HEARTH_HOTCOLD_ENTRY_H
#define HEARTH_HOTCOLD_ENTRY_H

#include "block_cache.h"

/* Functions that programs call or that replace libc's are exported; those that replace something are weak, so that a
 * program with definitions of its own still links (the probe then finds that they are not ours). */
#define HEARTH_EXPORT    __attribute__((visibility("default")))
#define HEARTH_INTERPOSE __attribute__((visibility("default"), weak))

/* A block in a range (not HEARTH_RANGE_NONE), or NULL, counted as a fallback. `alignment` is a power of two. */
void *hearth_range_alloc(enum hearth_range range, size_t bytes, size_t alignment);

/* As calloc; NULL: the plain function is to serve the request. */
void *hearth_hinted_calloc(size_t count, size_t bytes, uint8_t hint);

/* Free a block of a range. */
void hearth_range_free(enum hearth_range range, void *block);

/* The range for a hint, once for each hinted request: those without one are counted. */
static inline enum hearth_range hearth_hinted_range(uint8_t hint) {
  enum hearth_range range = hearth_range_for_hint(hint);
  if (range == HEARTH_RANGE_NONE && !hearth_block_cache_pass_on())
    hearth_block_cache_pass_on_slowly();
  return range;
}

/* The fast path of a hint that asks for no range: the caller goes to the plain function, and needs no more than this. False:
 * it may ask for one, or not all is set up. */
static inline bool hearth_hint_is_passed_on(uint8_t hint) {
  return atomic_load_explicit(&hearth_ranges.opened, memory_order_acquire) && hint >= hearth_ranges.cold_below &&
         hint < hearth_ranges.hot_from && hearth_block_cache_pass_on();
}

/* The range for a hint if it can serve this request, and the block; the caller goes to the plain function when this
 * returns NULL. An alignment that is no power of two is the plain function's to judge. */
static inline void *hearth_hinted_alloc(size_t bytes, size_t alignment, uint8_t hint) {
  enum hearth_range range = hearth_hinted_range(hint);
  if (range == HEARTH_RANGE_NONE || !alignment || (alignment & (alignment - 1)))
    return NULL;
  return hearth_range_alloc(range, bytes, alignment);
}

#endif
