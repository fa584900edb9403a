/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The hinted functions, under tcmalloc's names. A neutral hint, and one that is not heeded, is a call of the plain
 * function by its name: the program may have replaced it. */
#define _GNU_SOURCE
#include "hints.h"
#include "machine.h"
#include "segments.h"

#include "hearth/malloc.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* Here, as the linker takes this file out of the archive for it, with all that the hinted functions need. */
_Thread_local unsigned hearth_frees_of_null;

static __attribute__((noinline)) void *malloc_slowly(size_t bytes, uint8_t hint) {
  unsigned placement = hearth_hint_placement(hint);
  bool is_zero;
  if (placement != HEARTH_POOL_NONE)
    return hearth_hinted_alloc(placement, bytes, 1, &is_zero);
  hearth_hint_pass_on(hint);
  return malloc(bytes);
}

static __attribute__((noinline)) void *malloc_at_cursor(size_t bytes, uint8_t hint, unsigned placement,
                                                        hearth_pool *pool) {
  void *block = hearth_hinted_take(placement, pool, bytes);
  return HEARTH_LIKELY(block != NULL) ? block : malloc_slowly(bytes, hint);
}

HEARTH_EXPORT void *malloc_hot_cold(size_t bytes, uint8_t hint) {
  unsigned placement = hearth_hint_placement(hint);
  hearth_heap *heap = hearth_hinted_heap();
  hearth_pool *pool = hearth_hinted_pool(heap, placement);
  if (HEARTH_UNLIKELY(!pool))
    return malloc_slowly(bytes, hint);
  void *block = hearth_hinted_pop(heap, placement, pool, bytes);
  return HEARTH_LIKELY(block != NULL) ? block : malloc_at_cursor(bytes, hint, placement, pool);
}

/* A block from clean pages is zero already, and touching all of it would make it resident. */
HEARTH_EXPORT void *calloc_hot_cold(size_t count, size_t bytes, uint8_t hint) {
  unsigned placement = hearth_hint_placement(hint);
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return NULL;
  }
  if (placement == HEARTH_POOL_NONE) {
    hearth_hint_pass_on(hint);
    return calloc(count, bytes);
  }
  bool is_zero = false;
  hearth_heap *heap = hearth_hinted_heap();
  hearth_pool *pool = hearth_hinted_pool(heap, placement);
  void *block = pool ? hearth_hinted_pop(heap, placement, pool, all) : NULL;
  if (!block)
    block = hearth_hinted_alloc(placement, all, 1, &is_zero);
  return block && !is_zero ? memset(block, 0, all) : block;
}

/* Would so many bytes of a placement lie where the block lies? */
static bool lies_where(const void *block, size_t bytes, unsigned placement) {
  hearth_kind kind = hearth_kind_of(block);
  return kind == placement || (hearth_is_large(kind) && bytes > HEARTH_MEDIUM_BYTES &&
                               hearth_is_cold(kind) == (placement == HEARTH_POOL_COLD));
}

static __attribute__((noinline)) void *resize_hinted(void *block, size_t bytes, uint8_t hint) {
  unsigned placement = hearth_hint_placement(hint);
  if (placement == HEARTH_POOL_NONE) {
    hearth_hint_pass_on(hint);
    return realloc(block, bytes);
  }
  if (!bytes || lies_where(block, bytes, placement))
    return realloc(block, bytes);
  void *moved = malloc_hot_cold(bytes, hint);
  if (!moved)
    return NULL;
  size_t usable = malloc_usable_size(block);
  memcpy(moved, block, usable < bytes ? usable : bytes);
  free(block);
  return moved;
}

HEARTH_EXPORT void *realloc_hot_cold(void *block, size_t bytes, uint8_t hint) {
  return block ? resize_hinted(block, bytes, hint) : malloc_hot_cold(bytes, hint);
}

HEARTH_EXPORT void *reallocarray_hot_cold(void *block, size_t count, size_t bytes, uint8_t hint) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc_hot_cold(block, all, hint);
}

/* NULL: the plain function is to serve the request, or to refuse it. */
static void *hinted_memalign(size_t alignment, size_t bytes, uint8_t hint) {
  unsigned placement = hearth_hint_placement(hint);
  bool is_zero;
  if (placement != HEARTH_POOL_NONE && hearth_is_power_of_two(alignment))
    return hearth_hinted_alloc(placement, bytes, alignment, &is_zero);
  hearth_hint_pass_on(hint);
  return NULL;
}

HEARTH_EXPORT void *memalign_hot_cold(size_t alignment, size_t bytes, uint8_t hint) {
  void *block = hinted_memalign(alignment, bytes, hint);
  return block ? block : memalign(alignment, bytes);
}

HEARTH_EXPORT void *aligned_alloc_hot_cold(size_t alignment, size_t bytes, uint8_t hint) {
  void *block = hinted_memalign(alignment, bytes, hint);
  return block ? block : aligned_alloc(alignment, bytes);
}

HEARTH_EXPORT int posix_memalign_hot_cold(void **ret_block, size_t alignment, size_t bytes, uint8_t hint) {
  void *block = alignment >= sizeof(void *) ? hinted_memalign(alignment, bytes, hint) : NULL;
  if (!block)
    return posix_memalign(ret_block, alignment, bytes);
  *ret_block = block;
  return 0;
}

HEARTH_EXPORT void *valloc_hot_cold(size_t bytes, uint8_t hint) {
  void *block = hinted_memalign(HEARTH_PAGE_BYTES, bytes, hint);
  return block ? block : valloc(bytes);
}

HEARTH_EXPORT void *pvalloc_hot_cold(size_t bytes, uint8_t hint) {
  size_t whole = (bytes + HEARTH_PAGE_BYTES - 1) & -(size_t)HEARTH_PAGE_BYTES;
  void *block = whole >= bytes ? hinted_memalign(HEARTH_PAGE_BYTES, whole, hint) : NULL;
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

/* Where a block lies. */

HEARTH_EXPORT enum hearth_malloc_placement hearth_malloc_class(const void *pointer) {
  hearth_kind kind = hearth_kind_of(pointer);
  if (hearth_is_cold(kind))
    return HEARTH_MALLOC_COLD;
  return hearth_is_segment(kind) && kind >= HEARTH_POOL_FIRST ? HEARTH_MALLOC_HOT : HEARTH_MALLOC_OTHER;
}

HEARTH_EXPORT int hearth_malloc_pool(const void *block) {
  return hearth_malloc_class(block) == HEARTH_MALLOC_HOT ? hearth_kind_of(block) - HEARTH_POOL_FIRST : -1;
}
