/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The slow ways. */
#include "pool.h"

#include "hole.h"
#include "hole_search.h"
#include "pool_parcels.h"
#include "released_blocks.h"

#define MOST(quanta) ((quanta) <= 32 ? 32 : (quanta) > 64 ? 4 : 1024 / (quanta))
#define MOST_8(first)                                                                                                  \
  MOST(first), MOST((first) + 1), MOST((first) + 2), MOST((first) + 3), MOST((first) + 4), MOST((first) + 5),          \
      MOST((first) + 6), MOST((first) + 7)
const uint8_t hearth_bin_most[HEARTH_SMALL_QUANTA] = {MOST_8(1),  MOST_8(9),  MOST_8(17), MOST_8(25),
                                                      MOST_8(33), MOST_8(41), MOST_8(49), MOST_8(57)};

void hearth_pool_free(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quantum, size_t quanta) {
  if (__builtin_expect(hearth_parcel_even(parcel), 0))
    hearth_hole_end_evenness(pool, parcel);
  hearth_pool_free_quanta(pool, parcel, quantum, quanta);
}

void hearth_pool_hold(struct hearth_parcel *parcel) { parcel->used++; }

void hearth_pool_release(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  parcel->used--;
  hearth_pool_look_after(pool, parcel);
}

static void *cut(struct hearth_pool *pool, enum hearth_hole which, size_t quanta, bool *ret_zeroed) {
  void *block;
  *ret_zeroed = pool->is_zeroed[which];
  return hearth_hole_cut(&pool->counts.hole[which], quanta, hearth_hole_even(pool, which), &block) ? block : NULL;
}

/* Of a new parcel, small blocks of all sizes take the same hole. */
static void *take_small_from_hole(struct hearth_pool *pool, size_t quanta, bool *ret_zeroed) {
  enum hearth_hole which = quanta <= HEARTH_TINY_QUANTA ? HEARTH_HOLE_NEXT : HEARTH_HOLE_SMALL;
  if (pool->is_split && which == HEARTH_HOLE_NEXT)
    hearth_hole_join_next(pool);
  void *block = cut(pool, which, quanta, ret_zeroed);
  if (block)
    return block;
  if (hearth_hole_find(pool, which, quanta) ||
      (hearth_collect_remote_blocks(pool->thread) && hearth_hole_find(pool, which, quanta)))
    return cut(pool, which, quanta, ret_zeroed);
  return hearth_hole_find_fresh(pool, HEARTH_HOLE_NEXT, quanta) ? cut(pool, HEARTH_HOLE_NEXT, quanta, ret_zeroed)
                                                                : NULL;
}

static void *take_freed_medium(struct hearth_pool *pool, size_t quanta, bool *ret_zeroed) {
  *ret_zeroed = false;
  return hearth_medium_take_freed(pool, quanta, HEARTH_QUANTUM_BYTES);
}

static void *take_medium(struct hearth_pool *pool, size_t quanta, bool *ret_zeroed) {
  void *block = take_freed_medium(pool, quanta, ret_zeroed);
  if (block)
    return block;
  if (pool->medium_even != quanta)
    hearth_hole_end_own_evenness(pool, HEARTH_HOLE_MEDIUM);
  block = cut(pool, HEARTH_HOLE_MEDIUM, quanta, ret_zeroed);
  if (!block && hearth_collect_remote_blocks(pool->thread))
    block = take_freed_medium(pool, quanta, ret_zeroed);
  if (!block && hearth_hole_find_fresh(pool, HEARTH_HOLE_MEDIUM, quanta))
    block = cut(pool, HEARTH_HOLE_MEDIUM, quanta, ret_zeroed);
  return block;
}

static void *take_uncached(struct hearth_pool *pool, size_t quanta, bool *ret_zeroed) {
  void *block = quanta > HEARTH_SMALL_QUANTA ? take_medium(pool, quanta, ret_zeroed)
                                             : take_small_from_hole(pool, quanta, ret_zeroed);
  if (block)
    hearth_count_add(&pool->counts.cut, 1);
  return block;
}

