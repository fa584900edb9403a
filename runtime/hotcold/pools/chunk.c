/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All tables are one mapping, of which those parts get memory that the tiles in use need. */
#define _GNU_SOURCE
#include "chunk.h"

#include <string.h>
#include <sys/mman.h>

struct hearth_tiles hearth_tiles;

enum { TILE_WORDS = HEARTH_TILE_QUANTA / HEARTH_WORD_QUANTA };

static size_t whole_pages(size_t bytes) {
  return (bytes + HEARTH_PAGE_BYTES - 1) / HEARTH_PAGE_BYTES * HEARTH_PAGE_BYTES;
}

bool hearth_tiles_open(char *base, size_t bytes, struct hearth_region *cold, struct hearth_region *hot) {
  size_t tiles = bytes >> HEARTH_TILE_SHIFT;
  size_t owners = whole_pages(tiles * sizeof *hearth_tiles.owner);
  size_t chunks = whole_pages(tiles * sizeof *hearth_tiles.chunk);
  size_t remote = whole_pages(tiles * TILE_WORDS * sizeof *hearth_tiles.remote);
  /* Two words more: the last block's end is looked for behind it. */
  size_t blocks = whole_pages((tiles * TILE_WORDS + 2) * sizeof *hearth_block_map);
  size_t all = owners + chunks + remote + blocks;
  char *map = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED)
    return false;
  madvise(map, all, MADV_NOHUGEPAGE);
  hearth_block_map = (struct hearth_block_words *)(void *)map;
  map += blocks;
  hearth_tiles = (struct hearth_tiles){.base = base,
                                       .owner = (_Atomic uint64_t *)(void *)map,
                                       .chunk = (struct hearth_chunk *)(void *)(map + owners),
                                       .remote = (uint64_t *)(void *)(map + owners + chunks),
                                       .region = {cold, hot}};
  return true;
}

static struct hearth_region *region_of(unsigned pool) { return hearth_tiles.region[pool != HEARTH_POOL_COLD]; }

static uint32_t pages_of(uint32_t tiles) { return tiles << (HEARTH_TILE_SHIFT - HEARTH_PAGE_SHIFT); }

void hearth_chunk_claim(struct hearth_chunk *chunk, struct hearth_thread_pools *thread, unsigned pool) {
  _Atomic uint64_t *owner = &hearth_tiles.owner[chunk - hearth_tiles.chunk];
  for (uint64_t i = 0; i < chunk->tiles; i++)
    atomic_store_explicit(&owner[i], (uintptr_t)thread | i << HEARTH_OWNER_POOL_BITS | pool, memory_order_release);
}

struct hearth_chunk *hearth_chunk_create(struct hearth_thread_pools *thread, unsigned pool, uint32_t tiles,
                                         bool *ret_zeroed) {
  struct hearth_region *region = region_of(pool);
  uint32_t page = hearth_region_take_chunk(region, pages_of(tiles), ret_zeroed);
  if (page == HEARTH_NO_PAGE)
    return NULL;
  size_t tile = (size_t)(hearth_region_address(region, page) - hearth_tiles.base) >> HEARTH_TILE_SHIFT;
  struct hearth_chunk *chunk = &hearth_tiles.chunk[tile];
  *chunk = (struct hearth_chunk){.tiles = tiles};
  hearth_chunk_claim(chunk, thread, pool);
  return chunk;
}

void hearth_chunk_destroy(struct hearth_chunk *chunk, unsigned pool) {
  struct hearth_region *region = region_of(pool);
  size_t tile = (size_t)(chunk - hearth_tiles.chunk);
  for (uint32_t i = 0; i < chunk->tiles; i++)
    atomic_store_explicit(&hearth_tiles.owner[tile + i], 0, memory_order_relaxed);
  char *start = hearth_quantum_address(hearth_chunk_begin(chunk));
  hearth_region_put_chunk(region, hearth_region_page(region, start), pages_of(chunk->tiles));
}
