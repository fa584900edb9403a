/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* At no time does a forked child find a hole that is not one. */
#include "hole.h"

#include "pool_parcels.h"

static void set_even(struct hearth_pool *pool, enum hearth_hole which, size_t even) {
  *(which == HEARTH_HOLE_NEXT ? &pool->even : &pool->medium_even) = even;
}

/* The parcel whose rest a hole is; it reaches to its end. */
static struct hearth_parcel *parcel_of_rest(const struct hearth_pool *pool, enum hearth_hole which) {
  return hearth_parcel_at(hearth_count_get(&pool->counts.hole[which].end) - 1);
}

void hearth_hole_end_evenness(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  size_t even = hearth_parcel_even(parcel), begin = hearth_parcel_begin(parcel), all = hearth_parcel_quanta(parcel);
  if (!even)
    return;
  enum hearth_hole which = parcel->is_medium ? HEARTH_HOLE_MEDIUM : HEARTH_HOLE_NEXT;
  bool has_hole = hearth_hole_even(pool, which) && parcel == parcel_of_rest(pool, which);
  size_t cut =
      has_hole ? hearth_quantum_at(hearth_count_get(&pool->counts.hole[which].start)) - begin : all / even * even;
  hearth_block_map_use_even(begin, cut, even);
  if (has_hole) {
    hearth_block_map_use(begin + cut, all - cut);
    set_even(pool, which, 0);
  } else if (cut < all) {
    hearth_pool_raise_bounds(pool, parcel, begin + cut, all - cut);
  }
  hearth_parcel_set_even(parcel, 0);
}

void hearth_hole_end_own_evenness(struct hearth_pool *pool, enum hearth_hole which) {
  if (hearth_hole_even(pool, which))
    hearth_hole_end_evenness(pool, parcel_of_rest(pool, which));
}

/* A forked child may find two holes that overlap. */
static void set_hole(struct hearth_hotcold_hole *hole, uint64_t start, uint64_t end) {
  __atomic_store_n(&hole->start, UINT64_MAX, __ATOMIC_RELEASE);
  __atomic_store_n(&hole->end, end, __ATOMIC_RELEASE);
  __atomic_store_n(&hole->start, start, __ATOMIC_RELEASE);
}

static void fill_hole(struct hearth_pool *pool, enum hearth_hole which, struct hearth_parcel *parcel, size_t quantum,
                      size_t quanta) {
  hearth_pool_use_quanta(pool, parcel, quanta);
  set_hole(&pool->counts.hole[which], hearth_address_of(quantum), hearth_address_of(quantum + quanta));
}

void hearth_hole_open_even(struct hearth_pool *pool, enum hearth_hole which, struct hearth_parcel *parcel,
                           size_t even) {
  fill_hole(pool, which, parcel, hearth_parcel_begin(parcel), hearth_parcel_quanta(parcel));
  hearth_parcel_set_even(parcel, even);
  set_even(pool, which, even);
}

void hearth_hole_open(struct hearth_pool *pool, enum hearth_hole which, struct hearth_parcel *parcel, size_t quantum,
                      size_t quanta) {
  hearth_block_map_use(quantum, quanta);
  fill_hole(pool, which, parcel, quantum, quanta);
}

/* What is too short for a block at the end of an even parcel, the block map need not know. It empties the hole before it frees
 * the memory, for a child forked in between. */
void hearth_hole_close(struct hearth_pool *pool, enum hearth_hole which) {
  struct hearth_hotcold_hole *hole = &pool->counts.hole[which];
  uint64_t from = hearth_count_get(&hole->start), to = hearth_count_get(&hole->end);
  size_t quanta = (to - from) / HEARTH_QUANTUM_BYTES;
  if (quanta >= hearth_hole_even(pool, which))
    hearth_hole_end_own_evenness(pool, which);
  bool is_too_short = hearth_hole_even(pool, which);
  hearth_count_set(&hole->start, to);
  pool->is_zeroed[which] = false;
  pool->is_split &= which != HEARTH_HOLE_SMALL;
  if (is_too_short)
    set_even(pool, which, 0);
  if (quanta && is_too_short)
    hearth_pool_unuse_quanta(pool, hearth_parcel_at(from), quanta);
  else if (quanta)
    hearth_pool_free(pool, hearth_parcel_at(from), hearth_quantum_at(from), quanta);
}

void hearth_hole_split_next(struct hearth_pool *pool, uint64_t address) {
  struct hearth_hotcold_hole *next = &pool->counts.hole[HEARTH_HOLE_NEXT];
  bool zeroed = pool->is_zeroed[HEARTH_HOLE_NEXT];
  hearth_hole_close(pool, HEARTH_HOLE_SMALL);
  hearth_block_map_start(hearth_quantum_at(address));
  set_hole(&pool->counts.hole[HEARTH_HOLE_SMALL], address, hearth_count_get(&next->end));
  set_hole(next, hearth_count_get(&next->start), address);
  pool->is_zeroed[HEARTH_HOLE_SMALL] = zeroed;
  pool->is_split = true;
}

void hearth_hole_join_next(struct hearth_pool *pool) {
  const struct hearth_hotcold_hole rest = pool->counts.hole[HEARTH_HOLE_SMALL];
  bool zeroed = pool->is_zeroed[HEARTH_HOLE_SMALL];
  hearth_hole_close(pool, HEARTH_HOLE_NEXT);
  set_hole(&pool->counts.hole[HEARTH_HOLE_NEXT], rest.start, rest.end);
  set_hole(&pool->counts.hole[HEARTH_HOLE_SMALL], rest.end, rest.end);
  pool->is_zeroed[HEARTH_HOLE_NEXT] = zeroed;
  pool->is_split = false;
}

void hearth_hole_forget(struct hearth_hotcold_hole *hole) {
  uint64_t from = hearth_count_get(&hole->start), to = hearth_count_get(&hole->end);
  hearth_count_set(&hole->start, to);
  if (from < to)
    hearth_block_map_free(hearth_quantum_at(from), hearth_quantum_at(to) - hearth_quantum_at(from));
}
