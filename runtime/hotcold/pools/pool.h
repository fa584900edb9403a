/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A pool: blocks that lie together, of one thread.
 *
 *   tiny    a block of up to 16 quanta, 256 bytes
 *   small   one of up to 64 quanta, 1 KiB, tiny or not
 *   medium  a larger one, up to 32 KiB
 *   bin     freed small blocks of one size, most recent last, kept for the next request of that size
 *   remote  freed by a thread that is not the parcel's owner
 *
 * A small request takes the last block of its bin, or else the next quanta of the pool's hole: blocks lie in the order of
 * their requests, all sizes together. When the hole is used up, the next one follows, further on in the parcel and then in
 * the next parcel with enough free quanta; holes smaller than the request are passed over, and found when the search comes
 * back to the parcel (as in Immix, by Blackburn and McKinley: nothing is moved, and no list goes through freed blocks).
 * Then come blocks that other threads freed, then a new parcel. Requests that are not tiny would pass over too many holes:
 * where the hole has no room for them, they have one of their own, the first that is large enough. Bounds on the size of
 * holes say which tiles need no search. An aligned block leaves a gap, which the next tiny blocks fill, and the pool goes on
 * behind.
 *
 * Medium blocks lie in parcels of their own. They have no bins: each takes the first freed room that is large enough, and the
 * rest of a new parcel only if there is none. Otherwise blocks that live long and blocks of a smaller size that do not, by
 * turns, would leave a hole each time.
 *
 * A new parcel is even as long as one size is asked for, and until one of its blocks is given back; of medium blocks only if
 * they leave next to nothing of it.
 *
 * A full bin gives half of its blocks back, which become holes again. Parcels without blocks go back to the region, and the
 * memory of free pages in half empty parcels to the system (kept_memory.h). A thread's bins also hold blocks of
 * other threads' parcels, as any other: they change owner only when a bin gives them back. Nothing is written into freed
 * blocks.
 */
#ifndef HEARTH_POOL_H
#define HEARTH_POOL_H

#include "hearth/hotcold_status.h"
#include "parcel.h"

enum {
  HEARTH_TINY_QUANTA = 16,
  HEARTH_SMALL_QUANTA = HEARTH_HOTCOLD_STATUS_BINS,
  HEARTH_MEDIUM_BYTES = 32 << 10,
  HEARTH_MEDIUM_QUANTA = HEARTH_MEDIUM_BYTES / HEARTH_QUANTUM_BYTES,
  HEARTH_BIN_MOST = 32,
};

enum hearth_hole { HEARTH_HOLE_NEXT, HEARTH_HOLE_SMALL, HEARTH_HOLE_MEDIUM, HEARTH_HOLES };

/* The thread writes its counts, others read them. */
static inline uint64_t hearth_count_get(const uint64_t *count) { return __atomic_load_n(count, __ATOMIC_RELAXED); }
static inline void hearth_count_set(uint64_t *count, uint64_t value) {
  __atomic_store_n(count, value, __ATOMIC_RELAXED);
}
static inline void hearth_count_add(uint64_t *count, uint64_t value) {
  hearth_count_set(count, hearth_count_get(count) + value);
}

struct hearth_pool {
  _Alignas(64) struct hearth_hotcold_pool_counts
      counts;         /* the first two lines have all that is quick for blocks of up to 256 bytes */
  size_t even;        /* the next hole is of an even parcel with blocks of so many quanta */
  size_t medium_even; /* the same of the medium hole */
  struct hearth_thread_pools *thread;
  struct hearth_parcel *parcel;  /* that the next hole lies in, and the search goes on in; or NULL */
  size_t position;               /* quantum from which it goes on */
  struct hearth_parcel *waiting; /* parcels that will be searched next, */
  struct hearth_parcel *last_waiting;
  struct hearth_parcel *parcels[2]; /* all: of small blocks, of medium ones */
  size_t likely; /* the quantum where a hole for small blocks was found last, or became the largest of its tile */
  uint16_t
      medium_most; /* no freed room for medium blocks that is worth a search has more quanta, or it is HEARTH_HOLE_ANY */
  uint32_t tiles, medium_tiles; /* of all parcels, and of those with medium blocks */
  size_t give_back_at;          /* free quanta that start the next giving back */
  uint64_t given_back_ms;       /* when that was, for their age */
  uint8_t number;
  bool is_zeroed[HEARTH_HOLES]; /* the hole is known to be all zero */
  bool is_split;                /* the small hole is what the next one goes on with, behind an aligned block */
};

/* The most blocks in the bin of a size: 4 KiB of them, but between 4 and HEARTH_BIN_MOST. */
extern const uint8_t hearth_bin_most[HEARTH_SMALL_QUANTA];

static inline size_t hearth_quanta_for(size_t bytes) { return ((bytes - (bytes != 0)) >> HEARTH_QUANTUM_SHIFT) + 1; }

