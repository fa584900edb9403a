/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Large blocks and parcels are page runs of their own; the page entries are a mapping beside the range. */
#define _GNU_SOURCE
#include "region.h"

#include "fatal.h"
#include "page_run.h"

#include <string.h>
#include <sys/mman.h>

static size_t pages_for(size_t bytes) { return (bytes + HEARTH_PAGE_BYTES - 1) >> HEARTH_PAGE_SHIFT; }

static size_t map_bytes(uint32_t pages) { return pages_for(pages * sizeof(struct hearth_page)) << HEARTH_PAGE_SHIFT; }

bool hearth_region_create(struct hearth_region *region, void *base, size_t bytes, struct hearth_region_limits limits) {
  memset(region, 0, sizeof *region);
  region->base = base;
  region->pages = (uint32_t)(bytes >> HEARTH_PAGE_SHIFT);
  region->limits = limits;
  char *map =
      mmap(NULL, map_bytes(region->pages), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED)
    return false;
  /* Entries are touched where runs begin, far apart: a huge page would be mostly empty. Only advice, may fail. */
  madvise(map, map_bytes(region->pages), MADV_NOHUGEPAGE);
  region->page = (struct hearth_page *)(void *)map;
  hearth_page_run_init(region);
  return true;
}

void hearth_region_destroy(struct hearth_region *region) {
  munmap(region->page, map_bytes(region->pages));
  memset(region, 0, sizeof *region);
}

uint32_t hearth_region_take_parcel(struct hearth_region *region, uint32_t pages, bool *ret_zeroed) {
  uint32_t first = hearth_page_run_take(region, pages, pages, ret_zeroed);
  if (first == HEARTH_NO_PAGE)
    return first;
  hearth_page_run_set(region, first, pages, HEARTH_PAGE_PARCEL);
  if (*ret_zeroed)
    hearth_page_run_release_for(region, pages);
  return first;
}

uint32_t hearth_region_take_dirty_parcel(struct hearth_region *region, uint32_t least, uint32_t *pages) {
  for (uint32_t tried = *pages; tried >= least; tried /= 2) {
    uint32_t first = hearth_page_run_take_dirty(region, tried, tried);
    if (first == HEARTH_NO_PAGE)
      continue;
    hearth_page_run_set(region, first, tried, HEARTH_PAGE_PARCEL);
    *pages = tried;
    return first;
  }
  return HEARTH_NO_PAGE;
}

void hearth_region_put_parcel(struct hearth_region *region, uint32_t first, uint32_t pages) {
  hearth_page_run_give(region, first, pages);
}

/* The entries of a large block's new run, if there is one. */
static void *start_large(struct hearth_region *region, unsigned pool, uint32_t first, uint32_t pages, bool clean) {
  if (first == HEARTH_NO_PAGE)
    return NULL;
  hearth_page_run_set(region, first, pages, HEARTH_PAGE_LARGE);
  region->page[first].pool = (uint8_t)pool;
  region->large[pool].blocks++;
  region->large[pool].ever++;
  region->large[pool].pages += pages;
  if (clean)
    hearth_page_run_release_for(region, pages);
  return hearth_region_address(region, first);
}

void *hearth_region_take_large(struct hearth_region *region, unsigned pool, size_t bytes, size_t alignment,
                               bool *ret_zeroed) {
  size_t limit = (size_t)region->pages << HEARTH_PAGE_SHIFT;
  if (bytes > limit || alignment > limit)
    return NULL;
  uint32_t pages = bytes ? (uint32_t)pages_for(bytes) : 1;
  hearth_futex_lock_acquire(&region->page_run_lock);
  uint32_t first = hearth_page_run_take(region, pages, (uint32_t)pages_for(alignment), ret_zeroed);
  void *block = start_large(region, pool, first, pages, first != HEARTH_NO_PAGE && *ret_zeroed);
  hearth_futex_lock_release(&region->page_run_lock);
  return block;
}

void *hearth_region_take_growing(struct hearth_region *region, unsigned pool, size_t bytes, bool *ret_zeroed) {
  size_t limit = (size_t)region->pages << HEARTH_PAGE_SHIFT;
  if (!bytes || bytes > limit)
    return NULL;
  uint32_t pages = (uint32_t)pages_for(bytes);
  hearth_futex_lock_acquire(&region->page_run_lock);
  void *block = start_large(region, pool, hearth_page_run_take_with_room(region, pages), pages, true);
  hearth_futex_lock_release(&region->page_run_lock);
  *ret_zeroed = true;
  return block ? block : hearth_region_take_large(region, pool, bytes, 1, ret_zeroed);
}

