/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each function finds the range that a pointer lies in, by one comparison, or that a hint asks for. It passes on all
 * other requests to the program's allocator. */
#define _GNU_SOURCE
#include "entry.h"

#include "hearth/hotcold.h"
#include "hinted_calls.h"
#include "kept_memory.h"
#include "next.h"
#include "page_out.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* Blocks that grow get room from here on: the end of their last huge page, which is theirs alone, is little beside them. */
#define ROOM_FROM_BYTES ((size_t)4 << 20)

static bool is_open(void) { return atomic_load_explicit(&hearth_ranges.bytes, memory_order_acquire) != 0; }

static struct hearth_region *region_of(const void *block) { return &hearth_ranges.region[hearth_range_of(block)]; }

static void *counted(unsigned pool, void *block) {
  if (!block)
    atomic_fetch_add_explicit(&hearth_ranges.fallbacks[hearth_range_of_pool(pool)], 1, memory_order_relaxed);
  return block;
}

/* A large block of fresh memory: pools give back as much of theirs. */
static void *taken_large(unsigned pool, void *block, size_t bytes, bool fresh) {
  if (block && fresh && pool != HEARTH_POOL_COLD && hearth_thread_pools)
    hearth_kept_memory_release_for(hearth_thread_pools, bytes / HEARTH_QUANTUM_BYTES);
  return counted(pool, block);
}

static void *take_large(unsigned pool, size_t bytes, size_t alignment, bool *ret_zeroed) {
  hearth_page_out_ensure();
  struct hearth_region *region = &hearth_ranges.region[hearth_range_of_pool(pool)];
  void *block = hearth_region_take_large(region, pool, bytes, alignment, ret_zeroed);
  return taken_large(pool, block, bytes, *ret_zeroed);
}

/* For a hot block that is large, and grows. */
static void *take_growing(unsigned pool, size_t bytes) {
  bool zeroed = false;
  void *block = hearth_region_take_growing(&hearth_ranges.region[HEARTH_RANGE_HOT], pool, bytes, &zeroed);
  return taken_large(pool, block, bytes, zeroed);
}

void *hearth_pool_alloc(unsigned pool, size_t bytes, size_t alignment) {
  bool zeroed = false;
  if (bytes > HEARTH_MEDIUM_BYTES || alignment > HEARTH_PAGE_BYTES)
    return take_large(pool, bytes, alignment, &zeroed);
  if (alignment > HEARTH_QUANTUM_BYTES)
    return counted(pool, hearth_take_aligned(pool, bytes, alignment));
  return counted(pool, hearth_take(pool, bytes, NULL));
}

/* A block from clean pages is zero already, and touching all of it would make it resident. */
static void *pool_calloc(unsigned pool, size_t bytes) {
  bool zeroed = false;
  void *block = bytes > HEARTH_MEDIUM_BYTES ? take_large(pool, bytes, 1, &zeroed)
                                            : counted(pool, hearth_take(pool, bytes, &zeroed));
  if (block && !zeroed)
    memset(block, 0, bytes);
  return block;
}

void hearth_range_free_slowly(void *block) {
  if (hearth_owner_of(block)) {
    hearth_put_slowly(block);
    return;
  }
  struct hearth_region *region = region_of(block);
  hearth_region_large(region, block);
  hearth_region_put_large(region, block);
}

size_t hearth_range_usable(const void *block) {
  if (hearth_owner_of(block))
    return hearth_live_quanta(hearth_owner_of(block), block) * HEARTH_QUANTUM_BYTES;
  return (size_t)hearth_region_large(region_of(block), block)->pages << HEARTH_PAGE_SHIFT;
}

/* The pool of a live block of a range. */
static unsigned pool_of(const void *block) {
  uint64_t owner = hearth_owner_of(block);
  return owner ? hearth_owner_pool(owner) : hearth_region_large(region_of(block), block)->pool;
}

/* Where a block may be of a range, this must not depend on whether the public name leads here (see next.c). */
static void free_any(void *block) {
  if (hearth_range_of(block) != HEARTH_RANGE_NONE)
    hearth_range_free(block);
  else
    free(block);
}

/* Copy a block into `target`, a new one, and free it. NULL, and nothing done, if there is no target. */
static void *move_block(void *target, void *block, size_t usable, size_t bytes) {
  if (!target)
    return NULL;
  memcpy(target, block, usable < bytes ? usable : bytes);
  free_any(block);
  return target;
}

/* Whether a block of a range can hold `bytes` where it is, and should: one of another thread's parcel that shrinks below half
 * of its room moves, as does one that becomes large, or is no longer. */
