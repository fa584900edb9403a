/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The slow ways: holes are found by bit scans and filled again by next fit; those of medium blocks by first fit, with a
 * bound for each chunk's largest hole. */
#include "pool.h"

#include "thread_pools.h"

enum {
  /* A chunk is worth a search when a 16th of it was freed since the last one. */
  FREED_SHARE = 16,
  /* A new chunk is at most a 16th of the pool. */
  GROWTH_SHARE = 16,
  /* Cold chunks stay small: what empties goes back at once. */
  COLD_CHUNK_TILES = 1,
  MEDIUM_CHUNKS_TRIED = 64,
};

#define MOST(quanta) ((quanta) <= 32 ? 32 : (quanta) > 64 ? 4 : 1024 / (quanta))
#define MOST_8(first)                                                                                                  \
  MOST(first), MOST((first) + 1), MOST((first) + 2), MOST((first) + 3), MOST((first) + 4), MOST((first) + 5),          \
      MOST((first) + 6), MOST((first) + 7)
const uint8_t hearth_bin_most[HEARTH_SMALL_QUANTA] = {MOST_8(1),  MOST_8(9),  MOST_8(17), MOST_8(25),
                                                      MOST_8(33), MOST_8(41), MOST_8(49), MOST_8(57)};

static size_t quantum_at(uint64_t address) { return hearth_quantum_of((void *)(uintptr_t)address); }

static uint64_t address_of(size_t quantum) { return (uintptr_t)hearth_quantum_address(quantum); }

static void count_used(struct hearth_pool *pool, struct hearth_chunk *chunk, size_t quanta) {
  chunk->used += (uint32_t)quanta;
  hearth_count_add(&pool->counts.used_quanta, quanta);
}

static void count_unused(struct hearth_pool *pool, struct hearth_chunk *chunk, size_t quanta) {
  chunk->used -= (uint32_t)quanta;
  hearth_count_add(&pool->counts.used_quanta, -(uint64_t)quanta);
}

/* Lists of chunks. */

static void add_waiting(struct hearth_pool *pool, struct hearth_chunk *chunk) {
  chunk->next = NULL;
  chunk->prev = pool->last_waiting;
  if (pool->last_waiting)
    pool->last_waiting->next = chunk;
  else
    pool->waiting = chunk;
  pool->last_waiting = chunk;
  chunk->is_listed = true;
}

static void remove_waiting(struct hearth_pool *pool, struct hearth_chunk *chunk) {
  if (chunk->next)
    chunk->next->prev = chunk->prev;
  else
    pool->last_waiting = chunk->prev;
  if (chunk->prev)
    chunk->prev->next = chunk->next;
  else
    pool->waiting = chunk->next;
  chunk->is_listed = false;
}

static void add_medium(struct hearth_pool *pool, struct hearth_chunk *chunk) {
  chunk->prev = NULL;
  chunk->next = pool->medium;
  if (chunk->next)
    chunk->next->prev = chunk;
  pool->medium = chunk;
}

static void remove_medium(struct hearth_pool *pool, struct hearth_chunk *chunk) {
  if (chunk->next)
    chunk->next->prev = chunk->prev;
  if (chunk->prev)
    chunk->prev->next = chunk->next;
  else
    pool->medium = chunk->next;
}

static bool is_worth_a_search(const struct hearth_chunk *chunk) {
  return chunk->freed >= hearth_chunk_quanta(chunk) / FREED_SHARE;
}

static void destroy(struct hearth_pool *pool, struct hearth_chunk *chunk) {
  if (chunk->is_medium)
    remove_medium(pool, chunk);
  else if (chunk->is_listed)
    remove_waiting(pool, chunk);
  pool->tiles -= chunk->tiles;
  hearth_chunk_destroy(chunk, pool->number);
}

/* After quanta of the chunk became free: an end for an empty chunk, a place in the list for one with much room. */
static void look_after(struct hearth_pool *pool, struct hearth_chunk *chunk) {
  if (chunk == pool->chunk)
    return;
  if (!chunk->used)
    destroy(pool, chunk);
  else if (!chunk->is_medium && !chunk->is_listed && is_worth_a_search(chunk))
    add_waiting(pool, chunk);
}

