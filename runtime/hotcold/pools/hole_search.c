/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Holes are found by bit scans. */
#include "hole_search.h"

#include "hole.h"
#include "pool_parcels.h"

enum {
  PARCELS_TRIED = 64,
  /* Medium blocks may leave this part of an even parcel unused. */
  UNUSED_SHARE = 64,
};

void hearth_pool_leave_parcel(struct hearth_pool *pool) {
  struct hearth_parcel *parcel = pool->parcel;
  pool->parcel = NULL;
  if (parcel)
    hearth_pool_look_after(pool, parcel);
}

static void enter_parcel(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  pool->parcel = parcel;
  pool->position = hearth_parcel_begin(parcel);
  parcel->freed = 0;
}

/* The next hole, from where the last one was found. */
static bool find_next(struct hearth_pool *pool, size_t quanta) {
  hearth_hole_close(pool, HEARTH_HOLE_NEXT);
  for (;;) {
    struct hearth_parcel *parcel = pool->parcel;
    size_t end = parcel ? hearth_parcel_end(parcel) : 0, hole, room;
    if (parcel && hearth_block_map_find(pool->position, end, end, quanta, &hole, &room)) {
      hearth_hole_open(pool, HEARTH_HOLE_NEXT, parcel, hole, room);
      pool->position = hole + room;
      return true;
    }
    hearth_pool_leave_parcel(pool);
    parcel = hearth_pool_next_waiting(pool);
    if (!parcel)
      return false;
    enter_parcel(pool, parcel);
  }
}

struct found {
  struct hearth_parcel *parcel;
  size_t quantum, quanta;
};

/* A hole of a tile, for small blocks from the likely one on if that lies in it. A search in vain tells how large holes are at most. */
static bool search_tile(const struct hearth_pool *pool, struct hearth_parcel *parcel, uint32_t tile, size_t quanta,
                        struct found *ret_found) {
  size_t begin = hearth_parcel_begin(parcel) + tile * HEARTH_TILE_QUANTA, tile_end = begin + HEARTH_TILE_QUANTA, hole;
  size_t end = hearth_parcel_end(parcel), room, most;
  size_t from = !parcel->is_medium && pool->likely - begin < HEARTH_TILE_QUANTA ? pool->likely : begin;
  if (!hearth_block_map_find(from, tile_end, end, quanta, &hole, &room)) {
    most = room;
    if (!hearth_block_map_find(begin, from, end, quanta, &hole, &room)) {
      parcel->hole_most_of_tile[tile] = (uint16_t)(room > most ? room : most);
      return false;
    }
  }
  *ret_found = (struct found){parcel, hole, room};
  return true;
}

/* The first tile of a parcel with a hole that is large enough. */
static bool search_parcel(const struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quanta,
                          struct found *ret_found) {
  uint16_t most = 0;
  for (uint32_t tile = 0; tile < parcel->tiles; tile++) {
    const uint16_t *of_tile = &parcel->hole_most_of_tile[tile];
    if (*of_tile >= quanta && search_tile(pool, parcel, tile, quanta, ret_found))
      return true;
    most = *of_tile > most ? *of_tile : most;
  }
  parcel->hole_most = most;
  return false;
}

/* The first parcel with one. */
static bool search(const struct hearth_pool *pool, bool is_medium, size_t quanta, struct found *ret_found) {
  unsigned tried = 0;
  for (struct hearth_parcel *parcel = pool->parcels[is_medium]; parcel && tried < PARCELS_TRIED;
       parcel = parcel->next) {
    if (parcel->hole_most < quanta)
      continue;
    if (search_parcel(pool, parcel, quanta, ret_found))
      return true;
    tried++;
  }
  return false;
}

bool hearth_hole_find_first(struct hearth_pool *pool, enum hearth_hole which, size_t quanta) {
  struct found found;
  hearth_hole_close(pool, which);
  if (!search(pool, false, quanta, &found))
    return false;
  pool->likely = found.quantum + found.quanta;
  hearth_hole_open(pool, which, found.parcel, found.quantum, found.quanta);
  return true;
}

void *hearth_medium_take_freed(struct hearth_pool *pool, size_t quanta, size_t alignment) {
  size_t all = quanta + alignment / HEARTH_QUANTUM_BYTES - 1;
  struct found found;
  if (pool->medium_most < all)
    return NULL;
  if (!search(pool, true, all, &found)) {
    pool->medium_most = (uint16_t)(all - 1);
    return NULL;
  }
  uint64_t block = (hearth_address_of(found.quantum) + alignment - 1) & -(uint64_t)alignment;
  hearth_block_map_use(hearth_quantum_at(block), quanta);
  hearth_pool_use_quanta(pool, found.parcel, quanta);
  return (void *)(uintptr_t)block;
}

bool hearth_hole_find(struct hearth_pool *pool, enum hearth_hole which, size_t quanta) {
  return which == HEARTH_HOLE_NEXT ? find_next(pool, quanta) : hearth_hole_find_first(pool, which, quanta);
}

/* Are the blocks to make a new parcel even? */
static bool may_be_even(const struct hearth_parcel *parcel, enum hearth_hole which, size_t quanta) {
  size_t all = hearth_parcel_quanta(parcel);
  return which == HEARTH_HOLE_NEXT || all % quanta <= all / UNUSED_SHARE;
}

bool hearth_hole_find_fresh(struct hearth_pool *pool, enum hearth_hole which, size_t even) {
  bool zeroed;
  struct hearth_parcel *parcel = hearth_pool_create_parcel(pool, which == HEARTH_HOLE_MEDIUM, &zeroed);
  if (!parcel)
    return false;
  hearth_hole_close(pool, which);
  if (which == HEARTH_HOLE_NEXT) {
    hearth_pool_leave_parcel(pool);
    enter_parcel(pool, parcel);
    pool->position = hearth_parcel_end(parcel);
  }
  if (even && may_be_even(parcel, which, even))
    hearth_hole_open_even(pool, which, parcel, even);
  else
    hearth_hole_open(pool, which, parcel, hearth_parcel_begin(parcel), hearth_parcel_quanta(parcel));
  pool->is_zeroed[which] = zeroed;
  return true;
}
