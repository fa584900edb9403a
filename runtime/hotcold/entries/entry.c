/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each function finds the range that a pointer lies in, by one comparison, or that a hint asks for. It passes on all
 * other requests to the program's allocator. */
#define _GNU_SOURCE
#include "entry.h"

#include "hearth/hotcold.h"
#include "hinted_calls.h"
#include "next.h"
#include "page_out.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static bool is_open(void) { return atomic_load_explicit(&hearth_ranges.bytes, memory_order_acquire) != 0; }

static void *counted(enum hearth_range range, void *block) {
  if (!block)
    atomic_fetch_add_explicit(&hearth_ranges.fallbacks[range], 1, memory_order_relaxed);
  return block;
}

static void *take_large(enum hearth_range range, size_t bytes, size_t alignment, bool *ret_zeroed) {
  hearth_page_out_ensure();
  return counted(range, hearth_region_take_large(&hearth_ranges.region[range], bytes, alignment, ret_zeroed));
}

void *hearth_range_alloc(enum hearth_range range, size_t bytes, size_t alignment) {
  if (bytes > HEARTH_SMALL_MAX_BYTES || alignment > HEARTH_PAGE_BYTES) {
    bool zeroed;
    return take_large(range, bytes, alignment, &zeroed);
  }
  unsigned size_class =
      alignment <= HEARTH_QUANTUM_BYTES ? hearth_size_class_of(bytes) : hearth_size_class_aligned(bytes, alignment);
  return counted(range, hearth_block_cache_take(range, size_class));
}

/* A large block from clean pages is zero already, and touching all of it would make it resident. */
static void *range_calloc(enum hearth_range range, size_t bytes) {
  bool zeroed = false;
  void *block;
  if (bytes > HEARTH_SMALL_MAX_BYTES)
    block = take_large(range, bytes, 1, &zeroed);
  else
    block = hearth_range_alloc(range, bytes, 1);
  if (block && !zeroed)
    memset(block, 0, bytes);
  return block;
}

void hearth_range_free(enum hearth_range range, void *block) {
  struct hearth_region *region = &hearth_ranges.region[range];
  unsigned size_class = hearth_region_class(region, block);
  if (size_class < HEARTH_SIZE_CLASSES)
    hearth_block_cache_put(range, size_class, block);
  else
    hearth_region_put_large(region, block);
}

