/* The consistency check of the pools, for tests: walks all parcels, their bits, and the lists that they are in. */
#include "pools_check.h"

#include "region_check.h"
#include "thread_pools.h"

struct sums {
  uint64_t used, tiles, parcels;
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

/* Holes that begin in a tile are no larger than its bound. */
static bool bounds_are_valid(const struct hearth_parcel *parcel) {
  size_t begin = hearth_parcel_begin(parcel), from = begin, end = hearth_parcel_end(parcel), hole, quanta;
  for (; hearth_block_map_find(from, end, end, 1, &hole, &quanta); from = hole + quanta) {
    size_t bound = quanta < HEARTH_HOLE_ANY ? quanta : HEARTH_HOLE_ANY;
    if (bound > parcel->hole_most || bound > parcel->hole_most_of_tile[(hole - begin) / HEARTH_TILE_QUANTA])
      return false;
  }
  return true;
}

static bool parcel_is_valid(const struct hearth_pool *pool, const struct hearth_parcel *parcel, struct sums *sums) {
  size_t begin = hearth_parcel_begin(parcel), end = hearth_parcel_end(parcel), first = begin / HEARTH_TILE_QUANTA;
  for (uint32_t i = 0; i < parcel->tiles; i++) {
    uint64_t owner = hearth_tiles.owner[first + i];
    if (hearth_owner_thread(owner) != pool->thread || hearth_owner_pool(owner) != pool->number ||
        hearth_parcel_of(owner, begin + i * (size_t)HEARTH_TILE_QUANTA) != parcel)
      return false;
  }
  sums->used += parcel->used;
  sums->tiles += parcel->tiles;
  sums->parcels++;
  size_t counted = hearth_block_map_count(begin, end), even = hearth_parcel_even(parcel);
  if (even)
    return first % parcel->tiles == 0 && !counted && parcel->used <= end - begin &&
           parcel->used >= (end - begin) / even * even;
  return first % parcel->tiles == 0 && parcel->used == counted && bits_are_valid(begin, end) &&
         (parcel->used || parcel == pool->parcel) && bounds_are_valid(parcel);
}

static bool parcels_are_valid(const struct hearth_pool *pool, struct sums *sums) {
  const struct hearth_region *region = hearth_tiles.region[pool->number != HEARTH_POOL_COLD];
  for (uint32_t page = 0; page < region->pages; page += region->page[page].pages) {
    uint64_t owner = hearth_owner_of(hearth_region_address(region, page));
    bool is_parcel = region->page[page].state == HEARTH_PAGE_PARCEL;
    if (is_parcel != (owner != 0))
      return false;
    if (is_parcel && hearth_owner_thread(owner) == pool->thread && hearth_owner_pool(owner) == pool->number &&
        !parcel_is_valid(pool, hearth_parcel_of(owner, hearth_quantum_of(hearth_region_address(region, page))), sums))
      return false;
  }
  return true;
}

static bool lists_are_valid(const struct hearth_pool *pool, uint64_t parcels) {
  const struct hearth_parcel *last = NULL;
  for (const struct hearth_parcel *parcel = pool->waiting; parcel; last = parcel, parcel = parcel->next_waiting)
    if (parcel->prev_waiting != last || !parcel->is_waiting || parcel->is_medium)
      return false;
  if (last != pool->last_waiting)
    return false;
  for (int is_medium = 0; is_medium < 2; is_medium++) {
    last = NULL;
    for (const struct hearth_parcel *parcel = pool->parcels[is_medium]; parcel; last = parcel, parcel = parcel->next, parcels--)
      if (parcel->prev != last || parcel->is_medium != is_medium)
        return false;
  }
  return !parcels;
}

static bool pool_is_valid(const struct hearth_pool *pool) {
  struct sums sums = {0};
  return parcels_are_valid(pool, &sums) && lists_are_valid(pool, sums.parcels) &&
         sums.used == pool->counts.used_quanta && sums.tiles == pool->tiles;
}

bool hearth_pools_are_valid(void) {
  for (int i = 0; i < 2; i++)
    if (!hearth_region_is_valid(hearth_tiles.region[i]))
      return false;
  for (struct hearth_thread_pools *thread = hearth_all_thread_pools; thread; thread = thread->next)
    for (unsigned i = 0; i < HEARTH_POOLS && !thread->is_forgotten; i++)
      if (thread->pool[i].counts.cut && !pool_is_valid(&thread->pool[i]))
        return false;
  return true;
}
