/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pages go back from parcels of which much was freed since the last time, at most seven eighths of which are used. */
#include "kept_memory.h"

#include "coarse_clock.h"
#include "thread_pools.h"

enum {
  /* Free memory grows by 256 KiB and by a 128th of the pool before any of it is given back, */
  LEAST_QUANTA = (256 << 10) / HEARTH_QUANTUM_BYTES,
  /* of parcels of which this share was freed meanwhile. */
  SHARE = 128,
  /* To give back a few pages breaks up a huge page, which is worth it in a half empty parcel only. */
  LEAST_HOT_PAGES = 4,
};

static bool is_cold(const struct hearth_pool *pool) { return pool->number == HEARTH_POOL_COLD; }

static size_t free_quanta(const struct hearth_pool *pool) {
  return (size_t)pool->tiles * HEARTH_TILE_QUANTA - hearth_count_get(&pool->counts.used_quanta);
}

static void set_bound(struct hearth_pool *pool) {
  size_t share = (size_t)pool->tiles * HEARTH_TILE_QUANTA / SHARE;
  pool->give_back_at = free_quanta(pool) + (share > LEAST_QUANTA ? share : LEAST_QUANTA);
}

/* An even parcel has lost no block: none of its quanta counts as freed. */
static size_t release_of_parcel(const struct hearth_pool *pool, struct hearth_parcel *parcel) {
  size_t quanta = hearth_parcel_quanta(parcel);
  if (parcel->used > quanta / 8 * 7 || parcel->kept_free < quanta / SHARE)
    return 0;
  bool all = is_cold(pool) || parcel->used <= quanta / 2;
  parcel->kept_free = 0;
  return hearth_parcel_give_pages_back(parcel, pool->number, all ? 1 : LEAST_HOT_PAGES);
}

/* Give back at least `wanted` quanta, if there are so many. Returns how many. */
static size_t release(struct hearth_pool *pool, size_t wanted) {
  size_t released = 0;
  for (int kind = 0; kind < 2; kind++)
    for (struct hearth_parcel *parcel = pool->parcels[kind]; parcel; parcel = parcel->next) {
      if (released >= wanted)
        return released;
      released += release_of_parcel(pool, parcel);
    }
  set_bound(pool);
  return released;
}

void hearth_kept_memory_grows(struct hearth_pool *pool) {
  if (free_quanta(pool) <= pool->give_back_at)
    return;
  uint64_t now = is_cold(pool) ? 0 : hearth_coarse_ms();
  if (!is_cold(pool) && now - pool->given_back_ms < HEARTH_KEEP_MS)
    return;
  pool->given_back_ms = now;
  release(pool, SIZE_MAX);
}

/* Memory in use again lowers the bound: later frees count from here. */
void hearth_kept_memory_shrinks(struct hearth_pool *pool) {
  size_t before = pool->give_back_at;
  if (before <= free_quanta(pool) + LEAST_QUANTA)
    return;
  set_bound(pool);
  if (pool->give_back_at > before)
    pool->give_back_at = before;
}

void hearth_kept_memory_release_for(struct hearth_thread_pools *thread, size_t quanta) {
  size_t released = 0;
  for (unsigned i = HEARTH_POOL_FIRST; i < HEARTH_POOLS && released < quanta; i++) {
    struct hearth_pool *pool = &thread->pool[i];
    if (free_quanta(pool) > pool->give_back_at)
      released += release(pool, quanta - released);
  }
}
