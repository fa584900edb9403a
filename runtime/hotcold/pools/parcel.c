/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All tables are one mapping, of which those parts get memory that the tiles in use need. */
#define _GNU_SOURCE
#include "parcel.h"

#include <errno.h>
#include <sys/mman.h>

struct hearth_tiles hearth_tiles;

enum {
  TILE_WORDS = HEARTH_TILE_QUANTA / HEARTH_WORD_QUANTA,
  PAGE_QUANTA = HEARTH_PAGE_BYTES / HEARTH_QUANTUM_BYTES,
};

static size_t whole_pages(size_t bytes) {
  return (bytes + HEARTH_PAGE_BYTES - 1) / HEARTH_PAGE_BYTES * HEARTH_PAGE_BYTES;
}

bool hearth_tiles_open(char *base, size_t bytes, struct hearth_region *cold, struct hearth_region *hot) {
  size_t tiles = bytes >> HEARTH_TILE_SHIFT;
  size_t owners = whole_pages(tiles * sizeof *hearth_tiles.owner);
  size_t parcels = whole_pages(tiles * sizeof *hearth_tiles.parcel);
  size_t remote = whole_pages(tiles * TILE_WORDS * sizeof *hearth_tiles.remote);
  /* Two words more: the last block's end is looked for behind it. */
  size_t blocks = whole_pages((tiles * TILE_WORDS + 2) * sizeof *hearth_block_map);
  size_t all = owners + parcels + remote + blocks;
  char *map = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED)
    return false;
  madvise(map, all, MADV_NOHUGEPAGE);
  hearth_block_map = (struct hearth_block_words *)(void *)map;
  map += blocks;
  hearth_tiles = (struct hearth_tiles){.base = base,
                                       .owner = (_Atomic uint64_t *)(void *)map,
                                       .parcel = (struct hearth_parcel *)(void *)(map + owners),
                                       .remote = (uint64_t *)(void *)(map + owners + parcels),
                                       .region = {cold, hot}};
  return true;
}

static struct hearth_region *region_of(unsigned pool) { return hearth_tiles.region[pool != HEARTH_POOL_COLD]; }

static uint32_t pages_of(uint32_t tiles) { return tiles << (HEARTH_TILE_SHIFT - HEARTH_PAGE_SHIFT); }

/* A smaller one of memory that is there already comes before fresh memory: large parcels would leave all small runs of it free. */
static uint32_t take_pages(struct hearth_region *region, uint32_t *pages, bool *ret_zeroed) {
  uint32_t page = hearth_region_take_dirty_parcel(region, pages_of(1), pages);
  *ret_zeroed = false;
  return page == HEARTH_NO_PAGE ? hearth_region_take_parcel(region, *pages, ret_zeroed) : page;
}

static struct hearth_parcel *take(struct hearth_region *region, struct hearth_thread_pools *thread, unsigned pool,
                                  uint32_t tiles, bool *ret_zeroed) {
  uint32_t pages = pages_of(tiles), page = take_pages(region, &pages, ret_zeroed);
  if (page == HEARTH_NO_PAGE)
    return NULL;
  tiles = pages / pages_of(1);
  size_t tile = (size_t)(hearth_region_address(region, page) - hearth_tiles.base) >> HEARTH_TILE_SHIFT;
  struct hearth_parcel *parcel = &hearth_tiles.parcel[tile];
  *parcel = (struct hearth_parcel){.tiles = (uint16_t)tiles};
  for (uint64_t i = 0; i < tiles; i++)
    atomic_store_explicit(&hearth_tiles.owner[tile + i], (uintptr_t)thread | i << HEARTH_OWNER_POOL_BITS | pool,
                          memory_order_relaxed);
  return parcel;
}

