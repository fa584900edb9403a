/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A region: the pages of one given address range.
 *
 *   page    4 KiB of the range; named by its number from the start of the range
 *   page run  consecutive pages with one owner: free, a parcel of a pool, or one large block
 *   dirty   free, but may still hold memory; a clean run was given back to the system or never used, and reads as zero
 *   room    clean pages behind a large block that grew, for it to grow into
 *   pool    blocks that lie together: number 0 of cold blocks, 1 to 31 of the plan, 32 of other hot ones
 *
 * The range holds the program's data and nothing else: page entries lie in a map of their own. So a stray write cannot
 * break the allocator, and freeing a block does not touch its page (a cold page stays out of memory).
 *
 *     range  | parcel of a pool | large block | free (dirty) | parcel ... | free (clean) ............ |
 *     pages  [entry per page: run's first page, length, state, pool, list links]
 *
 * One lock guards the runs. All functions may be called from several threads at once unless they say otherwise, none
 * allocates from libc, errno is kept.
 *
 * Misuse: a pointer to no block's start, and a large block given back twice, end the program with a message, unless a new
 * block begins there by then. */
#ifndef HEARTH_REGION_H
#define HEARTH_REGION_H

#include "futex_lock.h"
#include "hearth/hotcold_status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEARTH_NO_PAGE UINT32_MAX

enum {
  HEARTH_PAGE_SHIFT = 12,
  HEARTH_PAGE_BYTES = 1 << HEARTH_PAGE_SHIFT,
  HEARTH_PAGE_RUN_EXACT_BINS = 64, /* bin i holds the free runs of i + 1 pages; later bins hold one doubling each */
  HEARTH_PAGE_RUN_BINS = 64 + 26,
};

enum {
  HEARTH_POOL_COLD = 0,
  HEARTH_POOL_FIRST = 1, /* pool 0 of the plan */
  HEARTH_POOL_HOT = 32,
  HEARTH_POOLS = HEARTH_HOTCOLD_STATUS_POOLS,
};

enum hearth_page_state { /* kept in the first and the last entry of a run, as first and pages are */
                         HEARTH_PAGE_CLEAN,
                         HEARTH_PAGE_DIRTY,
                         HEARTH_PAGE_PARCEL,
                         HEARTH_PAGE_LARGE,
                         HEARTH_PAGE_ROOM,
};

struct hearth_page {
  uint32_t first;
  uint32_t pages;
  uint32_t next; /* neighbours in the run's bin: page numbers or HEARTH_NO_PAGE */
  uint32_t prev;
  uint8_t state;
  uint8_t pool; /* large blocks */
};

struct hearth_page_run_list {
  uint32_t bins[HEARTH_PAGE_RUN_BINS];
  uint64_t filled[2]; /* bit per bin: not empty */
};

/* Hot memory is kept for so long after it was freed, unless fresh memory is taken meanwhile. */
enum { HEARTH_KEEP_MS = 50 };

struct hearth_region_limits {
  uint32_t least_keep_pages,
      keep_pages;         /* dirty pages that are kept for reuse: a 16th of those in use, but at least, most */
  uint32_t keep_ms;       /* more are kept for about so long, but for as many as clean pages are taken meanwhile */
  uint32_t release_pages; /* memory is given back in aligned pieces of this many pages, a power of two; */
  uint32_t small_release_pages; /* or, if that is not enough, of this many */
};

/* Further work on the memory of pages. */
struct hearth_region_backing {
  /* Called with the page_run_lock held, before clean pages are handed out; the `free_bytes` from `start` on, at least `bytes`, are clean and free. False: they
   * cannot be. NULL: nothing to do. */
  bool (*commit)(char *start, size_t bytes, size_t free_bytes);
  /* The same, to make pages clean; false if that is refused, they are dirty still. NULL: private anonymous memory. */
  bool (*release)(char *start, size_t bytes);
  /* Called without a lock: clean pages were handed out for blocks of a pool, and all of them will be used soon. NULL: nothing to
   * do. */
  void (*fill)(char *start, size_t bytes);
};

struct hearth_region {
  char *base;
  uint32_t pages;
  struct hearth_region_limits limits;
  struct hearth_region_backing backing;
  struct hearth_page *page;

  struct hearth_futex_lock page_run_lock; /* guards the rest */
  struct hearth_page_run_list clean;
  struct hearth_page_run_list dirty;
  uint64_t clean_pages;
  uint32_t dirty_pages;
  uint32_t release_at;      /* dirty pages that start the next giving back, or look at the clock */
  uint32_t owed_pages;      /* clean pages taken while there were dirty ones, for which none have been given back */
  uint64_t next_release_ms; /* not before that is memory given back for its age */
  struct hearth_hotcold_large_counts large[HEARTH_POOLS];
};

/* Take over `bytes` at `base`: both multiples of a page, base aligned to limits.release_pages, at most 2^32 - 2 pages,
 * readable and writable, all zero; private anonymous memory, unless a backing that says otherwise is put into the region
 * before its first use. The caller keeps the mapping alive. Returns false if the map for the page entries could not be
 * had. Not thread-safe. */
bool hearth_region_create(struct hearth_region *region, void *base, size_t bytes, struct hearth_region_limits limits);

/* Unmap the page entries (for tests; the range is the caller's). No other thread may use the region any more. */
void hearth_region_destroy(struct hearth_region *region);

/* A run of `pages` pages for a parcel, aligned to that in the address space; a power of two. HEARTH_NO_PAGE when the
 * range has no room. *ret_zeroed: it is known to be all zero. For both, the caller holds the page_run_lock, so that it
 * can write down whose the parcel is before a fork comes in between. */
uint32_t hearth_region_take_parcel(struct hearth_region *region, uint32_t pages, bool *ret_zeroed);
/* The same, of up to *pages, but at least `least` pages that have memory already: the most there are. *pages becomes how many. */
uint32_t hearth_region_take_dirty_parcel(struct hearth_region *region, uint32_t least, uint32_t *pages);
void hearth_region_put_parcel(struct hearth_region *region, uint32_t first, uint32_t pages);

/* A block of its own run: `alignment` a power of two. NULL when the range has no room. *ret_zeroed: the block is known
 * to be all zero. */
void *hearth_region_take_large(struct hearth_region *region, unsigned pool, size_t bytes, size_t alignment,
                               bool *ret_zeroed);
void hearth_region_put_large(struct hearth_region *region, void *block);

/* The same for a block that grows: if there is much address space, it gets room to grow further where it is. */
void *hearth_region_take_growing(struct hearth_region *region, unsigned pool, size_t bytes, bool *ret_zeroed);

/* Grow or shrink a large block where it is. False, and nothing changed, if there is no room behind it. */
bool hearth_region_resize_large(struct hearth_region *region, void *block, size_t bytes);

/* The page entry of a live large block, an address in the range. Takes no lock: a live block's entry changes by
 * hearth_region_resize_large only. */
const struct hearth_page *hearth_region_large(const struct hearth_region *region, const void *block);

/* Counts of the large blocks of one pool. */
struct hearth_hotcold_large_counts hearth_region_large_counts(struct hearth_region *region, unsigned pool);

/* Bytes in use or dirty. */
uint64_t hearth_region_committed(struct hearth_region *region);

/* Bytes from the base on that may have been in use: the memory behind them was never used, or is clean. */
size_t hearth_region_extent(struct hearth_region *region);

/* Bytes of the extent that are in memory. Asks the system, in proportion to the extent; errno may change. */
uint64_t hearth_region_resident(struct hearth_region *region);

static inline char *hearth_region_address(const struct hearth_region *region, uint32_t page) {
  return region->base + ((size_t)page << HEARTH_PAGE_SHIFT);
}

static inline uint32_t hearth_region_page(const struct hearth_region *region, const void *address) {
  return (uint32_t)((size_t)((const char *)address - region->base) >> HEARTH_PAGE_SHIFT);
}

_Noreturn void hearth_region_bad_pointer(void);
_Noreturn void hearth_region_freed_twice(void);

#endif