static void free_quanta(struct hearth_pool *pool, struct hearth_chunk *chunk, size_t quantum, size_t quanta) {
  hearth_block_map_free(quantum, quanta);
  count_unused(pool, chunk, quanta);
  chunk->freed += (uint32_t)quanta;
  if (!chunk->is_medium)
    return;
  size_t before = hearth_block_map_free_before(quantum, hearth_chunk_begin(chunk));
  size_t from = hearth_block_map_free_from(quantum, hearth_chunk_end(chunk));
  if (before + from > chunk->hole_most)
    chunk->hole_most = (uint32_t)(before + from);
}

void hearth_pool_free(struct hearth_pool *pool, struct hearth_chunk *chunk, size_t quantum, size_t quanta) {
  free_quanta(pool, chunk, quantum, quanta);
  look_after(pool, chunk);
}

void hearth_pool_hold(struct hearth_chunk *chunk) { chunk->used++; }

void hearth_pool_release(struct hearth_pool *pool, struct hearth_chunk *chunk) {
  chunk->used--;
  look_after(pool, chunk);
}

static struct hearth_chunk *create(struct hearth_pool *pool, bool is_medium, bool *ret_zeroed) {
  uint32_t most = pool->number == HEARTH_POOL_COLD ? COLD_CHUNK_TILES : HEARTH_CHUNK_TILES_MOST, tiles = 1;
  while (tiles < most && tiles * 2 <= pool->tiles / GROWTH_SHARE)
    tiles *= 2;
  struct hearth_chunk *chunk = hearth_chunk_create(pool->thread, pool->number, tiles, ret_zeroed);
  if (!chunk && tiles > 1)
    chunk = hearth_chunk_create(pool->thread, pool->number, 1, ret_zeroed);
  if (!chunk)
    return NULL;
  pool->tiles += chunk->tiles;
  chunk->is_medium = is_medium;
  if (is_medium) {
    chunk->hole_most = (uint32_t)hearth_chunk_quanta(chunk);
    add_medium(pool, chunk);
  }
  return chunk;
}

/* Holes. */

static void open_hole(struct hearth_pool *pool, struct hearth_chunk *chunk, uint64_t *start, uint64_t *end,
                      size_t quantum, size_t quanta) {
  hearth_block_map_use(quantum, quanta);
  count_used(pool, chunk, quanta);
  /* At no time does a forked child find a hole that is not one. */
  __atomic_store_n(start, UINT64_MAX, __ATOMIC_RELEASE);
  __atomic_store_n(end, address_of(quantum + quanta), __ATOMIC_RELEASE);
  __atomic_store_n(start, address_of(quantum), __ATOMIC_RELEASE);
}

/* Make the rest of a hole free. It empties the hole before it frees the memory, for a child forked in between. */
static void close_hole(struct hearth_pool *pool, uint64_t *start, uint64_t *end) {
  uint64_t from = hearth_count_get(start), to = hearth_count_get(end);
  hearth_count_set(start, to);
  if (from == to)
    return;
  size_t quantum = quantum_at(from);
  struct hearth_chunk *chunk = hearth_chunk_of(hearth_owner_of((void *)(uintptr_t)from), quantum);
  free_quanta(pool, chunk, quantum, quantum_at(to) - quantum);
  look_after(pool, chunk);
}

static void close_small_hole(struct hearth_pool *pool) {
  close_hole(pool, &pool->counts.hole_start, &pool->counts.hole_end);
  pool->hole_is_fresh = pool->hole_is_zeroed = false;
}

static void close_medium_hole(struct hearth_pool *pool) {
  close_hole(pool, &pool->counts.medium_hole_start, &pool->counts.medium_hole_end);
  pool->medium_is_zeroed = false;
}

/* The search leaves the chunk, whose hole is closed. */
static void leave_chunk(struct hearth_pool *pool) {
  struct hearth_chunk *chunk = pool->chunk;
  pool->chunk = NULL;
  if (chunk)
    look_after(pool, chunk);
}

static void enter_chunk(struct hearth_pool *pool, struct hearth_chunk *chunk) {
  pool->chunk = chunk;
  pool->position = hearth_chunk_begin(chunk);
  chunk->freed = 0;
}

