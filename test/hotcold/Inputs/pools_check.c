/* The consistency check of the pools, for tests: walks all chunks, their bits, and the lists that they are in. */
#include "pools_check.h"

#include "region_check.h"
#include "thread_pools.h"

struct sums {
  uint64_t used, tiles, medium;
};

/* A used quantum that is no start continues a block: the one before it is used. */
static bool bits_are_valid(size_t begin, size_t end) {
  bool before = false;
  for (size_t quantum = begin; quantum < end; quantum++) {
    const struct hearth_block_words *words = &hearth_block_map[quantum / HEARTH_WORD_QUANTA];
    bool used = words->used >> quantum % HEARTH_WORD_QUANTA & 1, start = words->start >> quantum % HEARTH_WORD_QUANTA & 1;
    if (used && !start && !before)
      return false;
    before = used;
  }
  return true;
}

static size_t largest_hole(const struct hearth_chunk *chunk) {
  size_t from = hearth_chunk_begin(chunk), most = 0, hole, quanta;
  while (hearth_block_map_find(from, hearth_chunk_end(chunk), 1, &hole, &quanta)) {
    most = quanta > most ? quanta : most;
    from = hole + quanta;
  }
  return most;
}

static bool chunk_is_valid(const struct hearth_pool *pool, const struct hearth_chunk *chunk, struct sums *sums) {
  size_t begin = hearth_chunk_begin(chunk), end = hearth_chunk_end(chunk), first = begin / HEARTH_TILE_QUANTA;
  for (uint32_t i = 0; i < chunk->tiles; i++) {
    uint64_t owner = hearth_tiles.owner[first + i];
    if (hearth_owner_thread(owner) != pool->thread || hearth_owner_pool(owner) != pool->number ||
        hearth_chunk_of(owner, begin + i * (size_t)HEARTH_TILE_QUANTA) != chunk)
      return false;
  }
  sums->used += chunk->used;
  sums->tiles += chunk->tiles;
  sums->medium += chunk->is_medium;
  return first % chunk->tiles == 0 && chunk->used == hearth_block_map_count(begin, end) && bits_are_valid(begin, end) &&
         (chunk->used || chunk == pool->chunk) && (!chunk->is_medium || largest_hole(chunk) <= chunk->hole_most);
}

static bool chunks_are_valid(const struct hearth_pool *pool, struct sums *sums) {
  const struct hearth_region *region = hearth_tiles.region[pool->number != HEARTH_POOL_COLD];
  for (uint32_t page = 0; page < region->pages; page += region->page[page].pages) {
    uint64_t owner = hearth_owner_of(hearth_region_address(region, page));
    bool is_chunk = region->page[page].state == HEARTH_PAGE_CHUNK;
    if (is_chunk != (owner != 0))
      return false;
    if (is_chunk && hearth_owner_thread(owner) == pool->thread && hearth_owner_pool(owner) == pool->number &&
        !chunk_is_valid(pool, hearth_chunk_of(owner, hearth_quantum_of(hearth_region_address(region, page))), sums))
      return false;
  }
  return true;
}

static bool lists_are_valid(const struct hearth_pool *pool, uint64_t medium) {
  const struct hearth_chunk *last = NULL;
  for (const struct hearth_chunk *chunk = pool->waiting; chunk; last = chunk, chunk = chunk->next)
    if (chunk->prev != last || !chunk->is_listed || chunk->is_medium)
      return false;
  if (last != pool->last_waiting)
    return false;
  last = NULL;
  for (const struct hearth_chunk *chunk = pool->medium; chunk; last = chunk, chunk = chunk->next, medium--)
    if (chunk->prev != last || !chunk->is_medium)
      return false;
  return !medium;
}

static bool pool_is_valid(const struct hearth_pool *pool) {
  struct sums sums = {0};
  return chunks_are_valid(pool, &sums) && lists_are_valid(pool, sums.medium) &&
         sums.used == pool->counts.used_quanta && sums.tiles == pool->tiles;
}

bool hearth_pools_are_valid(void) {
  for (int i = 0; i < 2; i++)
    if (!hearth_region_is_valid(hearth_tiles.region[i]))
      return false;
  for (struct hearth_thread_pools *thread = hearth_all_thread_pools; thread; thread = thread->next)
    for (unsigned i = 0; i < HEARTH_POOLS; i++)
      if (thread->pool[i].counts.taken && !pool_is_valid(&thread->pool[i]))
        return false;
  return true;
}
