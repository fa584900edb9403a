/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Caches are in a list and are never unmapped; half a cache is filled or flushed at a time. */
#define _GNU_SOURCE
#include "block_cache.h"

#include "page_out.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

static struct hearth_futex_lock registry_lock;
struct hearth_block_cache *hearth_block_caches; /* all there ever were */
static struct hearth_block_cache *idle_caches;
_Atomic uint64_t hearth_uncached_ever[HEARTH_RANGES + 1];
static pthread_key_t exit_key;
static bool has_exit_key;

/* Stand in for a cache, always empty: before a thread has its own, and where it cannot have one, that is while it gets
 * one and after its exit handler ran (handlers that run later may still allocate). */
static struct hearth_block_cache not_yet;
static struct hearth_block_cache never;
_Thread_local struct hearth_block_cache *hearth_block_cache __attribute__((tls_model("initial-exec"))) = &not_yet;

static void flush(struct hearth_block_cache *cache, enum hearth_range range, unsigned size_class, uint32_t count) {
  struct hearth_cache_bin *bin = &cache->bins[range][size_class];
  uint32_t left = atomic_load_explicit(&bin->count, memory_order_relaxed) - count;
  /* The count first: a child forked in between loses these blocks, the other order would free them twice there. */
  atomic_store_explicit(&bin->count, left, memory_order_release);
  hearth_region_put(&hearth_ranges.region[range], size_class, bin->blocks + left, count);
}

static void flush_all(struct hearth_block_cache *cache) {
  for (unsigned range = 0; range < HEARTH_RANGES; range++)
    for (unsigned i = 0; i < HEARTH_SIZE_CLASSES; i++) {
      uint32_t count = atomic_load_explicit(&cache->bins[range][i].count, memory_order_relaxed);
      if (count)
        flush(cache, (enum hearth_range)range, i, count);
    }
}

static void on_thread_exit(void *cache) {
  struct hearth_block_cache *mine = cache;
  hearth_block_cache = &never;
  flush_all(mine);
  hearth_futex_lock_acquire(&registry_lock);
  mine->next_idle = idle_caches;
  idle_caches = mine;
  hearth_futex_lock_release(&registry_lock);
}

bool hearth_block_cache_open(void) {
  has_exit_key = !pthread_key_create(&exit_key, on_thread_exit);
  return has_exit_key;
}