static bool find_hole(struct hearth_pool *pool, size_t quanta) {
  close_small_hole(pool);
  for (;;) {
    struct hearth_chunk *chunk = pool->chunk;
    size_t hole, room;
    if (chunk && hearth_block_map_find(pool->position, hearth_chunk_end(chunk), quanta, &hole, &room)) {
      open_hole(pool, chunk, &pool->counts.hole_start, &pool->counts.hole_end, hole, room);
      pool->position = hole + room;
      return true;
    }
    leave_chunk(pool);
    chunk = pool->waiting;
    if (!chunk)
      return false;
    remove_waiting(pool, chunk);
    enter_chunk(pool, chunk);
  }
}

static bool find_fresh(struct hearth_pool *pool) {
  bool zeroed;
  struct hearth_chunk *chunk = create(pool, false, &zeroed);
  if (!chunk)
    return false;
  enter_chunk(pool, chunk);
  open_hole(pool, chunk, &pool->counts.hole_start, &pool->counts.hole_end, hearth_chunk_begin(chunk),
            hearth_chunk_quanta(chunk));
  pool->position = hearth_chunk_end(chunk);
  pool->hole_is_fresh = true;
  pool->hole_is_zeroed = zeroed;
  return true;
}

static void *cut_small(struct hearth_pool *pool, size_t quanta, bool *ret_zeroed) {
  void *block = hearth_hole_cut(&pool->counts.hole_start, &pool->counts.hole_end, quanta);
  *ret_zeroed = pool->hole_is_zeroed;
  return block;
}

static void *take_small(struct hearth_pool *pool, size_t quanta, bool *ret_zeroed) {
  void *block = cut_small(pool, quanta, ret_zeroed);
  if (!block && (find_hole(pool, quanta) || (hearth_thread_pools_collect(pool->thread) && find_hole(pool, quanta)) ||
                 find_fresh(pool)))
    block = cut_small(pool, quanta, ret_zeroed);
  return block;
}

static bool find_medium_hole(struct hearth_pool *pool, size_t quanta) {
  unsigned tried = 0;
  close_medium_hole(pool);
  for (struct hearth_chunk *chunk = pool->medium; chunk && tried < MEDIUM_CHUNKS_TRIED; chunk = chunk->next, tried++) {
    size_t hole, room;
    if (chunk->hole_most < quanta)
      continue;
    if (hearth_block_map_find(hearth_chunk_begin(chunk), hearth_chunk_end(chunk), quanta, &hole, &room)) {
      open_hole(pool, chunk, &pool->counts.medium_hole_start, &pool->counts.medium_hole_end, hole, room);
      return true;
    }
    chunk->hole_most = (uint32_t)quanta - 1;
  }
  return false;
}

static bool find_fresh_for_medium(struct hearth_pool *pool) {
  bool zeroed;
  struct hearth_chunk *chunk = create(pool, true, &zeroed);
  if (!chunk)
    return false;
  open_hole(pool, chunk, &pool->counts.medium_hole_start, &pool->counts.medium_hole_end, hearth_chunk_begin(chunk),
            hearth_chunk_quanta(chunk));
  pool->medium_is_zeroed = zeroed;
  return true;
}

static void *cut_medium(struct hearth_pool *pool, size_t quanta, bool *ret_zeroed) {
  void *block = hearth_hole_cut(&pool->counts.medium_hole_start, &pool->counts.medium_hole_end, quanta);
  *ret_zeroed = pool->medium_is_zeroed;
  return block;
}

static void *take_medium(struct hearth_pool *pool, size_t quanta, bool *ret_zeroed) {
  void *block = pool->hole_is_fresh ? cut_small(pool, quanta, ret_zeroed) : NULL;
  if (!block)
    block = cut_medium(pool, quanta, ret_zeroed);
  if (!block &&
      (find_medium_hole(pool, quanta) ||
       (hearth_thread_pools_collect(pool->thread) && find_medium_hole(pool, quanta)) || find_fresh_for_medium(pool)))
    block = cut_medium(pool, quanta, ret_zeroed);
  return block;
}

static void *take_uncached(struct hearth_pool *pool, size_t quanta, bool *ret_zeroed) {
  void *block = quanta <= HEARTH_SMALL_QUANTA ? take_small(pool, quanta, ret_zeroed)
                                              : take_medium(pool, quanta, ret_zeroed);
  if (block)
    hearth_count_add(&pool->counts.taken, 1);
  return block;
}