void *hearth_pool_take(struct hearth_pool *pool, size_t quanta, bool *ret_zeroed) {
  if (quanta > HEARTH_SMALL_QUANTA)
    return take_uncached(pool, quanta, ret_zeroed);
  if (pool->even && pool->even != quanta && !hearth_bin_count(pool, quanta))
    hearth_hole_end_evenness(pool, pool->parcel);
  void *block = hearth_pool_take_small(pool, hearth_bin_of(pool, quanta), quanta, ret_zeroed);
  return block ? block : take_uncached(pool, quanta, ret_zeroed);
}

static void *take_cached_if_aligned(struct hearth_pool *pool, size_t quanta, size_t alignment) {
  void *const *bin = hearth_bin_of(pool, quanta), *block;
  uint32_t cached = hearth_bin_count(pool, quanta);
  if (!cached || (uintptr_t)bin[cached - 1] & (alignment - 1))
    return NULL;
  return hearth_pool_take_cached(pool, bin, quanta, &block) ? block : NULL;
}

/* Quanta before the next aligned address of a hole, if a block of `quanta` is to begin there; or SIZE_MAX. */
static size_t gap_of(const struct hearth_pool *pool, enum hearth_hole which, size_t quanta, size_t alignment) {
  const struct hearth_hotcold_hole *hole = &pool->counts.hole[which];
  uint64_t start = hearth_count_get(&hole->start), room = hearth_count_get(&hole->end) - start;
  uint64_t gap = -start & (alignment - 1);
  return room >= gap + quanta * HEARTH_QUANTUM_BYTES ? gap / HEARTH_QUANTUM_BYTES : SIZE_MAX;
}

static void *cut_aligned(struct hearth_pool *pool, enum hearth_hole which, size_t quanta, size_t alignment) {
  struct hearth_hotcold_hole *hole = &pool->counts.hole[which];
  size_t gap = gap_of(pool, which, quanta, alignment);
  void *before, *block;
  if (gap == SIZE_MAX)
    return NULL;
  if (gap && hearth_hole_cut(hole, gap, false, &before))
    hearth_pool_free(pool, hearth_parcel_at((uintptr_t)before), hearth_quantum_of(before), gap);
  return hearth_hole_cut(hole, quanta, false, &block) ? block : NULL;
}

/* What lies before the block stays a hole that tiny blocks take first. */
static void *cut_aligned_of_next(struct hearth_pool *pool, size_t quanta, size_t alignment) {
  size_t gap = gap_of(pool, HEARTH_HOLE_NEXT, quanta, alignment);
  enum hearth_hole which = gap ? HEARTH_HOLE_SMALL : HEARTH_HOLE_NEXT;
  void *block;
  if (gap == SIZE_MAX)
    return NULL;
  if (gap)
    hearth_hole_split_next(pool,
                           hearth_count_get(&pool->counts.hole[HEARTH_HOLE_NEXT].start) + gap * HEARTH_QUANTUM_BYTES);
  return hearth_hole_cut(&pool->counts.hole[which], quanta, false, &block) ? block : NULL;
}

static void *take_small_aligned(struct hearth_pool *pool, size_t quanta, size_t alignment) {
  size_t all = quanta + alignment / HEARTH_QUANTUM_BYTES - 1;
  hearth_hole_end_own_evenness(pool, HEARTH_HOLE_NEXT);
  void *block = cut_aligned(pool, HEARTH_HOLE_SMALL, quanta, alignment);
  if (!block)
    block = cut_aligned_of_next(pool, quanta, alignment);
  if (block)
    return block;
  if (hearth_hole_find_first(pool, HEARTH_HOLE_SMALL, all) ||
      (hearth_collect_remote_blocks(pool->thread) && hearth_hole_find_first(pool, HEARTH_HOLE_SMALL, all)))
    return cut_aligned(pool, HEARTH_HOLE_SMALL, quanta, alignment);
  return hearth_hole_find_fresh(pool, HEARTH_HOLE_NEXT, 0) ? cut_aligned(pool, HEARTH_HOLE_NEXT, quanta, alignment)
                                                           : NULL;
}

