/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Free blocks held back per thread, so that most calls take no lock. The store of a thread lies outside the ranges and
 * lists pointers, so that a cached cold block stays untouched. It goes back when the thread exits. */
#ifndef HEARTH_BLOCK_CACHE_H
#define HEARTH_BLOCK_CACHE_H

#include "ranges.h"

/* Once, before the first of the calls below. False if no thread-specific key was left; then nothing is cached. */
bool hearth_block_cache_open(void);

/* For readers in other processes (status_page.h). */
extern struct hearth_block_cache *hearth_block_caches;
extern _Atomic uint64_t hearth_uncached_ever[HEARTH_RANGES + 1]; /* of threads without a cache */

/* One class of one thread. A limit of 0 marks a thread without a cache. */
struct hearth_cache_bin {
  _Atomic uint32_t count; /* written by the owner, read by statistics */
  uint32_t limit;
  void *blocks[HEARTH_CACHED_MAX];
};

struct hearth_block_cache {
  struct hearth_block_cache *next;          /* of all there ever were; they are reused, never unmapped */
  struct hearth_block_cache *next_idle;     /* of those without a thread */
  _Atomic uint64_t ever[HEARTH_RANGES + 1]; /* blocks taken; the last: requests passed on to the program's allocator */
  struct hearth_cache_bin bins[HEARTH_RANGES][HEARTH_SIZE_CLASSES];
};

/* Never NULL: stands at an empty cache until the thread has its own. */
extern _Thread_local struct hearth_block_cache *hearth_block_cache __attribute__((tls_model("initial-exec")));

void *hearth_block_cache_take_slowly(enum hearth_range range, unsigned size_class);
void hearth_block_cache_pass_on_slowly(void);
void hearth_block_cache_put_slowly(enum hearth_range range, unsigned size_class, void *block);

static inline void hearth_block_cache_count(struct hearth_block_cache *cache, enum hearth_range range) {
  /* The owner is the only writer: no read-modify-write instructions needed. */
  uint64_t ever = atomic_load_explicit(&cache->ever[range], memory_order_relaxed);
  atomic_store_explicit(&cache->ever[range], ever + 1, memory_order_relaxed);
}

/* Count a hinted request that is the program's own allocator's to serve. False if the thread has no cache yet: then it is to
 * be passed on slowly. */
static inline bool hearth_block_cache_pass_on(void) {
  struct hearth_block_cache *cache = hearth_block_cache;
  if (!cache->bins[0][0].limit)
    return false;
  hearth_block_cache_count(cache, HEARTH_RANGE_NONE);
  return true;
}

/* A block of a size class, or NULL when the range is full or not reserved. */
static inline void *hearth_block_cache_take(enum hearth_range range, unsigned size_class) {
  struct hearth_block_cache *cache = hearth_block_cache;
  struct hearth_cache_bin *bin = &cache->bins[range][size_class];
  uint32_t count = atomic_load_explicit(&bin->count, memory_order_relaxed);
  if (!count)
    return hearth_block_cache_take_slowly(range, size_class);
  atomic_store_explicit(&bin->count, count - 1, memory_order_relaxed);
  hearth_block_cache_count(cache, range);
  return bin->blocks[count - 1];
}

/* `block` is the start of a live block of the class. */
static inline void hearth_block_cache_put(enum hearth_range range, unsigned size_class, void *block) {
  struct hearth_cache_bin *bin = &hearth_block_cache->bins[range][size_class];
  uint32_t count = atomic_load_explicit(&bin->count, memory_order_relaxed);
  if (count >= bin->limit) {
    hearth_block_cache_put_slowly(range, size_class, block);
    return;
  }
  bin->blocks[count] = block;
  atomic_store_explicit(&bin->count, count + 1, memory_order_release);
}

/* Blocks that lie in caches now, their bytes, and blocks ever taken by programs through this interface. */
struct hearth_block_cache_stats {
  uint64_t blocks;
  uint64_t bytes;
  uint64_t ever;
};
void hearth_block_cache_stats(enum hearth_range range, struct hearth_block_cache_stats *ret_stats);

/* Hinted requests ever passed on. */
uint64_t hearth_block_cache_passed_on(void);

/* Around fork: this lock comes before those of the regions. In the child, with all locks free, the caches of the
 * threads that do not exist there are given back. */
void hearth_block_cache_lock(void);
void hearth_block_cache_unlock(void);
void hearth_block_cache_reclaim_after_fork(void);

#endif
