/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The holes of a pool that its next blocks are cut from. Their quanta are in use for everyone else. The hole of an even parcel is
 * the parcel's rest, which the block map does not know. For the pool's thread. */
#ifndef HEARTH_HOLE_H
#define HEARTH_HOLE_H

#include "pool.h"

static inline size_t hearth_quantum_at(uint64_t address) { return hearth_quantum_of((void *)(uintptr_t)address); }

static inline uint64_t hearth_address_of(size_t quantum) { return (uintptr_t)hearth_quantum_address(quantum); }

static inline struct hearth_parcel *hearth_parcel_at(uint64_t address) {
  return hearth_parcel_of(hearth_owner_of((void *)(uintptr_t)address), hearth_quantum_at(address));
}

/* Quanta of a block of the hole, if it is the rest of an even parcel; else 0. */
static inline size_t hearth_hole_even(const struct hearth_pool *pool, enum hearth_hole which) {
  return which == HEARTH_HOLE_NEXT ? pool->even : which == HEARTH_HOLE_MEDIUM ? pool->medium_even : 0;
}

/* Free quanta become the hole, which is closed. */
void hearth_hole_open(struct hearth_pool *pool, enum hearth_hole which, struct hearth_parcel *parcel, size_t quantum,
                      size_t quanta);

/* The same of a whole new parcel, which becomes even. */
void hearth_hole_open_even(struct hearth_pool *pool, enum hearth_hole which, struct hearth_parcel *parcel, size_t even);

/* Make the rest of a hole free. */
void hearth_hole_close(struct hearth_pool *pool, enum hearth_hole which);

/* Write the parcel's blocks into the block map, and its hole: its blocks may be of any size from now on. */
void hearth_hole_end_evenness(struct hearth_pool *pool, struct hearth_parcel *parcel);

/* The same of the hole's parcel, if it is the rest of an even one. */
void hearth_hole_end_own_evenness(struct hearth_pool *pool, enum hearth_hole which);

/* The next hole becomes what lies before an aligned address, and the small one the rest, until the next one is used up. */
void hearth_hole_split_next(struct hearth_pool *pool, uint64_t address);
void hearth_hole_join_next(struct hearth_pool *pool);

/* In a child, of a thread that vanished: its memory is free. */
void hearth_hole_forget(struct hearth_hotcold_hole *hole);

#endif