static struct hearth_block_cache *map_cache(void) {
  int saved_errno = errno;
  void *memory =
      mmap(NULL, sizeof(struct hearth_block_cache), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  errno = saved_errno;
  if (memory == MAP_FAILED)
    return NULL;
  struct hearth_block_cache *cache = memory;
  for (unsigned range = 0; range < HEARTH_RANGES; range++)
    for (unsigned i = 0; i < HEARTH_SIZE_CLASSES; i++)
      cache->bins[range][i].limit = hearth_size_class_table[i].cached;
  return cache;
}

static struct hearth_block_cache *idle_or_new(void) {
  hearth_futex_lock_acquire(&registry_lock);
  struct hearth_block_cache *cache = idle_caches;
  if (cache) {
    idle_caches = cache->next_idle;
  } else {
    cache = map_cache();
    if (cache) {
      cache->next = hearth_block_caches;
      hearth_block_caches = cache;
    }
  }
  hearth_futex_lock_release(&registry_lock);
  return cache;
}

/* The calling thread's cache, got at its first call; &never if it has none. */
static struct hearth_block_cache *adopt(void) {
  hearth_block_cache = &never; /* pthread_setspecific may allocate */
  struct hearth_block_cache *cache = has_exit_key ? idle_or_new() : NULL;
  if (!cache)
    return &never;
  if (pthread_setspecific(exit_key, cache)) {
    on_thread_exit(cache);
    return &never;
  }
  hearth_block_cache = cache;
  return cache;
}

static struct hearth_block_cache *own_cache(void) {
  return hearth_block_cache == &not_yet ? adopt() : hearth_block_cache;
}

void *hearth_block_cache_take_slowly(enum hearth_range range, unsigned size_class) {
  struct hearth_region *region = &hearth_ranges.region[range];
  if (!region->pages)
    return NULL;
  hearth_page_out_ensure();
  struct hearth_cache_bin *bin = &own_cache()->bins[range][size_class];
  void *block;
  if (!bin->limit) {
    if (!hearth_region_take(region, size_class, &block, 1))
      return NULL;
    atomic_fetch_add_explicit(&hearth_uncached_ever[range], 1, memory_order_relaxed);
    return block;
  }
  uint32_t count = hearth_region_take(region, size_class, bin->blocks, bin->limit / 2);
  if (!count)
    return NULL;
  atomic_store_explicit(&bin->count, count, memory_order_relaxed);
  return hearth_block_cache_take(range, size_class);
}

void hearth_block_cache_pass_on_slowly(void) {
  struct hearth_block_cache *cache = own_cache();
  if (cache->bins[0][0].limit)
    hearth_block_cache_count(cache, HEARTH_RANGE_NONE);
  else
    atomic_fetch_add_explicit(&hearth_uncached_ever[HEARTH_RANGE_NONE], 1, memory_order_relaxed);
}

void hearth_block_cache_put_slowly(enum hearth_range range, unsigned size_class, void *block) {
  struct hearth_block_cache *cache = own_cache();
  uint32_t limit = cache->bins[range][size_class].limit;
  if (!limit) {
    hearth_region_put(&hearth_ranges.region[range], size_class, &block, 1);
    return;
  }
  if (atomic_load_explicit(&cache->bins[range][size_class].count, memory_order_relaxed) == limit)
    flush(cache, range, size_class, limit / 2);
  hearth_block_cache_put(range, size_class, block);
}

void hearth_block_cache_stats(enum hearth_range range, struct hearth_block_cache_stats *ret_stats) {
  struct hearth_block_cache_stats stats = {
      .ever = atomic_load_explicit(&hearth_uncached_ever[range], memory_order_relaxed)};
  hearth_futex_lock_acquire(&registry_lock);
  for (struct hearth_block_cache *cache = hearth_block_caches; cache; cache = cache->next) {
    stats.ever += atomic_load_explicit(&cache->ever[range], memory_order_relaxed);
    for (unsigned i = 0; i < HEARTH_SIZE_CLASSES; i++) {
      uint32_t count = atomic_load_explicit(&cache->bins[range][i].count, memory_order_relaxed);
      stats.blocks += count;
      stats.bytes += (uint64_t)count * hearth_size_class_table[i].bytes;
    }
  }
  hearth_futex_lock_release(&registry_lock);
  *ret_stats = stats;
}

uint64_t hearth_block_cache_passed_on(void) {
  uint64_t passed_on = atomic_load_explicit(&hearth_uncached_ever[HEARTH_RANGE_NONE], memory_order_relaxed);
  hearth_futex_lock_acquire(&registry_lock);
  for (struct hearth_block_cache *cache = hearth_block_caches; cache; cache = cache->next)
    passed_on += atomic_load_explicit(&cache->ever[HEARTH_RANGE_NONE], memory_order_relaxed);
  hearth_futex_lock_release(&registry_lock);
  return passed_on;
}

void hearth_block_cache_lock(void) { hearth_futex_lock_acquire(&registry_lock); }

void hearth_block_cache_unlock(void) { hearth_futex_lock_release(&registry_lock); }

void hearth_block_cache_reclaim_after_fork(void) {
  idle_caches = NULL;
  for (struct hearth_block_cache *cache = hearth_block_caches; cache; cache = cache->next) {
    if (cache == hearth_block_cache)
      continue;
    flush_all(cache);
    cache->next_idle = idle_caches;
    idle_caches = cache;
  }
}
