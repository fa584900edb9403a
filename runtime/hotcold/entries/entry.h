/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The common part of the C and the C++ entry points. This file's object also holds free and the other interposed
 * functions, so a program that links any hinted function gets them. */
#ifndef HEARTH_HOTCOLD_ENTRY_H
#define HEARTH_HOTCOLD_ENTRY_H

#include "ranges.h"
#include "thread_pools.h"
#include "verified.h"

/* Functions that programs call or that replace libc's are exported; those that replace something are weak, so that a
 * program with definitions of its own still links (the probe then finds that they are not ours). */
#define HEARTH_EXPORT    __attribute__((visibility("default")))
#define HEARTH_INTERPOSE __attribute__((visibility("default"), weak))

/* A block of a pool (not HEARTH_POOL_NONE), or NULL, counted as a fallback. `alignment` is a power of two. */
void *hearth_pool_alloc(unsigned pool, size_t bytes, size_t alignment);

/* As calloc; NULL: the plain function is to serve the request. */
void *hearth_hinted_calloc(size_t count, size_t bytes, uint8_t hint);

void hearth_range_free_slowly(void *block);

/* Free a block of a range; `offset` is its. The slow way is the last call, so that the usual one saves no registers. */
static inline __attribute__((always_inline)) void hearth_range_free_at(size_t offset, void *block) {
  if (__builtin_expect(!hearth_put_fast(offset, block), 0))
    hearth_range_free_slowly(block);
}

static inline void hearth_range_free(void *block) { hearth_range_free_at(hearth_offset_of(block), block); }

/* Usable bytes of a block of a range. */
size_t hearth_range_usable(const void *block);

/* The pool for a hint, once for each hinted request: those without one are counted. */
static inline unsigned hearth_hinted_pool(uint8_t hint) {
  unsigned pool = hearth_pool_for_hint(hint);
  if (pool == HEARTH_POOL_NONE && !hearth_pass_on())
    hearth_pass_on_slowly();
  return pool;
}

/* The fast path of a hint that asks for no pool: the caller goes to the plain function, and needs no more than this. False:
 * it may ask for one, or not all is set up. */
static inline bool hearth_hint_is_passed_on(uint8_t hint) {
  return hearth_pool_of_hint(hint) == HEARTH_POOL_NONE && hearth_pass_on();
}

/* A block from the bin of a pool (not HEARTH_POOL_NONE); false if there is none, or the request is not so simple. */
static inline __attribute__((always_inline)) bool hearth_quick_cached(size_t bytes, unsigned pool, void **ret_block) {
  struct hearth_thread_pools *thread = hearth_thread_pools;
  size_t quanta = hearth_quick_quanta(thread, bytes);
  return quanta && hearth_pool_take_cached(&thread->pool[pool], hearth_bin_at(thread, pool, quanta), quanta, ret_block);
}

/* The same, or the next in the pool's hole. */
static inline __attribute__((always_inline)) void *hearth_quick_alloc(size_t bytes, uint8_t hint) {
  unsigned pool = hearth_pool_of_hint(hint);
  struct hearth_thread_pools *thread = hearth_thread_pools;
  size_t quanta = pool < HEARTH_POOL_NONE ? hearth_quick_quanta(thread, bytes) : 0;
  void *block;
  if (!quanta)
    return NULL;
  if (hearth_pool_take_cached(&thread->pool[pool], hearth_bin_at(thread, pool, quanta), quanta, &block))
    return block;
  return hearth_pool_cut_next(&thread->pool[pool], quanta);
}

/* A block of the pool for a hint, if that can serve this request; the caller goes to the plain function when this
 * returns NULL. An alignment that is no power of two is the plain function's to judge. */
static inline void *hearth_hinted_alloc(size_t bytes, size_t alignment, uint8_t hint) {
  unsigned pool = hearth_hinted_pool(hint);
  if (pool == HEARTH_POOL_NONE || !alignment || (alignment & (alignment - 1)))
    return NULL;
  if (pool == HEARTH_POOL_VERIFIED)
    return hearth_verified_alloc(bytes, alignment, hint);
  return hearth_pool_alloc(pool, bytes, alignment);
}

#endif
