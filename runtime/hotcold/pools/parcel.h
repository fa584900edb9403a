/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Parcels: the memory of pools.
 *
 *   tile   64 KiB of the ranges, aligned; named by its number from the start of both ranges
 *   parcel  1, 2, 4 ... or 32 tiles, aligned to their bytes, of one pool of one thread
 *
 *   even   of a parcel: all its blocks have one size, the first lies at its begin, and none was given back yet
 *
 * A table says of each tile which thread's pool it belongs to, so that a block's address is enough to free it. It also says
 * the size of blocks of even parcels, which have no bits in the block map: most memory of programs that build large
 * structures needs none. */
#ifndef HEARTH_PARCEL_H
#define HEARTH_PARCEL_H

#include "block_map.h"
#include "region.h"

enum {
  HEARTH_TILE_SHIFT = 16,
  HEARTH_TILE_QUANTA = (1 << HEARTH_TILE_SHIFT) / HEARTH_QUANTUM_BYTES,
  HEARTH_PARCEL_TILES_MOST = 32,
  HEARTH_HOLE_ANY = 2048, /* as large as the largest block */
};

struct hearth_thread_pools;

struct hearth_parcel {
  struct hearth_parcel *next, *prev;                 /* of the pool's parcels of the same kind */
  struct hearth_parcel *next_waiting, *prev_waiting; /* of those that will be searched */
  struct hearth_parcel *next_remote;                 /* in the list of parcels with blocks that other threads freed */
  uint16_t tiles;
  uint16_t even;         /* quanta of its blocks, if it is even and they are medium */
  uint32_t used;         /* quanta */
  uint32_t freed;        /* quanta, since the search for holes last began here */
  uint32_t kept_free;    /* quanta freed since pages of the parcel were last given back */
  uint32_t remote_tiles; /* a bit for each tile with such blocks; guarded by the owner's lock */
  uint16_t hole_most;    /* no hole has more quanta, or it is HEARTH_HOLE_ANY: */
  uint16_t hole_most_of_tile[HEARTH_PARCEL_TILES_MOST]; /* the same of those that begin in a tile */
  bool is_waiting;
  bool is_medium;
};

/* What a thread's pools need to know of the ranges. Constant once they are open. */
struct hearth_tiles {
  char *base;              /* of both ranges */
  _Atomic uint64_t *owner; /* of each tile: 0, or even size, thread's pools, place in the parcel, pool: see below */
  struct hearth_parcel *parcel; /* of each tile; that of a parcel's first one is in use */
  uint64_t *remote;             /* a bit for each quantum: a block begins here that another thread freed */
  struct hearth_region *region[2];
};
extern struct hearth_tiles hearth_tiles;

/* Get the tables for `bytes` at `base`, the cold region's memory in front. False if there is no room. Once; not
 * thread-safe. */
bool hearth_tiles_open(char *base, size_t bytes, struct hearth_region *cold, struct hearth_region *hot);

enum { HEARTH_OWNER_POOL_BITS = 6, HEARTH_OWNER_PLACE_BITS = 5, HEARTH_OWNER_BITS = 11, HEARTH_OWNER_EVEN_SHIFT = 57 };
#define HEARTH_OWNER_EVEN (~UINT64_C(0) << HEARTH_OWNER_EVEN_SHIFT)

/* The bits between are an address. */
static inline struct hearth_thread_pools *hearth_owner_thread(uint64_t owner) {
  return (struct hearth_thread_pools *)(uintptr_t)(owner & ~HEARTH_OWNER_EVEN & ~UINT64_C(0) << HEARTH_OWNER_BITS);
}

/* Quanta of all blocks of the parcel; 0: the block map tells; HEARTH_EVEN_MEDIUM: the parcel tells. */
enum { HEARTH_EVEN_MEDIUM = 65 };
static inline size_t hearth_owner_even(uint64_t owner) { return owner >> HEARTH_OWNER_EVEN_SHIFT; }