static bool resized_in_place(void *block, size_t usable, size_t bytes) {
  uint64_t owner = hearth_owner_of(block);
  if (!owner)
    return bytes > HEARTH_MEDIUM_BYTES && hearth_region_resize_large(region_of(block), block, bytes);
  if (bytes > HEARTH_MEDIUM_BYTES)
    return false;
  return hearth_resize(owner, block, bytes) || (bytes <= usable && bytes > usable / 2);
}

/* Result 0 bytes as glibc has it: freed, NULL. */
static void *range_realloc(void *block, size_t bytes) {
  if (!bytes) {
    hearth_range_free(block);
    return NULL;
  }
  size_t usable = hearth_range_usable(block);
  if (usable - bytes < HEARTH_QUANTUM_BYTES || resized_in_place(block, usable, bytes))
    return block;
  unsigned pool = pool_of(block);
  bool grows = bytes >= ROOM_FROM_BYTES && bytes > usable && pool != HEARTH_POOL_COLD;
  void *target = grows ? take_growing(pool, bytes) : hearth_pool_alloc(pool, bytes, 1);
  return move_block(target ? target : malloc(bytes), block, usable, bytes);
}

static void *realloc_any(void *block, size_t bytes) {
  return hearth_range_of(block) != HEARTH_RANGE_NONE ? range_realloc(block, bytes) : realloc(block, bytes);
}

/* The functions that also get the program's own blocks. */

HEARTH_INTERPOSE void free(void *block) {
  size_t offset;
  if (hearth_is_in_ranges(block, &offset))
    hearth_range_free_at(offset, block);
  else if (__builtin_expect(block != NULL, 1))
    hearth_next_free(block);
  else
    hearth_probe_report(HEARTH_PROBE_FREE);
}

HEARTH_INTERPOSE void cfree(void *block) { free_any(block); }

HEARTH_INTERPOSE void free_sized(void *block, size_t bytes) {
  (void)bytes;
  free_any(block);
}

HEARTH_INTERPOSE void free_aligned_sized(void *block, size_t alignment, size_t bytes) {
  (void)alignment;
  (void)bytes;
  free_any(block);
}

/* For a hint that wants another pool than the block's; NULL otherwise, and if there is no room: the plain function is
 * to serve the request. */
static void *hinted_realloc(void *block, size_t bytes, uint8_t hint) {
  if (!block)
    return hearth_hinted_alloc(bytes, 1, hint);
  unsigned wanted = hearth_hinted_pool(hint);
  if (wanted == HEARTH_POOL_VERIFIED && bytes)
    return hearth_verified_realloc(block, bytes, hint);
  bool is_ours = hearth_range_of(block) != HEARTH_RANGE_NONE;
  if (wanted == HEARTH_POOL_NONE || !bytes || (is_ours && pool_of(block) == wanted))
    return NULL;
  return move_block(hearth_pool_alloc(wanted, bytes, 1), block, malloc_usable_size(block), bytes);
}

/* The same for the hint of a call in a library. */
static void *library_realloc(struct hearth_caller caller, void *block, size_t bytes) {
  uint8_t hint;
  return hearth_library_hint(caller, &hint) ? hinted_realloc(block, bytes, hint) : NULL;
}

HEARTH_INTERPOSE void *realloc(void *block, size_t bytes) {
  void *moved = library_realloc(HEARTH_CALLER, block, bytes);
  if (moved)
    return moved;
  if (hearth_range_of(block) != HEARTH_RANGE_NONE)
    return range_realloc(block, bytes);
  if (!block)
    hearth_probe_report(HEARTH_PROBE_REALLOC);
  return hearth_next_realloc(block, bytes);
}

HEARTH_INTERPOSE void *reallocarray(void *block, size_t count, size_t bytes) {
  size_t total;
  if (!block)
    hearth_probe_report(HEARTH_PROBE_REALLOCARRAY);
  if (__builtin_mul_overflow(count, bytes, &total)) {
    errno = ENOMEM;
    return NULL;
  }
  void *moved = library_realloc(HEARTH_CALLER, block, total);
  return moved ? moved : realloc_any(block, total);
}

/* The same two under names that lead here, no matter which library defines free and realloc; and those for programs
 * that are linked with --wrap. The attributes are those of stdlib.h. */
