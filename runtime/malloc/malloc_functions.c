/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* malloc, free and their like, under all the names that the C library gives them. */
#define _GNU_SOURCE

#include "entry_points.h"
#include "heap_memory.h"
#include "hints.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* Any size, with an alignment of 16 bytes. */
static __attribute__((noinline)) void *alloc_slowly(hearth_pool *pool, size_t bytes, bool *ret_zero) {
  void *block;
  if (bytes <= HEARTH_MEDIUM_BYTES) {
    size_t class = hearth_class_of(bytes);
    block = hearth_pool_pop(pool, class, hearth_class_granules(class));
    if (!block)
      block = hearth_pool_alloc_slowly(pool, class);
  } else {
    block = hearth_large_alloc(pool->is_cold, bytes, 1, ret_zero);
  }
  if (HEARTH_UNLIKELY(!block))
    errno = ENOMEM;
  return block;
}

static __attribute__((noinline)) void *malloc_small_slowly(hearth_pool *pool, size_t class) {
  bool is_zero;
  void *block = hearth_take_small(pool, class);
  return HEARTH_LIKELY(block != NULL) ? block : alloc_slowly(pool, class * HEARTH_GRANULE, &is_zero);
}

/* Code of the program calls it, too (hearth/lowered_calls.h). */
HEARTH_EXPORT void *hearth_fast_malloc_3(hearth_pool *pool, size_t class)
    __attribute__((alias("malloc_small_slowly"), noinline));

static __attribute__((noinline)) void *malloc_slowly(size_t bytes) {
  bool is_zero;
  return alloc_slowly(hearth_main_pool, bytes, &is_zero);
}

HEARTH_EXPORT void *malloc(size_t bytes) {
  hearth_pool *pool = hearth_main_pool;
  if (HEARTH_UNLIKELY(bytes > HEARTH_SMALL_BYTES))
    return malloc_slowly(bytes);
  size_t class = hearth_small_class(bytes);
  void *block = hearth_pool_pop(pool, class, class);
  return HEARTH_LIKELY(block != NULL) ? block : malloc_small_slowly(pool, class);
}

static __attribute__((noinline)) void free_too_much(hearth_pool *pool) { hearth_pool_free_too_much(pool); }

/* The low bits stay: the owner is not found at an address that is not aligned. */
static inline hearth_segment *head_for(const void *block) {
  return (hearth_segment *)((uintptr_t)block & (~(uintptr_t)(HEARTH_SEGMENT_BYTES - 1) | (HEARTH_GRANULE - 1)));
}

/* A block of up to 1 KiB goes to the list of its pool. false: it is none. */
static inline __attribute__((always_inline)) bool free_to_list(hearth_pool *pool, hearth_segment *segment,
                                                               void *block) {
  uint8_t *map = (uint8_t *)segment; /* the byte is the block's: no other thread touches it */
  size_t granule = hearth_granule_of(block), class = map[granule];
  if (HEARTH_UNLIKELY((int8_t)class <= 0))
    return false;
  __asm__("" : "+r"(granule)); /* so that the next line is one instruction, in memory */
  map[granule] |= HEARTH_FREE;
  hearth_pool_push(pool, block, class);
  pool->budget -= (int64_t)class;
  if (HEARTH_UNLIKELY(pool->budget < 0))
    free_too_much(pool);
  return true;
}

static __attribute__((noinline)) void free_slowly(void *block) {
  if (!block) {
    hearth_frees_of_null++;
    return;
  }
  hearth_segment *segment = head_for(block);
  const hearth_heap *heap = hearth_main_pool->heap;
  uintptr_t owner = heap && segment ? hearth_owner_of(segment) : HEARTH_MARKED;
  if (!(owner & HEARTH_MARKED) && hearth_heap_has(heap, owner) &&
      free_to_list((hearth_pool *)owner, segment, block)) /* of another pool of the thread's */
    return;
  hearth_pool_free_slowly(hearth_main_pool, block);
}

HEARTH_EXPORT void free(void *block) {
  hearth_segment *segment = head_for(block);
  if (HEARTH_LIKELY(segment != NULL)) {
    uintptr_t owner = hearth_owner_of(segment);
    if (HEARTH_LIKELY(owner == (uintptr_t)hearth_main_pool) &&
        HEARTH_LIKELY(free_to_list((hearth_pool *)owner, segment, block)))
      return;
  }
  free_slowly(block);
}