static inline size_t hearth_owner_place(uint64_t owner) {
  return owner >> HEARTH_OWNER_POOL_BITS & ((1u << HEARTH_OWNER_PLACE_BITS) - 1);
}

static inline unsigned hearth_owner_pool(uint64_t owner) { return owner & ((1u << HEARTH_OWNER_POOL_BITS) - 1); }

static inline size_t hearth_quantum_of(const void *block) {
  return (size_t)((const char *)block - hearth_tiles.base) >> HEARTH_QUANTUM_SHIFT;
}

static inline char *hearth_quantum_address(size_t quantum) {
  return hearth_tiles.base + (quantum << HEARTH_QUANTUM_SHIFT);
}

/* 0: a large block, or none. `offset`: bytes of the ranges before the block. */
static inline uint64_t hearth_owner_at(size_t offset) {
  return atomic_load_explicit(&hearth_tiles.owner[offset >> HEARTH_TILE_SHIFT], memory_order_acquire);
}

static inline size_t hearth_offset_of(const void *block) { return (size_t)((const char *)block - hearth_tiles.base); }

/* `block` is an address in the ranges. */
static inline uint64_t hearth_owner_of(const void *block) { return hearth_owner_at(hearth_offset_of(block)); }

/* The parcel of a quantum, whose tile belongs to `owner`. */
static inline struct hearth_parcel *hearth_parcel_of(uint64_t owner, size_t quantum) {
  return &hearth_tiles.parcel[quantum / HEARTH_TILE_QUANTA - hearth_owner_place(owner)];
}

/* 2^32 / (quanta * HEARTH_QUANTUM_BYTES), rounded up; 0 for medium blocks. */
extern const uint32_t hearth_even_reciprocal[];

/* Does a small block of an even parcel begin so many bytes behind the start of the ranges? Lemire's test for divisibility. */
static inline bool hearth_even_begins(uint64_t owner, size_t offset) {
  uint32_t reciprocal = hearth_even_reciprocal[hearth_owner_even(owner)];
  uint32_t place = (uint32_t)(owner << (HEARTH_TILE_SHIFT - HEARTH_OWNER_POOL_BITS)) &
                   ((1u << HEARTH_OWNER_PLACE_BITS) - 1) << HEARTH_TILE_SHIFT;
  return ((uint32_t)(offset & ((1u << HEARTH_TILE_SHIFT) - 1)) | place) * reciprocal < reciprocal;
}

static inline size_t hearth_parcel_begin(const struct hearth_parcel *parcel) {
  return (size_t)(parcel - hearth_tiles.parcel) * HEARTH_TILE_QUANTA;
}

static inline size_t hearth_parcel_quanta(const struct hearth_parcel *parcel) {
  return (size_t)parcel->tiles * HEARTH_TILE_QUANTA;
}

static inline size_t hearth_parcel_end(const struct hearth_parcel *parcel) {
  return hearth_parcel_begin(parcel) + hearth_parcel_quanta(parcel);
}

/* A parcel of at most so many tiles, all free. NULL when the range is full. */
struct hearth_parcel *hearth_parcel_create(struct hearth_thread_pools *thread, unsigned pool, uint32_t tiles,
                                           bool *ret_zeroed);

static inline size_t hearth_parcel_even(const struct hearth_parcel *parcel) {
  size_t even =
      hearth_owner_even(atomic_load_explicit(&hearth_tiles.owner[parcel - hearth_tiles.parcel], memory_order_relaxed));
  return even == HEARTH_EVEN_MEDIUM ? parcel->even : even;
}

/* The thread of the pool changes it; the block map is complete before it becomes 0. */
void hearth_parcel_set_even(struct hearth_parcel *parcel, size_t even);

/* Give back the memory of free pages inside a parcel, where there are `least_pages` and more in a row; they read as zero then.
 * Returns how many quanta. */
size_t hearth_parcel_give_pages_back(struct hearth_parcel *parcel, unsigned pool, size_t least_pages);

/* Give back a parcel without blocks. */
void hearth_parcel_destroy(struct hearth_parcel *parcel, unsigned pool);

#endif