void hearth_region_put_large(struct hearth_region *region, void *block) {
  uint32_t first = hearth_region_page(region, block);
  hearth_futex_lock_acquire(&region->page_run_lock);
  struct hearth_page *head = &region->page[first];
  if (head->state != HEARTH_PAGE_LARGE)
    hearth_region_freed_twice();
  uint32_t pages = head->pages;
  region->large[head->pool].blocks--;
  region->large[head->pool].pages -= pages;
  hearth_page_run_give_room(region, first + pages);
  hearth_page_run_give(region, first, pages);
  hearth_futex_lock_release(&region->page_run_lock);
}

bool hearth_region_resize_large(struct hearth_region *region, void *block, size_t bytes) {
  if (bytes > (size_t)region->pages << HEARTH_PAGE_SHIFT)
    return false;
  uint32_t first = hearth_region_page(region, block), pages = bytes ? (uint32_t)pages_for(bytes) : 1;
  hearth_futex_lock_acquire(&region->page_run_lock);
  uint32_t old_pages = region->page[first].pages;
  bool grows = pages > old_pages, clean = false;
  bool fits = !grows || hearth_page_run_take_at(region, first + old_pages, pages - old_pages, &clean);
  if (fits) {
    hearth_page_run_set(region, first, pages, HEARTH_PAGE_LARGE);
    if (pages < old_pages) {
      hearth_page_run_give_room(region, first + old_pages);
      hearth_page_run_give(region, first + pages, old_pages - pages);
    }
    if (clean)
      hearth_page_run_release_for(region, pages - old_pages);
    region->large[region->page[first].pool].pages += (uint64_t)pages - old_pages;
  }
  hearth_futex_lock_release(&region->page_run_lock);
  return fits;
}

_Noreturn void hearth_region_bad_pointer(void) {
  hearth_hotcold_fatal("a pointer is not the start of a live block", "");
}

_Noreturn void hearth_region_freed_twice(void) { hearth_hotcold_fatal("a block was freed twice", ""); }

const struct hearth_page *hearth_region_large(const struct hearth_region *region, const void *block) {
  uint32_t first = hearth_region_page(region, block);
  const struct hearth_page *head = &region->page[first];
  if (head->state != HEARTH_PAGE_LARGE || hearth_region_address(region, first) != block)
    hearth_region_bad_pointer();
  return head;
}

struct hearth_hotcold_large_counts hearth_region_large_counts(struct hearth_region *region, unsigned pool) {
  hearth_futex_lock_acquire(&region->page_run_lock);
  struct hearth_hotcold_large_counts counts = region->large[pool];
  hearth_futex_lock_release(&region->page_run_lock);
  return counts;
}

uint64_t hearth_region_committed(struct hearth_region *region) {
  hearth_futex_lock_acquire(&region->page_run_lock);
  uint64_t pages = region->pages - region->clean_pages;
  hearth_futex_lock_release(&region->page_run_lock);
  return pages << HEARTH_PAGE_SHIFT;
}

size_t hearth_region_extent(struct hearth_region *region) {
  hearth_futex_lock_acquire(&region->page_run_lock);
  const struct hearth_page *last = &region->page[region->pages - 1];
  uint32_t pages = last->state == HEARTH_PAGE_CLEAN ? last->first : region->pages;
  hearth_futex_lock_release(&region->page_run_lock);
  return (size_t)pages << HEARTH_PAGE_SHIFT;
}

uint64_t hearth_region_resident(struct hearth_region *region) {
  unsigned char in_memory[2048];
  size_t extent = hearth_region_extent(region);
  uint64_t pages = 0;
  for (size_t from = 0; from < extent; from += sizeof in_memory * HEARTH_PAGE_BYTES) {
    size_t bytes =
        extent - from < sizeof in_memory * HEARTH_PAGE_BYTES ? extent - from : sizeof in_memory * HEARTH_PAGE_BYTES;
    if (!mincore(region->base + from, bytes, in_memory))
      for (size_t i = 0; i < bytes >> HEARTH_PAGE_SHIFT; i++)
        pages += in_memory[i] & 1;
  }
  return pages << HEARTH_PAGE_SHIFT;
}