static void *take_medium_aligned(struct hearth_pool *pool, size_t quanta, size_t alignment) {
  void *block = hearth_medium_take_freed(pool, quanta, alignment);
  if (block)
    return block;
  hearth_hole_end_own_evenness(pool, HEARTH_HOLE_MEDIUM);
  block = cut_aligned(pool, HEARTH_HOLE_MEDIUM, quanta, alignment);
  if (!block && hearth_collect_remote_blocks(pool->thread))
    block = hearth_medium_take_freed(pool, quanta, alignment);
  if (!block && hearth_hole_find_fresh(pool, HEARTH_HOLE_MEDIUM, 0))
    block = cut_aligned(pool, HEARTH_HOLE_MEDIUM, quanta, alignment);
  return block;
}

void *hearth_pool_take_aligned(struct hearth_pool *pool, size_t quanta, size_t alignment) {
  void *block = quanta <= HEARTH_SMALL_QUANTA ? take_cached_if_aligned(pool, quanta, alignment) : NULL;
  if (block)
    return block;
  block = quanta <= HEARTH_SMALL_QUANTA ? take_small_aligned(pool, quanta, alignment)
                                        : take_medium_aligned(pool, quanta, alignment);
  if (block)
    hearth_count_add(&pool->counts.cut, 1);
  return block;
}

/* Is there room in a hole of the pool, and does it begin where the block ends? */
static bool grow_into_hole(struct hearth_pool *pool, size_t block_end, size_t more) {
  for (unsigned i = 0; i < HEARTH_HOLES; i++) {
    struct hearth_hotcold_hole *hole = &pool->counts.hole[i];
    void *block;
    if (hearth_count_get(&hole->start) != hearth_address_of(block_end) || !hearth_hole_cut(hole, more, false, &block))
      continue;
    hearth_block_map_continue(block_end);
    return true;
  }
  return false;
}

bool hearth_pool_resize(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quantum, size_t old_quanta,
                        size_t quanta) {
  size_t end = quantum + old_quanta, parcel_end = hearth_parcel_end(parcel);
  if (quanta == old_quanta)
    return true;
  if (quanta < old_quanta) {
    hearth_pool_free(pool, parcel, quantum + quanta, old_quanta - quanta);
    return true;
  }
  size_t more = quanta - old_quanta;
  if (end == parcel_end)
    return false;
  hearth_hole_end_evenness(pool, parcel);
  if (grow_into_hole(pool, end, more))
    return true;
  if (end + more > parcel_end || hearth_block_map_free_from(end, end + more) < more)
    return false;
  hearth_block_map_extend(end, more);
  hearth_pool_use_quanta(pool, parcel, more);
  return true;
}

void hearth_pool_close(struct hearth_pool *pool) {
  for (unsigned i = 0; i < HEARTH_HOLES; i++)
    hearth_hole_close(pool, (enum hearth_hole)i);
  hearth_pool_leave_parcel(pool);
}

void hearth_pool_complete(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  size_t even = hearth_parcel_even(parcel), begin = hearth_parcel_begin(parcel), all = hearth_parcel_quanta(parcel);
  enum hearth_hole which = parcel->is_medium ? HEARTH_HOLE_MEDIUM : HEARTH_HOLE_NEXT;
  uint64_t next = hearth_count_get(&pool->counts.hole[which].start);
  if (even) {
    bool has_hole = next >= hearth_address_of(begin) && next < hearth_address_of(begin + all);
    hearth_block_map_use_even(begin, has_hole ? hearth_quantum_at(next) - begin : all / even * even, even);
  }
  hearth_parcel_set_even(parcel, 0);
}

void hearth_pool_forget(struct hearth_pool *pool) {
  for (unsigned i = 0; i < HEARTH_HOLES; i++) {
    hearth_hole_forget(&pool->counts.hole[i]);
    pool->is_zeroed[i] = false;
  }
  pool->is_split = false;
  pool->even = pool->medium_even = 0;
  pool->parcel = pool->waiting = pool->last_waiting = pool->parcels[0] = pool->parcels[1] = NULL;
  pool->tiles = pool->medium_tiles = pool->medium_most = 0;
  hearth_count_set(&pool->counts.used_quanta, 0);
}