/* The next quanta of a hole; false if there are not so many. The hole of an even parcel has no bits. */
static inline __attribute__((always_inline)) bool hearth_hole_cut(struct hearth_hotcold_hole *hole, size_t quanta,
                                                                  bool even, void **ret_block) {
  uint64_t block = hearth_count_get(&hole->start), end = hearth_count_get(&hole->end);
  uint64_t next = block + ((uint64_t)quanta << HEARTH_QUANTUM_SHIFT);
  if (next > end)
    return false;
  hearth_count_set(&hole->start, next);
  if (!even && next != end)
    hearth_block_map_start(hearth_quantum_of((void *)(uintptr_t)next));
  *ret_block = (void *)(uintptr_t)block;
  return true;
}

/* Of 32 bits: a load waits twice as long for a store of 8 that it follows. */
static inline uint32_t hearth_bin_count(const struct hearth_pool *pool, size_t quanta) {
  return __atomic_load_n(&pool->counts.cached[quanta - 1], __ATOMIC_RELAXED);
}

/* A forked child may find the pool of another thread between two stores. Blocks that are in two places by then must not be: so a
 * count goes down before its block is handed out, and up when the block is there. */
static inline void hearth_bin_set_count(struct hearth_pool *pool, size_t quanta, uint32_t count) {
  __atomic_store_n(&pool->counts.cached[quanta - 1], count, __ATOMIC_RELEASE);
}

/* The most recent block of a bin, which is that of so many quanta; false if there is none. */
static inline __attribute__((always_inline)) bool hearth_pool_take_cached(struct hearth_pool *pool, void *const *bin,
                                                                          size_t quanta, void **ret_block) {
  size_t cached = hearth_bin_count(pool, quanta);
  if (!cached)
    return false;
  hearth_bin_set_count(pool, quanta, (uint32_t)(cached - 1));
  hearth_count_add(&pool->counts.reused, 1);
  *ret_block = bin[cached - 1];
  return true;
}

/* The next quanta of the pool's hole, for a small block; or NULL. */
static inline __attribute__((always_inline)) void *hearth_pool_cut_next(struct hearth_pool *pool, size_t quanta) {
  size_t even = pool->even;
  void *block;
  if ((even && even != quanta) || !hearth_hole_cut(&pool->counts.hole[HEARTH_HOLE_NEXT], quanta, even, &block))
    return NULL;
  hearth_count_add(&pool->counts.cut, 1);
  return block;
}

/* A small block, without locks and searches; or NULL. *ret_zeroed: it is known to be all zero. */
static inline __attribute__((always_inline)) void *hearth_pool_take_small(struct hearth_pool *pool, void *const *bin,
                                                                          size_t quanta, bool *ret_zeroed) {
  void *block;
  *ret_zeroed = false;
  if (hearth_pool_take_cached(pool, bin, quanta, &block))
    return block;
  *ret_zeroed = pool->is_zeroed[HEARTH_HOLE_NEXT];
  return hearth_pool_cut_next(pool, quanta);
}

/* Put a small block into its bin; false if that is full. */
static inline __attribute__((always_inline)) bool hearth_pool_put_small(struct hearth_pool *pool, void **bin,
                                                                        size_t quanta, void *block) {
  size_t cached = hearth_bin_count(pool, quanta);
  if (cached >= hearth_bin_most[quanta - 1])
    return false;
  bin[cached] = block;
  hearth_bin_set_count(pool, quanta, (uint32_t)(cached + 1));
  return true;
}

/* The rest is for the pool's thread, or the holder of the lock of pools without a thread. */

/* A block of up to HEARTH_MEDIUM_QUANTA, in whatever way. NULL when the range is full. ret_zeroed is not NULL. */
void *hearth_pool_take(struct hearth_pool *pool, size_t quanta, bool *ret_zeroed);

/* The same, aligned to a power of two of up to a page. */
void *hearth_pool_take_aligned(struct hearth_pool *pool, size_t quanta, size_t alignment);

/* Give back a live block, or one out of a bin, of the thread's own parcel. */
void hearth_pool_free(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quantum, size_t quanta);

/* Between these two, a parcel stays that loses its last block. */
void hearth_pool_hold(struct hearth_parcel *parcel);
void hearth_pool_release(struct hearth_pool *pool, struct hearth_parcel *parcel);

/* Grow or shrink a live block of the thread's own parcel where it is. False, and nothing changed, if there is no room. */
bool hearth_pool_resize(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quantum, size_t old_quanta,
                        size_t quanta);

/* The thread ends: holes are free memory again. Bins are the caller's affair. */
void hearth_pool_close(struct hearth_pool *pool);

/* A thread vanished by fork, in the middle of whatever it did: complete the block map of each of its parcels; forget the lists,
 * and make holes free memory; then take in each parcel again. */
void hearth_pool_complete(struct hearth_pool *pool, struct hearth_parcel *parcel);
void hearth_pool_forget(struct hearth_pool *pool);
void hearth_pool_recall(struct hearth_pool *pool, struct hearth_parcel *parcel);

#endif
