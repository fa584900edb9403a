/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Of a parcel, and of each of its tiles, a bound on the size of holes is kept: a search in vain lowers it, a freed block raises it
 * again. */
#include "pool_parcels.h"

#include "kept_memory.h"

enum {
  /* A parcel is worth a search when a 16th of it was freed since the last one. */
  FREED_SHARE = 16,
  /* A new parcel is at most a 32nd of the pool's parcels of its kind. */
  GROWTH_SHARE = 32,
  /* Cold parcels stay small: what empties goes back at once. */
  COLD_PARCEL_TILES = 1,
};

/* Lists. */

static void count_tiles(struct hearth_pool *pool, const struct hearth_parcel *parcel, uint32_t tiles) {
  pool->tiles += tiles;
  if (parcel->is_medium)
    pool->medium_tiles += tiles;
}

static void add_waiting(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  parcel->next_waiting = NULL;
  parcel->prev_waiting = pool->last_waiting;
  if (pool->last_waiting)
    pool->last_waiting->next_waiting = parcel;
  else
    pool->waiting = parcel;
  pool->last_waiting = parcel;
  parcel->is_waiting = true;
}

static void remove_waiting(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  if (parcel->next_waiting)
    parcel->next_waiting->prev_waiting = parcel->prev_waiting;
  else
    pool->last_waiting = parcel->prev_waiting;
  if (parcel->prev_waiting)
    parcel->prev_waiting->next_waiting = parcel->next_waiting;
  else
    pool->waiting = parcel->next_waiting;
  parcel->is_waiting = false;
}

static void add_parcel(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  struct hearth_parcel **first = &pool->parcels[parcel->is_medium];
  parcel->prev = NULL;
  parcel->next = *first;
  if (parcel->next)
    parcel->next->prev = parcel;
  *first = parcel;
}

static void remove_parcel(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  if (parcel->next)
    parcel->next->prev = parcel->prev;
  if (parcel->prev)
    parcel->prev->next = parcel->next;
  else
    pool->parcels[parcel->is_medium] = parcel->next;
}

static void move_to_front(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  if (!parcel->prev)
    return;
  remove_parcel(pool, parcel);
  add_parcel(pool, parcel);
}

static bool is_worth_a_search(const struct hearth_parcel *parcel) {
  return parcel->freed >= hearth_parcel_quanta(parcel) / FREED_SHARE;
}

static void destroy(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  remove_parcel(pool, parcel);
  if (parcel->is_waiting)
    remove_waiting(pool, parcel);
  count_tiles(pool, parcel, -(uint32_t)parcel->tiles);
  hearth_parcel_destroy(parcel, pool->number);
}

void hearth_pool_look_after(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  if (parcel == pool->parcel)
    return;
  if (!parcel->used)
    destroy(pool, parcel);
  else if (!parcel->is_medium && !parcel->is_waiting && is_worth_a_search(parcel))
    add_waiting(pool, parcel);
}

struct hearth_parcel *hearth_pool_next_waiting(struct hearth_pool *pool) {
  struct hearth_parcel *parcel = pool->waiting;
  if (parcel)
    remove_waiting(pool, parcel);
  return parcel;
}

/* Bounds. */

static uint16_t *bound_of(struct hearth_parcel *parcel, size_t quantum) {
  return &parcel->hole_most_of_tile[(quantum - hearth_parcel_begin(parcel)) / HEARTH_TILE_QUANTA];
}

/* From so many quanta on, a hole is as good as any. */
static size_t ample(const struct hearth_parcel *parcel) {
  return parcel->is_medium ? HEARTH_HOLE_ANY : HEARTH_SMALL_QUANTA;
}

void hearth_pool_raise_bounds(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quantum, size_t quanta) {
  uint16_t bound = quanta < ample(parcel) ? (uint16_t)quanta : HEARTH_HOLE_ANY, *of_tile = bound_of(parcel, quantum);
  if (parcel->is_medium && bound > pool->medium_most)
    pool->medium_most = bound;
  if (bound > *of_tile) {
    *of_tile = bound;
    if (!parcel->is_medium)
      pool->likely = quantum;
  }
  if (bound <= parcel->hole_most)
    return;
  parcel->hole_most = bound;
  move_to_front(pool, parcel);
}