#define HEARTH_ALIAS(name) __attribute__((alias(name), nothrow, leaf))
HEARTH_ALIAS("free") void hearth_own_free(void *block);
HEARTH_ALIAS("realloc") __attribute__((alloc_size(2))) void *hearth_own_realloc(void *block, size_t bytes);
HEARTH_INTERPOSE HEARTH_ALIAS("free") void __wrap_free(void *block);
HEARTH_INTERPOSE HEARTH_ALIAS("realloc") __attribute__((alloc_size(2))) void *__wrap_realloc(void *block, size_t bytes);

HEARTH_INTERPOSE size_t malloc_usable_size(void *block) {
  if (hearth_range_of(block) != HEARTH_RANGE_NONE)
    return hearth_range_usable(block);
  if (block)
    return hearth_next_usable(block);
  hearth_probe_report(HEARTH_PROBE_USABLE_SIZE);
  return 0;
}

/* The hinted functions. */

/* Functions apart, so that the usual requests save no registers. */

static __attribute__((noinline)) void *malloc_slowly(size_t bytes, uint8_t hint) {
  void *block = hearth_hinted_alloc(bytes, 1, hint);
  return block ? block : malloc(bytes);
}

static __attribute__((noinline)) void *malloc_passed_on(size_t bytes) {
  if (!hearth_pass_on())
    hearth_pass_on_slowly();
  return malloc(bytes);
}

static __attribute__((noinline)) void *malloc_uncached(size_t bytes, uint8_t hint, struct hearth_pool *pool,
                                                       size_t quanta) {
  void *block = hearth_pool_cut_next(pool, quanta);
  return __builtin_expect(block != NULL, 1) ? block : malloc_slowly(bytes, hint);
}

static inline __attribute__((always_inline)) void *hinted_malloc(size_t bytes, uint8_t hint) {
  unsigned pool = hearth_pool_of_hint(hint);
  if (pool < HEARTH_POOL_NONE) {
    struct hearth_thread_pools *thread = hearth_thread_pools;
    size_t quanta = hearth_quick_quanta(thread, bytes);
    void *block;
    if (!quanta)
      return malloc_slowly(bytes, hint);
    if (hearth_pool_take_cached(&thread->pool[pool], hearth_bin_at(thread, pool, quanta), quanta, &block))
      return block;
    return malloc_uncached(bytes, hint, &thread->pool[pool], quanta);
  }
  return pool == HEARTH_POOL_NONE ? malloc_passed_on(bytes) : malloc_slowly(bytes, hint);
}

HEARTH_EXPORT void *malloc_hot_cold(size_t bytes, uint8_t hint) { return hinted_malloc(bytes, hint); }

void *hearth_hinted_calloc(size_t count, size_t bytes, uint8_t hint) {
  unsigned pool = hearth_hinted_pool(hint);
  size_t total;
  if (pool == HEARTH_POOL_NONE || __builtin_mul_overflow(count, bytes, &total))
    return NULL;
  return pool == HEARTH_POOL_VERIFIED ? hearth_verified_calloc(total, hint) : pool_calloc(pool, total);
}

HEARTH_EXPORT void *calloc_hot_cold(size_t count, size_t bytes, uint8_t hint) {
  void *block = hearth_hinted_calloc(count, bytes, hint);
  return block ? block : calloc(count, bytes);
}

static __attribute__((noinline)) void *realloc_block(void *block, size_t bytes, uint8_t hint) {
  void *target = hinted_realloc(block, bytes, hint);
  return target ? target : realloc_any(block, bytes);
}

HEARTH_EXPORT void *realloc_hot_cold(void *block, size_t bytes, uint8_t hint) {
  return block ? realloc_block(block, bytes, hint) : hinted_malloc(bytes, hint);
}