/* operator delete; operator_new.c has the other forms. */
HEARTH_EXPORT void _ZdlPv(void *block) __attribute__((alias("free")));
HEARTH_EXPORT void _ZdlPvSt11align_val_t(void *block) __attribute__((alias("free")));
HEARTH_HIDDEN void hearth_own_ZdlPv(void *block) __attribute__((alias("free")));
HEARTH_HIDDEN void hearth_own_ZdlPvSt11align_val_t(void *block) __attribute__((alias("free")));

HEARTH_EXPORT void *calloc(size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return NULL;
  }
  bool is_zero = false;
  void *block = all <= HEARTH_MEDIUM_BYTES ? malloc(all) : alloc_slowly(hearth_main_pool, all, &is_zero);
  return block && !is_zero ? memset(block, 0, all) : block;
}

static size_t usable_of_kind(const void *block, hearth_kind kind) {
  return hearth_is_large(kind) ? hearth_large_usable(block)
                               : hearth_class_granules(hearth_block_class(block, kind)) * HEARTH_GRANULE;
}

HEARTH_EXPORT size_t malloc_usable_size(void *block) {
  return block ? usable_of_kind(block, hearth_kind_of(block)) : 0;
}

/* The thread's pool for what a block of this kind becomes; the main one, if there is no memory for it. */
static hearth_pool *pool_like(hearth_kind kind) {
  hearth_heap *heap = hearth_heap_of_thread();
  hearth_pool *pool = heap ? hearth_heap_pool(heap, hearth_is_cold(kind) ? HEARTH_POOL_COLD : kind) : NULL;
  return pool ? pool : hearth_main_pool;
}

static __attribute__((noinline)) void *resize(void *block, size_t bytes) {
  if (!bytes) {
    free(block);
    return NULL;
  }
  hearth_kind kind = hearth_kind_of(block);
  if (hearth_is_large(kind) && bytes > HEARTH_MEDIUM_BYTES) {
    void *resized = hearth_large_resize(block, bytes);
    if (!resized)
      errno = ENOMEM;
    return resized;
  }
  size_t usable = usable_of_kind(block, kind);
  if (bytes <= usable && bytes > usable / 2)
    return block;
  bool is_zero;
  void *moved = kind == HEARTH_POOL_MAIN || kind == HEARTH_KIND_LARGE
                    ? malloc(bytes)
                    : hearth_alloc(pool_like(kind), bytes, 1, &is_zero);
  if (!moved)
    return NULL;
  memcpy(moved, block, usable < bytes ? usable : bytes);
  free(block);
  return moved;
}

HEARTH_EXPORT void *realloc(void *block, size_t bytes) { return block ? resize(block, bytes) : malloc(bytes); }

void *hearth_alloc(hearth_pool *pool, size_t bytes, size_t alignment, bool *ret_zero) {
  if (alignment <= HEARTH_GRANULE)
    return alloc_slowly(pool, bytes, ret_zero);
  void *block = bytes <= HEARTH_MEDIUM_BYTES && alignment <= HEARTH_SLOT_BYTES
                    ? hearth_pool_alloc_aligned(pool, bytes, alignment)
                    : hearth_large_alloc(pool->is_cold, bytes, alignment, ret_zero);
  if (!block)
    errno = ENOMEM;
  return block;
}

static void *alloc_aligned(size_t bytes, size_t alignment) {
  bool is_zero;
  return hearth_alloc(hearth_main_pool, bytes, alignment, &is_zero);
}

HEARTH_EXPORT void *memalign(size_t alignment, size_t bytes) {
  if (!hearth_is_power_of_two(alignment)) { /* as the C library does: the next one */
    if (alignment > PTRDIFF_MAX) {
      errno = EINVAL;
      return NULL;
    }
    size_t next = HEARTH_GRANULE;
    while (next < alignment)
      next *= 2;
    alignment = next;
  }
  return alloc_aligned(bytes, alignment);
}

HEARTH_EXPORT void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

HEARTH_EXPORT int posix_memalign(void **ret_block, size_t alignment, size_t bytes) {
  if (!hearth_is_power_of_two(alignment) || alignment % sizeof(void *))
    return EINVAL;
  void *block = alloc_aligned(bytes, alignment);
  if (!block)
    return ENOMEM; /* in errno, too, as with the C library: there are programs that look */
  *ret_block = block;
  return 0;
}