/* The hole that the quanta are part of now, seen no further than it matters, may be larger than those known. */
static void note_hole(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quantum, size_t quanta) {
  size_t begin = hearth_parcel_begin(parcel), end = hearth_parcel_end(parcel), most = ample(parcel), behind, before;
  if (*bound_of(parcel, quantum) == HEARTH_HOLE_ANY && parcel->hole_most == HEARTH_HOLE_ANY)
    return;
  before = hearth_block_map_free_before(quantum, quantum - begin > most ? quantum - most : begin);
  behind = quantum + quanta;
  if (before + quanta < most)
    quanta += hearth_block_map_free_from(behind, end - behind > most ? behind + most : end);
  hearth_pool_raise_bounds(pool, parcel, quantum - before, before + quanta);
}

/* Quanta. */

static void count_used(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quanta) {
  parcel->used += (uint32_t)quanta;
  hearth_count_add(&pool->counts.used_quanta, quanta);
}

void hearth_pool_use_quanta(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quanta) {
  count_used(pool, parcel, quanta);
  hearth_kept_memory_shrinks(pool);
}

void hearth_pool_unuse_quanta(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quanta) {
  parcel->used -= (uint32_t)quanta;
  hearth_count_add(&pool->counts.used_quanta, -(uint64_t)quanta);
}

void hearth_pool_free_quanta(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quantum, size_t quanta) {
  hearth_block_map_free(quantum, quanta);
  hearth_pool_unuse_quanta(pool, parcel, quanta);
  parcel->freed += (uint32_t)quanta;
  parcel->kept_free += (uint32_t)quanta;
  note_hole(pool, parcel, quantum, quanta);
  hearth_pool_look_after(pool, parcel);
  hearth_kept_memory_grows(pool);
}

struct hearth_parcel *hearth_pool_create_parcel(struct hearth_pool *pool, bool is_medium, bool *ret_zeroed) {
  uint32_t most = pool->number == HEARTH_POOL_COLD ? COLD_PARCEL_TILES : HEARTH_PARCEL_TILES_MOST, tiles = 1;
  uint32_t alike = is_medium ? pool->medium_tiles : pool->tiles - pool->medium_tiles;
  while (tiles < most && tiles * 2 <= alike / GROWTH_SHARE)
    tiles *= 2;
  struct hearth_parcel *parcel = hearth_parcel_create(pool->thread, pool->number, tiles, ret_zeroed);
  if (!parcel && tiles > 1)
    parcel = hearth_parcel_create(pool->thread, pool->number, 1, ret_zeroed);
  if (!parcel)
    return NULL;
  parcel->is_medium = is_medium;
  count_tiles(pool, parcel, parcel->tiles);
  add_parcel(pool, parcel);
  if (*ret_zeroed)
    hearth_kept_memory_release_for(pool->thread, hearth_parcel_quanta(parcel));
  return parcel;
}

void hearth_pool_recall(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  parcel->used = parcel->freed = 0;
  parcel->is_waiting = false;
  hearth_block_map_repair(hearth_parcel_begin(parcel), hearth_parcel_end(parcel));
  count_used(pool, parcel, hearth_block_map_count(hearth_parcel_begin(parcel), hearth_parcel_end(parcel)));
  count_tiles(pool, parcel, parcel->tiles);
  parcel->hole_most = pool->medium_most = HEARTH_HOLE_ANY;
  for (uint32_t i = 0; i < parcel->tiles; i++)
    parcel->hole_most_of_tile[i] = HEARTH_HOLE_ANY;
  add_parcel(pool, parcel);
  if (!parcel->used)
    destroy(pool, parcel);
  else if (!parcel->is_medium)
    add_waiting(pool, parcel);
}