HEARTH_EXPORT void *reallocarray_hot_cold(void *block, size_t count, size_t bytes, uint8_t hint) {
  size_t total;
  if (__builtin_mul_overflow(count, bytes, &total)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc_hot_cold(block, total, hint);
}

HEARTH_EXPORT void *aligned_alloc_hot_cold(size_t alignment, size_t bytes, uint8_t hint) {
  void *block = hearth_hinted_alloc(bytes, alignment, hint);
  return block ? block : aligned_alloc(alignment, bytes);
}

HEARTH_EXPORT void *memalign_hot_cold(size_t alignment, size_t bytes, uint8_t hint) {
  void *block = hearth_hinted_alloc(bytes, alignment, hint);
  return block ? block : memalign(alignment, bytes);
}

HEARTH_EXPORT int posix_memalign_hot_cold(void **ret_block, size_t alignment, size_t bytes, uint8_t hint) {
  void *block = alignment >= sizeof(void *) ? hearth_hinted_alloc(bytes, alignment, hint) : NULL;
  if (!block)
    return posix_memalign(ret_block, alignment, bytes);
  *ret_block = block;
  return 0;
}

HEARTH_EXPORT void *valloc_hot_cold(size_t bytes, uint8_t hint) {
  void *block = hearth_hinted_alloc(bytes, HEARTH_PAGE_BYTES, hint);
  return block ? block : valloc(bytes);
}

HEARTH_EXPORT void *pvalloc_hot_cold(size_t bytes, uint8_t hint) {
  size_t whole = (bytes + HEARTH_PAGE_BYTES - 1) / HEARTH_PAGE_BYTES * HEARTH_PAGE_BYTES;
  void *block = whole >= bytes ? hearth_hinted_alloc(whole, HEARTH_PAGE_BYTES, hint) : NULL;
  return block ? block : pvalloc(bytes);
}

static char *copy_string(const char *string, size_t length, uint8_t hint) {
  char *copy = malloc_hot_cold(length + 1, hint);
  if (!copy)
    return NULL;
  memcpy(copy, string, length);
  copy[length] = 0;
  return copy;
}

HEARTH_EXPORT char *strdup_hot_cold(const char *string, uint8_t hint) {
  return copy_string(string, strlen(string), hint);
}

HEARTH_EXPORT char *strndup_hot_cold(const char *string, size_t max_bytes, uint8_t hint) {
  return copy_string(string, strnlen(string, max_bytes), hint);
}

/* Looking on. */

HEARTH_EXPORT enum hearth_hotcold_placement hearth_hotcold_class(const void *pointer) {
  switch (hearth_range_of(pointer)) {
  case HEARTH_RANGE_COLD:
    return HEARTH_HOTCOLD_COLD;
  case HEARTH_RANGE_HOT:
    return HEARTH_HOTCOLD_HOT;
  case HEARTH_RANGE_NONE:
    break;
  }
  return HEARTH_HOTCOLD_OTHER;
}

HEARTH_EXPORT int hearth_hotcold_pool(const void *block) {
  return hearth_range_of(block) == HEARTH_RANGE_HOT ? (int)pool_of(block) - HEARTH_POOL_FIRST : -1;
}

static void add_pool(unsigned pool, struct hearth_hotcold_range_stats *stats) {
  struct hearth_hotcold_pool_stats of_pool;
  hearth_pool_figures(pool, &of_pool);
  stats->live_blocks += of_pool.live_blocks;
  stats->live_bytes += of_pool.live_bytes;
  stats->ever_blocks += of_pool.ever_blocks;
}

static struct hearth_hotcold_range_stats range_stats(enum hearth_range range, bool is_on) {
  struct hearth_hotcold_range_stats stats = {
      .fallbacks = atomic_load_explicit(&hearth_ranges.fallbacks[range], memory_order_relaxed)};
  if (!is_on)
    return stats;
  if (range == HEARTH_RANGE_COLD)
    add_pool(HEARTH_POOL_COLD, &stats);
  for (unsigned pool = HEARTH_POOL_FIRST; range == HEARTH_RANGE_HOT && pool < HEARTH_POOLS; pool++)
    add_pool(pool, &stats);
  stats.reserved_bytes = (uint64_t)hearth_ranges.region[range].pages << HEARTH_PAGE_SHIFT;
  stats.committed_bytes = hearth_region_committed(&hearth_ranges.region[range]);
  stats.resident_bytes = hearth_region_resident(&hearth_ranges.region[range]);
  return stats;
}

HEARTH_EXPORT void hearth_hotcold_stats(struct hearth_hotcold_stats *ret_stats) {
  bool open = is_open(); /* before the options, which are written before it */
  int saved_errno = errno;
  ret_stats->cold = range_stats(HEARTH_RANGE_COLD, open && hearth_ranges.cold_below > 0);
  ret_stats->hot = range_stats(HEARTH_RANGE_HOT, open && hearth_ranges.has_pools);
  ret_stats->passed_on = hearth_passed_on();
  errno = saved_errno;
}

HEARTH_EXPORT void hearth_hotcold_pool_stats(int pool, struct hearth_hotcold_pool_stats *ret_stats) {
  *ret_stats = (struct hearth_hotcold_pool_stats){0};
  if (pool >= 0 && pool < HEARTH_POOLS - HEARTH_POOL_FIRST && is_open() && hearth_ranges.has_pools)
    hearth_pool_figures((unsigned)pool + HEARTH_POOL_FIRST, ret_stats);
}