/* Where a block may be of a range, this must not depend on whether the public name leads here (see next.c). */
static void free_any(void *block) {
  enum hearth_range range = hearth_range_of(block);
  if (range != HEARTH_RANGE_NONE)
    hearth_range_free(range, block);
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

/* Whether a block of a range can hold `bytes` where it is, and should: one that shrinks below half of its room moves.
 */
static bool resized_in_place(enum hearth_range range, void *block, size_t usable, size_t bytes) {
  if (usable > HEARTH_SMALL_MAX_BYTES && bytes > HEARTH_SMALL_MAX_BYTES)
    return hearth_region_resize_large(&hearth_ranges.region[range], block, bytes);
  return bytes <= usable && bytes > usable / 2;
}

/* Result 0 bytes as glibc has it: freed, NULL. */
static void *range_realloc(enum hearth_range range, void *block, size_t bytes) {
  if (!bytes) {
    hearth_range_free(range, block);
    return NULL;
  }
  size_t usable = hearth_region_usable(&hearth_ranges.region[range], block);
  if (resized_in_place(range, block, usable, bytes))
    return block;
  void *target = hearth_range_alloc(range, bytes, 1);
  return move_block(target ? target : malloc(bytes), block, usable, bytes);
}

static void *realloc_any(void *block, size_t bytes) {
  enum hearth_range range = hearth_range_of(block);
  return range != HEARTH_RANGE_NONE ? range_realloc(range, block, bytes) : realloc(block, bytes);
}

/* The functions that also get the program's own blocks. */

HEARTH_INTERPOSE void free(void *block) {
  enum hearth_range range = hearth_range_of(block);
  if (range != HEARTH_RANGE_NONE)
    hearth_range_free(range, block);
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

/* For a hint that wants another range than the block's; NULL otherwise, and if there is no room: the plain function is
 * to serve the request. */
static void *hinted_realloc(void *block, size_t bytes, uint8_t hint) {
  if (!block)
    return hearth_hinted_alloc(bytes, 1, hint);
  enum hearth_range now = hearth_range_of(block), wanted = hearth_hinted_range(hint);
  if (wanted == now || wanted == HEARTH_RANGE_NONE || !bytes)
    return NULL;
  return move_block(hearth_range_alloc(wanted, bytes, 1), block, malloc_usable_size(block), bytes);
}

/* The same for the hint of a call in a library. */
static void *library_realloc(const void *caller, void *block, size_t bytes) {
  uint8_t hint;
  return hearth_library_hint(caller, &hint) ? hinted_realloc(block, bytes, hint) : NULL;
}

HEARTH_INTERPOSE void *realloc(void *block, size_t bytes) {
  void *moved = library_realloc(HEARTH_CALLER, block, bytes);
  if (moved)
    return moved;
  enum hearth_range range = hearth_range_of(block);
  if (range != HEARTH_RANGE_NONE)
    return range_realloc(range, block, bytes);
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
  enum hearth_range range = hearth_range_of(block);
  if (range != HEARTH_RANGE_NONE)
    return hearth_region_usable(&hearth_ranges.region[range], block);
  if (block)
    return hearth_next_usable(block);
  hearth_probe_report(HEARTH_PROBE_USABLE_SIZE);
  return 0;
}

/* The hinted functions. */

/* A function apart, so that requests that are passed on save no registers. */
static __attribute__((noinline)) void *malloc_in_range(size_t bytes, uint8_t hint) {
  void *block = hearth_hinted_alloc(bytes, 1, hint);
  return block ? block : malloc(bytes);
}

HEARTH_EXPORT void *malloc_hot_cold(size_t bytes, uint8_t hint) {
  return hearth_hint_is_passed_on(hint) ? malloc(bytes) : malloc_in_range(bytes, hint);
}

void *hearth_hinted_calloc(size_t count, size_t bytes, uint8_t hint) {
  enum hearth_range range = hearth_hinted_range(hint);
  size_t total;
  if (range == HEARTH_RANGE_NONE || __builtin_mul_overflow(count, bytes, &total))
    return NULL;
  return range_calloc(range, total);
}

HEARTH_EXPORT void *calloc_hot_cold(size_t count, size_t bytes, uint8_t hint) {
  void *block = hearth_hinted_calloc(count, bytes, hint);
  return block ? block : calloc(count, bytes);
}

HEARTH_EXPORT void *realloc_hot_cold(void *block, size_t bytes, uint8_t hint) {
  void *target = hinted_realloc(block, bytes, hint);
  if (target)
    return target;
  return block ? realloc_any(block, bytes) : malloc(bytes);
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

static struct hearth_hotcold_range_stats range_stats(enum hearth_range range, bool is_on) {
  struct hearth_hotcold_range_stats stats = {
      .fallbacks = atomic_load_explicit(&hearth_ranges.fallbacks[range], memory_order_relaxed)};
  if (!is_on)
    return stats;
  struct hearth_region_stats blocks;
  struct hearth_block_cache_stats cached;
  hearth_region_stats(&hearth_ranges.region[range], &blocks);
  hearth_block_cache_stats(range, &cached);
  stats.live_blocks = blocks.blocks - cached.blocks;
  stats.live_bytes = blocks.bytes - cached.bytes;
  stats.ever_blocks = blocks.large_ever + cached.ever;
  stats.reserved_bytes = (uint64_t)hearth_ranges.region[range].pages << HEARTH_PAGE_SHIFT;
  stats.committed_bytes = blocks.committed_bytes;
  stats.resident_bytes = hearth_region_resident(&hearth_ranges.region[range]);
  return stats;
}

HEARTH_EXPORT void hearth_hotcold_stats(struct hearth_hotcold_stats *ret_stats) {
  bool open = is_open(); /* before the thresholds, which are written before it */
  int saved_errno = errno;
  ret_stats->cold = range_stats(HEARTH_RANGE_COLD, open && hearth_ranges.cold_below > 0);
  ret_stats->hot = range_stats(HEARTH_RANGE_HOT, open && hearth_ranges.hot_from <= UINT8_MAX);
  ret_stats->passed_on = hearth_block_cache_passed_on();
  errno = saved_errno;
}
