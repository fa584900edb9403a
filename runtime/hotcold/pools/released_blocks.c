/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Blocks of a bin mostly lie side by side, and then are freed as one. Remote blocks are bits of a table, and their parcels a list. */
#include "released_blocks.h"

static void note_remote(struct hearth_thread_pools *thread, struct hearth_pool *pool, struct hearth_parcel *parcel,
                        size_t quantum, size_t quanta) {
  uint64_t *word = &hearth_tiles.remote[quantum / HEARTH_WORD_QUANTA], bit = UINT64_C(1)
                                                                             << quantum % HEARTH_WORD_QUANTA;
  if (*word & bit)
    hearth_region_freed_twice();
  *word |= bit;
  if (!parcel->remote_tiles) {
    parcel->next_remote = atomic_load_explicit(&thread->remote, memory_order_relaxed);
    atomic_store_explicit(&thread->remote, parcel, memory_order_relaxed);
  }
  parcel->remote_tiles |= UINT32_C(1) << (quantum - hearth_parcel_begin(parcel)) / HEARTH_TILE_QUANTA;
  hearth_count_add(&pool->counts.remote_quanta, quanta);
}

static void free_remote_word(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t word) {
  uint64_t bits = hearth_tiles.remote[word];
  hearth_tiles.remote[word] = 0;
  for (; bits; bits &= bits - 1) {
    size_t quantum = word * HEARTH_WORD_QUANTA + (size_t)__builtin_ctzll(bits);
    char *block = hearth_quantum_address(quantum);
    size_t quanta = hearth_live_quanta(hearth_owner_of(block), block);
    hearth_count_add(&pool->counts.remote_quanta, -(uint64_t)quanta);
    hearth_pool_free(pool, parcel, quantum, quanta);
  }
}

static void free_remote(struct hearth_parcel *parcel) {
  enum { TILE_WORDS = HEARTH_TILE_QUANTA / HEARTH_WORD_QUANTA };
  size_t begin = hearth_parcel_begin(parcel);
  uint64_t owner = hearth_owner_of(hearth_quantum_address(begin));
  struct hearth_pool *pool = &hearth_owner_thread(owner)->pool[hearth_owner_pool(owner)];
  uint32_t tiles = parcel->remote_tiles;
  parcel->remote_tiles = 0;
  hearth_pool_hold(parcel);
  for (; tiles; tiles &= tiles - 1) {
    size_t first = begin / HEARTH_WORD_QUANTA + (size_t)__builtin_ctz(tiles) * TILE_WORDS;
    for (size_t word = first; word < first + TILE_WORDS; word++)
      if (hearth_tiles.remote[word])
        free_remote_word(pool, parcel, word);
  }
  hearth_pool_release(pool, parcel);
}

void hearth_free_remote_blocks(struct hearth_thread_pools *thread) {
  struct hearth_parcel *parcel = atomic_load_explicit(&thread->remote, memory_order_relaxed), *next;
  atomic_store_explicit(&thread->remote, NULL, memory_order_relaxed);
  for (; parcel; parcel = next) {
    next = parcel->next_remote;
    free_remote(parcel);
  }
}

bool hearth_collect_remote_blocks(struct hearth_thread_pools *thread) {
  if (!atomic_load_explicit(&thread->remote, memory_order_relaxed))
    return false;
  hearth_futex_lock_acquire(&thread->lock);
  hearth_free_remote_blocks(thread);
  hearth_futex_lock_release(&thread->lock);
  return true;
}

/* A block of others' pools; their lock is held. */
static void free_of_others(struct hearth_thread_pools *thread, unsigned number, struct hearth_parcel *parcel,
                           size_t quantum, size_t quanta) {
  struct hearth_pool *pool = &thread->pool[number];
  if (thread->has_thread || thread->is_forgotten)
    note_remote(thread, pool, parcel, quantum, quanta);
  else
    hearth_pool_free(pool, parcel, quantum, quanta);
}

/* How many of the blocks, from the first on, begin in one tile and lie side by side, upwards or downwards; *first becomes the
 * lowest one. Neighbours of two tiles may be of two parcels. */
static unsigned side_by_side(void *const *blocks, unsigned count, size_t bytes, char **first) {
  char *low = blocks[0], *end = low + bytes;
  size_t tile = hearth_offset_of(low) >> HEARTH_TILE_SHIFT;
  unsigned i = 1;
  for (; i < count && hearth_offset_of(blocks[i]) >> HEARTH_TILE_SHIFT == tile; i++)
    if ((char *)blocks[i] == low - bytes)
      low = blocks[i];
    else if ((char *)blocks[i] == end)
      end += bytes;
    else
      break;
  *first = low;
  return i;
}

/* Blocks side by side. That they were blocks when they were put into the bin is known, but not that none was given back since. */
static void free_own(struct hearth_pool *pool, struct hearth_parcel *parcel, const char *first, size_t quanta) {
  size_t quantum = hearth_quantum_of(first);
  if (!hearth_parcel_even(parcel) && !hearth_block_map_is_used(quantum, quanta))
    hearth_region_freed_twice();
  hearth_pool_free(pool, parcel, quantum, quanta);
}

void hearth_release_blocks(struct hearth_thread_pools *freeing, void *const *blocks, unsigned count) {
  struct hearth_thread_pools *locked = NULL;
  for (unsigned i = 0, together; i < count; i += together) {
    uint64_t owner = hearth_owner_of(blocks[i]);
    size_t quantum = hearth_quantum_of(blocks[i]), quanta = hearth_live_quanta(owner, blocks[i]);
    struct hearth_thread_pools *thread = hearth_owner_thread(owner);
    struct hearth_parcel *parcel = hearth_parcel_of(owner, quantum);
    together = 1;
    if (thread == freeing) {
      char *first;
      together = side_by_side(&blocks[i], count - i, quanta * HEARTH_QUANTUM_BYTES, &first);
      free_own(&thread->pool[hearth_owner_pool(owner)], parcel, first, quanta * together);
      continue;
    }
    if (thread != locked) {
      if (locked)
        hearth_futex_lock_release(&locked->lock);
      hearth_futex_lock_acquire(&thread->lock);
      locked = thread;
    }
    free_of_others(thread, hearth_owner_pool(owner), parcel, quantum, quanta);
  }
  if (locked)
    hearth_futex_lock_release(&locked->lock);
}