void *hearth_pool_take(struct hearth_pool *pool, size_t quanta, bool *ret_zeroed) {
  void *block = quanta <= HEARTH_SMALL_QUANTA ? hearth_pool_take_small(pool, quanta, ret_zeroed) : NULL;
  return block ? block : take_uncached(pool, quanta, ret_zeroed);
}

/* Cut an aligned part out of a larger block. */
void *hearth_pool_take_aligned(struct hearth_pool *pool, size_t quanta, size_t alignment) {
  bool zeroed;
  size_t all = quanta + alignment / HEARTH_QUANTUM_BYTES - 1;
  char *block = take_uncached(pool, all, &zeroed);
  if (!block)
    return NULL;
  size_t before = (-(uintptr_t)block & (alignment - 1)) / HEARTH_QUANTUM_BYTES, first = hearth_quantum_of(block);
  struct hearth_chunk *chunk = hearth_chunk_of(hearth_owner_of(block), first);
  size_t behind = all - before - quanta;
  if (before) {
    hearth_block_map_start(first + before);
    free_quanta(pool, chunk, first, before);
  }
  if (behind)
    free_quanta(pool, chunk, first + before + quanta, behind);
  return block + before * HEARTH_QUANTUM_BYTES;
}

/* Is there room in the pool's hole, and does it begin where the block ends? */
static bool grow_into_hole(uint64_t *start, const uint64_t *end, size_t block_end, size_t more) {
  if (hearth_count_get(start) != address_of(block_end) || !hearth_hole_cut(start, end, more))
    return false;
  hearth_block_map_continue(block_end);
  return true;
}

bool hearth_pool_resize(struct hearth_pool *pool, struct hearth_chunk *chunk, size_t quantum, size_t old_quanta,
                        size_t quanta) {
  size_t end = quantum + old_quanta, chunk_end = hearth_chunk_end(chunk);
  if (quanta <= old_quanta) {
    if (quanta < old_quanta)
      hearth_pool_free(pool, chunk, quantum + quanta, old_quanta - quanta);
    return true;
  }
  size_t more = quanta - old_quanta;
  if (end == chunk_end)
    return false;
  if (grow_into_hole(&pool->counts.hole_start, &pool->counts.hole_end, end, more) ||
      grow_into_hole(&pool->counts.medium_hole_start, &pool->counts.medium_hole_end, end, more))
    return true;
  if (hearth_block_map_free_from(end, chunk_end) < more)
    return false;
  hearth_block_map_extend(end, more);
  count_used(pool, chunk, more);
  return true;
}

void hearth_pool_close(struct hearth_pool *pool) {
  close_small_hole(pool);
  close_medium_hole(pool);
  leave_chunk(pool);
}

static void forget_hole(uint64_t *start, uint64_t *end) {
  uint64_t from = hearth_count_get(start), to = hearth_count_get(end);
  hearth_count_set(start, to);
  if (from < to)
    hearth_block_map_free(quantum_at(from), quantum_at(to) - quantum_at(from));
}

void hearth_pool_forget(struct hearth_pool *pool) {
  forget_hole(&pool->counts.hole_start, &pool->counts.hole_end);
  forget_hole(&pool->counts.medium_hole_start, &pool->counts.medium_hole_end);
  pool->chunk = pool->waiting = pool->last_waiting = pool->medium = NULL;
  pool->tiles = 0;
  pool->hole_is_fresh = pool->hole_is_zeroed = pool->medium_is_zeroed = false;
  hearth_count_set(&pool->counts.used_quanta, 0);
}

void hearth_pool_recall(struct hearth_pool *pool, struct hearth_chunk *chunk) {
  chunk->used = chunk->freed = 0;
  chunk->is_listed = false;
  count_used(pool, chunk, hearth_block_map_count(hearth_chunk_begin(chunk), hearth_chunk_end(chunk)));
  pool->tiles += chunk->tiles;
  chunk->hole_most = (uint32_t)hearth_chunk_quanta(chunk);
  if (chunk->is_medium)
    add_medium(pool, chunk);
  else
    add_waiting(pool, chunk);
}