enum { HEARTH_VALLOC_BYTES = 4096 };
HEARTH_EXPORT void *valloc(size_t bytes) { return alloc_aligned(bytes, HEARTH_VALLOC_BYTES); }
HEARTH_EXPORT void *pvalloc(size_t bytes) {
  if (bytes > PTRDIFF_MAX) {
    errno = ENOMEM;
    return NULL;
  }
  return alloc_aligned((bytes + HEARTH_VALLOC_BYTES - 1) & -(size_t)HEARTH_VALLOC_BYTES, HEARTH_VALLOC_BYTES);
}
HEARTH_EXPORT void *reallocarray(void *block, size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(block, all);
}

/* C23. */
HEARTH_EXPORT void free_sized(void *block, size_t bytes) {
  (void)bytes;
  free(block);
}
HEARTH_EXPORT void free_aligned_sized(void *block, size_t alignment, size_t bytes) {
  (void)alignment;
  (void)bytes;
  free(block);
}

HEARTH_HIDDEN void *hearth_engine_malloc(size_t bytes) __attribute__((alias("malloc")));
HEARTH_HIDDEN void *hearth_engine_calloc(size_t count, size_t bytes) __attribute__((alias("calloc")));
HEARTH_HIDDEN void *hearth_engine_realloc(void *block, size_t bytes) __attribute__((alias("realloc")));

/* The C library's other names. */
HEARTH_EXPORT void *__libc_malloc(size_t bytes) __attribute__((alias("malloc")));
HEARTH_EXPORT void __libc_free(void *block) __attribute__((alias("free")));
HEARTH_EXPORT void cfree(void *block) __attribute__((alias("free")));
HEARTH_EXPORT void *__libc_calloc(size_t count, size_t bytes) __attribute__((alias("calloc")));
HEARTH_EXPORT void *__libc_realloc(void *block, size_t bytes) __attribute__((alias("realloc")));
HEARTH_EXPORT void *__libc_memalign(size_t alignment, size_t bytes) __attribute__((alias("memalign")));
HEARTH_EXPORT void *__libc_valloc(size_t bytes) __attribute__((alias("valloc")));
HEARTH_EXPORT void *__libc_pvalloc(size_t bytes) __attribute__((alias("pvalloc")));
HEARTH_EXPORT int __posix_memalign(void **ret_block, size_t alignment, size_t bytes)
    __attribute__((alias("posix_memalign")));

/* Lookups that pass by these: a library that is opened with RTLD_DEEPBIND looks into the C library first, as does
 * dlsym with that library's handle. What they find is made ours, or one allocator would free the blocks of the
 * other. The C++ library's operators call the C library's functions, and so need no change. */

#pragma weak _r_debug

static const char *const looked_up_names[] = {
#define HEARTH_C_NAME(name) #name,
#include "allocation_names.def"
};
enum { LOOKED_UP_NAMES = sizeof looked_up_names / sizeof *looked_up_names };
_Static_assert((int)LOOKED_UP_NAMES <= HEARTH_LOADER_NAMES_MOST, "there is room for them");

/* Of a library's table of symbols, by the library's own headers. The program itself is not asked for. */
static bool find_library_mapping(const void *address, hearth_loader_mapping *ret_mapping) {
  for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)map->l_addr;
    if (!map->l_addr || (uintptr_t)address < map->l_addr || (uintptr_t)address >= (uintptr_t)map->l_ld ||
        memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
      continue;
    const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(map->l_addr + head->e_phoff);
    for (size_t i = 0; i < head->e_phnum; i++) {
      uintptr_t start = map->l_addr + segment[i].p_vaddr, end = start + segment[i].p_memsz;
      if (segment[i].p_type == PT_LOAD && (uintptr_t)address >= start && (uintptr_t)address < end) {
        *ret_mapping = (hearth_loader_mapping){start & -(uintptr_t)HEARTH_PAGE_BYTES, HEARTH_WHOLE_PAGES(end),
                                               segment[i].p_flags & PF_W, segment[i].p_flags & PF_X};
        return true;
      }
    }
  }
  return false;
}

/* Before constructors that open libraries. */
__attribute__((constructor(101))) static void unify_lookups(void) {
  hearth_loader_unify(find_library_mapping, looked_up_names, LOOKED_UP_NAMES, (const void *)hearth_engine_malloc);
}
