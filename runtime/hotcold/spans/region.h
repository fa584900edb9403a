/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A region: an allocator over one given address range.
 *
 *   page    4 KiB of the range; named by its number from the start of the range
 *   page run  consecutive pages with one owner: a free run, a span, or one large block
 *   quantum 16 bytes, the smallest block
 *   span    a page run cut into blocks of one size class, side by side, no headers
 *   dirty   free, but may still hold memory; a clean run was given back to the system or never used, and reads as zero
 *
 * The range holds the program's data and nothing else: page entries and the bit per block lie in a map of their own.
 * So a stray write cannot break the allocator, freeing a block does not touch its page (a cold page stays out of
 * memory), and blocks fill their page completely.
 *
 *     range  | span of 48-byte blocks | large block | free (dirty) | span of ... | free (clean) ............ |
 *     pages  [entry per page: run's first page, length, state, size class, list links]
 *     bits   [one per 16 bytes; a span's bits are packed from its first page's: 1 = block handed out]
 *
 * Locks: one per size class for its spans, then one for the runs; a class's lock is taken before the runs' lock. All
 * functions may be called from several threads at once unless they say otherwise, none allocates from libc, errno is
 * kept.
 *
 * Misuse: a pointer to no block's start, and a block given back twice, end the program with a message. Blocks that lie
 * in a thread's cache count as handed out here: a small block that is freed twice is found only when both copies come
 * back from the caches; until then it may be handed to two owners. A large block is never cached: found at once, unless
 * a new block begins there by then. */
#ifndef HEARTH_REGION_H
#define HEARTH_REGION_H

#include "futex_lock.h"
#include "size_class.h"

#include <stdbool.h>
#include <stdint.h>

#define HEARTH_NO_PAGE UINT32_MAX

enum {
  HEARTH_PAGE_RUN_EXACT_BINS = 64, /* bin i holds the free runs of i + 1 pages; later bins hold one doubling each */
  HEARTH_PAGE_RUN_BINS = 64 + 26,
  HEARTH_QUANTUM_BYTES = 16, /* the smallest block */
  HEARTH_BIT_WORDS_PER_PAGE = HEARTH_PAGE_BYTES / HEARTH_QUANTUM_BYTES / 64,
};

enum hearth_page_state {
  HEARTH_PAGE_CLEAN, /* free runs: state, first and pages are kept in the first and the last entry */
  HEARTH_PAGE_DIRTY,
  HEARTH_PAGE_SPAN,  /* state, first and size_class are kept in every entry */
  HEARTH_PAGE_LARGE, /* as free runs */
};

struct hearth_page {
  uint32_t first;
  uint32_t pages;
  uint32_t next; /* neighbours in the run's bin or the class's list: page numbers or HEARTH_NO_PAGE */
  uint32_t prev;
  uint16_t used;       /* spans: blocks handed out */
  uint16_t first_word; /* spans: no free block in a bit word before this one */
  uint8_t state;
  uint8_t size_class;
};

struct hearth_class_bin {
  _Alignas(64) struct hearth_futex_lock lock;
  uint32_t spans;  /* first of the spans with a free block */
  uint64_t blocks; /* handed out now */
};

struct hearth_page_run_list {
  uint32_t bins[HEARTH_PAGE_RUN_BINS];
  uint64_t filled[2]; /* bit per bin: not empty */
};

struct hearth_region_limits {
  uint32_t keep_pages;     /* dirty pages that are kept for reuse */
  uint32_t release_pages;  /* memory is given back in aligned pieces of this many pages, a power of two */
  bool return_empty_spans; /* else each class keeps its last one, to be the next one it needs */
};

/* Further work on the memory of pages. Called with the page_run_lock held. */
struct hearth_region_backing {
  /* Before clean pages are handed out; the `free_bytes` from `start` on, at least `bytes`, are clean and free. False: they
   * cannot be. NULL: nothing to do. */
  bool (*commit)(char *start, size_t bytes, size_t free_bytes);
  /* Make pages clean; false if that is refused, they are dirty still. NULL: private anonymous memory. */
  bool (*release)(char *start, size_t bytes);
};

struct hearth_region {
  char *base;
  uint32_t pages;
  struct hearth_region_limits limits;
  struct hearth_region_backing backing;
  struct hearth_page *page;
  uint64_t *bits;

  struct hearth_class_bin bins[HEARTH_SIZE_CLASSES];

  _Alignas(64) struct hearth_futex_lock page_run_lock; /* guards the rest */
  struct hearth_page_run_list clean;
  struct hearth_page_run_list dirty;
  uint64_t clean_pages;
  uint32_t dirty_pages;
  uint32_t release_at; /* dirty pages that start the next giving back */
  uint64_t large_blocks;
  uint64_t large_pages;
  uint64_t large_ever;
};

struct hearth_region_stats {
  uint64_t blocks; /* handed out */
  uint64_t bytes;  /* usable bytes of those */
  uint64_t large_ever;
  uint64_t committed_bytes;
};

/* Take over `bytes` at `base`: both multiples of a page, base aligned to limits.release_pages, at most 2^32 - 2 pages,
 * readable and writable, all zero; private anonymous memory, unless a backing that says otherwise is put into the region
 * before its first use. The caller keeps the mapping alive. Returns false if the map for the page entries could not be
 * had. Not thread-safe. */
bool hearth_region_create(struct hearth_region *region, void *base, size_t bytes, struct hearth_region_limits limits);

/* Unmap the page entries (for tests; the range is the caller's). No other thread may use the region any more. */
void hearth_region_destroy(struct hearth_region *region);

/* `count` blocks of one class into ret_blocks. Returns how many there were, fewer only when the range is full. */
unsigned hearth_region_take(struct hearth_region *region, unsigned size_class, void **ret_blocks, unsigned count);

/* Give back `count` blocks of one class. */
void hearth_region_put(struct hearth_region *region, unsigned size_class, void *const *blocks, unsigned count);

/* A block of its own run: `alignment` a power of two. NULL when the range has no room. *ret_zeroed: the block is known
 * to be all zero. */
void *hearth_region_take_large(struct hearth_region *region, size_t bytes, size_t alignment, bool *ret_zeroed);
void hearth_region_put_large(struct hearth_region *region, void *block);

/* Grow or shrink a large block where it is. False, and nothing changed, if there is no room behind it. */
bool hearth_region_resize_large(struct hearth_region *region, void *block, size_t bytes);

/* Usable bytes of a live block. */
size_t hearth_region_usable(const struct hearth_region *region, const void *block);

void hearth_region_stats(struct hearth_region *region, struct hearth_region_stats *ret_stats);

/* Bytes from the base on that may have been in use: the memory behind them was never used, or is clean. */
size_t hearth_region_extent(struct hearth_region *region);

/* Bytes of the extent that are in memory. Asks the system, in proportion to the extent; errno may change. */
uint64_t hearth_region_resident(struct hearth_region *region);

/* All locks, in the lock order, around fork. */
void hearth_region_lock(struct hearth_region *region);
void hearth_region_unlock(struct hearth_region *region);

static inline char *hearth_region_address(const struct hearth_region *region, uint32_t page) {
  return region->base + ((size_t)page << HEARTH_PAGE_SHIFT);
}

_Noreturn void hearth_region_bad_pointer(void);

/* The size class of a live block of the region, or HEARTH_SIZE_CLASSES for a large one. `block` is an address in the
 * range. Takes no lock: a live block's entry does not change. */
static inline unsigned hearth_region_class(const struct hearth_region *region, const void *block) {
  size_t offset = (size_t)((const char *)block - region->base);
  const struct hearth_page *page = &region->page[offset >> HEARTH_PAGE_SHIFT];
  size_t in_run = offset - ((size_t)page->first << HEARTH_PAGE_SHIFT);
  if (page->state == HEARTH_PAGE_SPAN) {
    const struct hearth_size_class *sizes = &hearth_size_class_table[page->size_class];
    size_t index = in_run * sizes->reciprocal >> HEARTH_DIVIDE_SHIFT;
    if (index >= sizes->blocks || index * sizes->bytes != in_run)
      hearth_region_bad_pointer();
    return page->size_class;
  }
  if (page->state != HEARTH_PAGE_LARGE || in_run != 0)
    hearth_region_bad_pointer();
  return HEARTH_SIZE_CLASSES;
}

#endif