struct hearth_parcel *hearth_parcel_create(struct hearth_thread_pools *thread, unsigned pool, uint32_t tiles,
                                           bool *ret_zeroed) {
  struct hearth_region *region = region_of(pool);
  hearth_futex_lock_acquire(&region->page_run_lock);
  struct hearth_parcel *parcel = take(region, thread, pool, tiles, ret_zeroed);
  hearth_futex_lock_release(&region->page_run_lock);
  if (parcel && *ret_zeroed && region->backing.fill)
    region->backing.fill(hearth_quantum_address(hearth_parcel_begin(parcel)), (size_t)tiles << HEARTH_TILE_SHIFT);
  return parcel;
}

#define RECIPROCAL(quanta) UINT32_MAX / ((quanta) * HEARTH_QUANTUM_BYTES) + 1u
#define RECIPROCAL_8(first)                                                                                            \
  RECIPROCAL(first), RECIPROCAL((first) + 1), RECIPROCAL((first) + 2), RECIPROCAL((first) + 3),                        \
      RECIPROCAL((first) + 4), RECIPROCAL((first) + 5), RECIPROCAL((first) + 6), RECIPROCAL((first) + 7)
const uint32_t hearth_even_reciprocal[] = {
    0,
    RECIPROCAL_8(1),
    RECIPROCAL_8(9),
    RECIPROCAL_8(17),
    RECIPROCAL_8(25),
    RECIPROCAL_8(33),
    RECIPROCAL_8(41),
    RECIPROCAL_8(49),
    RECIPROCAL_8(57),
    [HEARTH_EVEN_MEDIUM] = 0,
};

void hearth_parcel_set_even(struct hearth_parcel *parcel, size_t even) {
  _Atomic uint64_t *owner = &hearth_tiles.owner[parcel - hearth_tiles.parcel];
  uint64_t named = even < HEARTH_EVEN_MEDIUM ? even : HEARTH_EVEN_MEDIUM;
  if (named == HEARTH_EVEN_MEDIUM)
    parcel->even = (uint16_t)even;
  for (uint32_t i = 0; i < parcel->tiles; i++) {
    uint64_t rest = atomic_load_explicit(&owner[i], memory_order_relaxed) & ~HEARTH_OWNER_EVEN;
    atomic_store_explicit(&owner[i], rest | named << HEARTH_OWNER_EVEN_SHIFT, memory_order_release);
  }
}

void hearth_parcel_destroy(struct hearth_parcel *parcel, unsigned pool) {
  struct hearth_region *region = region_of(pool);
  size_t tile = (size_t)(parcel - hearth_tiles.parcel);
  char *start = hearth_quantum_address(hearth_parcel_begin(parcel));
  hearth_futex_lock_acquire(&region->page_run_lock);
  for (uint32_t i = 0; i < parcel->tiles; i++)
    atomic_store_explicit(&hearth_tiles.owner[tile + i], 0, memory_order_relaxed);
  hearth_region_put_parcel(region, hearth_region_page(region, start), pages_of(parcel->tiles));
  hearth_futex_lock_release(&region->page_run_lock);
}

size_t hearth_parcel_give_pages_back(struct hearth_parcel *parcel, unsigned pool, size_t least_pages) {
  size_t from = hearth_parcel_begin(parcel), end = hearth_parcel_end(parcel), hole, quanta, pages = 0;
  if (region_of(pool)->backing.release) /* file pages would need room on the disk again */
    return 0;
  int saved_errno = errno;
  for (; hearth_block_map_find(from, end, end, least_pages * PAGE_QUANTA, &hole, &quanta); from = hole + quanta) {
    size_t first = (hole + PAGE_QUANTA - 1) / PAGE_QUANTA, last = (hole + quanta) / PAGE_QUANTA;
    if (last < first + least_pages)
      continue;
    madvise(hearth_quantum_address(first * PAGE_QUANTA), (last - first) << HEARTH_PAGE_SHIFT, MADV_DONTNEED);
    pages += last - first;
  }
  errno = saved_errno;
  return pages * PAGE_QUANTA;
}
