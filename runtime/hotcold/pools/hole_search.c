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

/* A hole of a tile, from the likely one on if that lies in it. A search in vain tells how large holes are at most. */
static bool find_in_tile(struct hearth_pool *pool, enum hearth_hole which, struct hearth_parcel *parcel, uint32_t tile,
                         size_t quanta) {
  size_t begin = hearth_parcel_begin(parcel) + tile * HEARTH_TILE_QUANTA, tile_end = begin + HEARTH_TILE_QUANTA, hole;
  size_t *likely = &pool->likely[parcel->is_medium], end = hearth_parcel_end(parcel), room, most;
  size_t from = *likely - begin < HEARTH_TILE_QUANTA ? *likely : begin;
  if (!hearth_block_map_find(from, tile_end, end, quanta, &hole, &room)) {
    most = room;
    if (!hearth_block_map_find(begin, from, end, quanta, &hole, &room)) {
      parcel->hole_most_of_tile[tile] = (uint16_t)(room > most ? room : most);
      return false;
    }
  }
  *likely = hole + room;
  hearth_hole_open(pool, which, parcel, hole, room);
  return true;
}

/* The first tile of a parcel with a hole that is large enough. */
static bool find_in_parcel(struct hearth_pool *pool, enum hearth_hole which, struct hearth_parcel *parcel,
                           size_t quanta) {
  uint16_t most = 0;
  for (uint32_t tile = 0; tile < parcel->tiles; tile++) {
    const uint16_t *of_tile = &parcel->hole_most_of_tile[tile];
    if (*of_tile >= quanta && find_in_tile(pool, which, parcel, tile, quanta))
      return true;
    most = *of_tile > most ? *of_tile : most;
  }
  parcel->hole_most = most;
  return false;
}

bool hearth_hole_find_first(struct hearth_pool *pool, enum hearth_hole which, size_t quanta) {
  unsigned tried = 0;
  hearth_hole_close(pool, which);
  struct hearth_parcel *parcel = pool->parcels[which == HEARTH_HOLE_MEDIUM];
  for (; parcel && tried < PARCELS_TRIED; parcel = parcel->next) {
    if (parcel->hole_most < quanta)
      continue;
    if (find_in_parcel(pool, which, parcel, quanta))
      return true;
    tried++;
  }
  return false;
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
