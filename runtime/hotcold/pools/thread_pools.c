/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread's pools are a mapping, found by a thread-local pointer. Where a thread cannot have any, that is while it gets them
 * and after its exit handler ran (handlers that run later may still allocate), it borrows idle ones for each call. */
#define _GNU_SOURCE
#include "thread_pools.h"

#include "released_blocks.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

_Static_assert(HEARTH_POOLS <= 1 << HEARTH_OWNER_POOL_BITS, "an owner names the pool");
_Static_assert(HEARTH_PARCEL_TILES_MOST <= 1 << HEARTH_OWNER_PLACE_BITS, "an owner names the place");

static struct hearth_futex_lock registry_lock;
struct hearth_thread_pools *hearth_all_thread_pools;
static struct hearth_thread_pools *idle_pools;
static pthread_key_t exit_key;
static bool has_exit_key;

_Thread_local struct hearth_thread_pools *hearth_thread_pools __attribute__((tls_model("initial-exec")));
static _Thread_local bool may_not_own __attribute__((tls_model("initial-exec")));

static struct hearth_thread_pools *map_pools(void) {
  int saved_errno = errno;
  void *memory =
      mmap(NULL, sizeof(struct hearth_thread_pools), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  errno = saved_errno;
  if (memory == MAP_FAILED)
    return NULL;
  struct hearth_thread_pools *thread = memory;
  for (unsigned i = 0; i < HEARTH_POOLS; i++) {
    thread->pool[i].thread = thread;
    thread->pool[i].number = (uint8_t)i;
  }
  return thread;
}

/* Of the pools whose thread vanished, only this is relied on: parcels belong to whom the table of tiles says, a used bit is
 * set for all quanta that are handed out, cached or in a hole, and a cached block is counted after it was freed and before
 * it was handed out. */
static void for_each_parcel(struct hearth_thread_pools *thread,
                            void (*work)(struct hearth_pool *pool, struct hearth_parcel *parcel)) {
  for (unsigned range = 0; range < 2; range++) {
    struct hearth_region *region = hearth_tiles.region[range];
    size_t first = (size_t)(region->base - hearth_tiles.base) >> HEARTH_TILE_SHIFT;
    size_t end = first + ((hearth_region_extent(region) + ((size_t)1 << HEARTH_TILE_SHIFT) - 1) >> HEARTH_TILE_SHIFT);
    for (size_t tile = first; tile < end; tile++) {
      uint64_t owner = atomic_load_explicit(&hearth_tiles.owner[tile], memory_order_relaxed);
      struct hearth_parcel *parcel = &hearth_tiles.parcel[tile];
      if (hearth_owner_thread(owner) != thread || hearth_parcel_of(owner, tile * HEARTH_TILE_QUANTA) != parcel)
        continue;
      work(&thread->pool[hearth_owner_pool(owner)], parcel);
    }
  }
}

static void recall(struct hearth_thread_pools *thread) {
  for_each_parcel(thread, hearth_pool_complete);
  for (unsigned i = 0; i < HEARTH_POOLS; i++)
    hearth_pool_forget(&thread->pool[i]);
  for_each_parcel(thread, hearth_pool_recall);
}

static void empty_bins(struct hearth_thread_pools *thread) {
  for (unsigned i = 0; i < HEARTH_POOLS; i++) {
    struct hearth_pool *pool = &thread->pool[i];
    for (size_t quanta = 1; quanta <= HEARTH_SMALL_QUANTA; quanta++) {
      uint32_t cached = hearth_bin_count(pool, quanta);
      hearth_bin_set_count(pool, quanta, 0);
      hearth_release_blocks(thread, hearth_bin_of(pool, quanta), cached);
      hearth_count_add(&pool->counts.released, cached);
    }
  }
}

static struct hearth_thread_pools *idle_or_new(void) {
  hearth_futex_lock_acquire(&registry_lock);
  struct hearth_thread_pools *thread = idle_pools;
  if (thread) {
    idle_pools = thread->next_idle;
  } else {
    thread = map_pools();
    if (thread) {
      thread->next = hearth_all_thread_pools;
      hearth_all_thread_pools = thread;
    }
  }
  hearth_futex_lock_release(&registry_lock);
  if (!thread)
    return NULL;
  hearth_futex_lock_acquire(&thread->lock);
  bool is_forgotten = thread->is_forgotten;
  thread->has_thread = true;
  thread->is_forgotten = false;
  hearth_futex_lock_release(&thread->lock);
  if (is_forgotten) {
    recall(thread);
    empty_bins(thread);
  }
  return thread;
}

static void make_idle(struct hearth_thread_pools *thread) {
  empty_bins(thread);
  hearth_futex_lock_acquire(&thread->lock);
  for (unsigned i = 0; i < HEARTH_POOLS; i++)
    hearth_pool_close(&thread->pool[i]);
  thread->has_thread = false;
  hearth_free_remote_blocks(thread);
  hearth_futex_lock_release(&thread->lock);
  hearth_futex_lock_acquire(&registry_lock);
  thread->next_idle = idle_pools;
  idle_pools = thread;
  hearth_futex_lock_release(&registry_lock);
}

static void on_thread_exit(void *thread) {
  may_not_own = true;
  hearth_thread_pools = NULL;
  make_idle(thread);
}

void hearth_thread_pools_open(void) { has_exit_key = !pthread_key_create(&exit_key, on_thread_exit); }

/* pthread_setspecific may allocate. */
static void adopt(void) {
  may_not_own = true;
  struct hearth_thread_pools *thread = has_exit_key ? idle_or_new() : NULL;
  if (!thread)
    return;
  if (pthread_setspecific(exit_key, thread)) {
    make_idle(thread);
    return;
  }
  may_not_own = false;
  hearth_thread_pools = thread;
}

/* The pools to work with until `leave`, or NULL. */
static struct hearth_thread_pools *enter(void) {
  if (!hearth_thread_pools && !may_not_own)
    adopt();
  return hearth_thread_pools ? hearth_thread_pools : idle_or_new();
}

static void leave(struct hearth_thread_pools *thread) {
  if (thread != hearth_thread_pools)
    make_idle(thread);
}

void *hearth_take_slowly(unsigned number, size_t quanta, bool *ret_zeroed) {
  bool zeroed;
  if (!hearth_tiles.base)
    return NULL;
  hearth_pools_user_allocates();
  struct hearth_thread_pools *thread = enter();
  if (!thread)
    return NULL;
  void *block = hearth_pool_take(&thread->pool[number], quanta, &zeroed);
  leave(thread);
  if (ret_zeroed)
    *ret_zeroed = zeroed;
  return block;
}

void *hearth_take_aligned(unsigned number, size_t bytes, size_t alignment) {
  if (!hearth_tiles.base)
    return NULL;
  hearth_pools_user_allocates();
  struct hearth_thread_pools *thread = enter();
  if (!thread)
    return NULL;
  void *block = hearth_pool_take_aligned(&thread->pool[number], hearth_quanta_for(bytes), alignment);
  leave(thread);
  return block;
}

void hearth_pass_on_slowly(void) {
  struct hearth_thread_pools *thread = enter();
  if (!thread)
    return;
  hearth_count_add(&thread->passed_on, 1);
  leave(thread);
}

_Noreturn void hearth_refuse_block(const void *block) {
  size_t quantum = hearth_quantum_of(block);
  const struct hearth_block_words *words = &hearth_block_map[quantum / HEARTH_WORD_QUANTA];
  uint64_t start = atomic_load_explicit(&words->start, memory_order_relaxed);
  if ((uintptr_t)block % HEARTH_QUANTUM_BYTES == 0 && start >> quantum % HEARTH_WORD_QUANTA & 1)
    hearth_region_freed_twice();
  hearth_region_bad_pointer();
}

/* Another thread may end the parcel's evenness meanwhile; the size stays. */
size_t hearth_even_medium_quanta(uint64_t owner, const void *block) {
  if (hearth_owner_even(owner) != HEARTH_EVEN_MEDIUM)
    hearth_refuse_block(block);
  const struct hearth_parcel *parcel = hearth_parcel_of(owner, hearth_quantum_of(block));
  size_t begin = (uintptr_t)hearth_quantum_address(hearth_parcel_begin(parcel));
  if (((uintptr_t)block - begin) % (parcel->even * HEARTH_QUANTUM_BYTES))
    hearth_refuse_block(block);
  return parcel->even;
}

/* The older half goes. For a child that is forked meanwhile, the bin is empty. */
static void empty_half(struct hearth_pool *pool, size_t quanta) {
  void *old[HEARTH_BIN_MOST], **bin = hearth_bin_of(pool, quanta);
  uint32_t cached = hearth_bin_count(pool, quanta), half = cached / 2;
  memcpy(old, bin, half * sizeof *bin);
  hearth_bin_set_count(pool, quanta, 0);
  atomic_signal_fence(memory_order_seq_cst);
  memmove(bin, bin + half, (size_t)(cached - half) * sizeof *bin);
  hearth_bin_set_count(pool, quanta, cached - half);
  hearth_release_blocks(pool->thread, old, half);
  hearth_count_add(&pool->counts.released, half);
}

void hearth_put_slowly(void *block) {
  uint64_t owner = hearth_owner_of(block);
  size_t quanta = hearth_live_quanta(owner, block);
  struct hearth_thread_pools *thread = enter();
  if (!thread) {
    hearth_release_blocks(NULL, &block, 1);
    return;
  }
  struct hearth_pool *pool = &thread->pool[hearth_owner_pool(owner)];
  if (quanta > HEARTH_SMALL_QUANTA) {
    hearth_release_blocks(thread, &block, 1);
    hearth_count_add(&pool->counts.released, 1);
  } else if (!hearth_pool_put_small(pool, hearth_bin_of(pool, quanta), quanta, block)) {
    empty_half(pool, quanta);
    hearth_pool_put_small(pool, hearth_bin_of(pool, quanta), quanta, block);
  }
  leave(thread);
}

bool hearth_resize(uint64_t owner, void *block, size_t bytes) {
  struct hearth_thread_pools *thread = hearth_thread_pools;
  if (!thread || hearth_owner_thread(owner) != thread)
    return false;
  size_t quantum = hearth_quantum_of(block);
  return hearth_pool_resize(&thread->pool[hearth_owner_pool(owner)], hearth_parcel_of(owner, quantum), quantum,
                            hearth_live_quanta(owner, block), hearth_quanta_for(bytes));
}

/* Statistics. */

static uint64_t hole_quanta(const struct hearth_hotcold_hole *hole) {
  uint64_t from = hearth_count_get(&hole->start), to = hearth_count_get(&hole->end);
  return from < to ? (to - from) >> HEARTH_QUANTUM_SHIFT : 0;
}

static uint64_t live_quanta(const struct hearth_pool *pool) {
  const struct hearth_hotcold_pool_counts *counts = &pool->counts;
  uint64_t quanta = hearth_count_get(&counts->used_quanta) - hearth_count_get(&counts->remote_quanta);
  for (unsigned i = 0; i < HEARTH_HOLES; i++)
    quanta -= hole_quanta(&counts->hole[i]);
  for (size_t i = 1; i <= HEARTH_SMALL_QUANTA; i++)
    quanta -= i * hearth_bin_count(pool, i);
  return quanta;
}

static uint64_t cached_blocks(const struct hearth_pool *pool) {
  uint64_t blocks = 0;
  for (size_t i = 1; i <= HEARTH_SMALL_QUANTA; i++)
    blocks += hearth_bin_count(pool, i);
  return blocks;
}

void hearth_pool_figures(unsigned number, struct hearth_hotcold_pool_stats *ret_stats) {
  struct hearth_hotcold_large_counts large =
      hearth_region_large_counts(hearth_tiles.region[number != HEARTH_POOL_COLD], number);
  struct hearth_hotcold_pool_stats stats = {
      .live_blocks = large.blocks, .live_bytes = large.pages << HEARTH_PAGE_SHIFT, .ever_blocks = large.ever};
  hearth_futex_lock_acquire(&registry_lock);
  for (struct hearth_thread_pools *thread = hearth_all_thread_pools; thread; thread = thread->next) {
    const struct hearth_pool *pool = &thread->pool[number];
    uint64_t cut = hearth_count_get(&pool->counts.cut);
    stats.ever_blocks += cut + hearth_count_get(&pool->counts.reused);
    stats.live_blocks += cut - hearth_count_get(&pool->counts.released) - cached_blocks(pool);
    stats.live_bytes += live_quanta(pool) << HEARTH_QUANTUM_SHIFT;
  }
  hearth_futex_lock_release(&registry_lock);
  *ret_stats = stats;
}

uint64_t hearth_passed_on(void) {
  uint64_t passed_on = 0;
  hearth_futex_lock_acquire(&registry_lock);
  for (struct hearth_thread_pools *thread = hearth_all_thread_pools; thread; thread = thread->next)
    passed_on += hearth_count_get(&thread->passed_on);
  hearth_futex_lock_release(&registry_lock);
  return passed_on;
}

/* Fork. */

void hearth_thread_pools_lock(void) {
  hearth_futex_lock_acquire(&registry_lock);
  for (struct hearth_thread_pools *thread = hearth_all_thread_pools; thread; thread = thread->next)
    hearth_futex_lock_acquire(&thread->lock);
}

void hearth_thread_pools_unlock(void) {
  for (struct hearth_thread_pools *thread = hearth_all_thread_pools; thread; thread = thread->next)
    hearth_futex_lock_release(&thread->lock);
  hearth_futex_lock_release(&registry_lock);
}

/* Forgotten ones come first: they are the next threads' to recall. */
void hearth_thread_pools_after_fork(void) {
  idle_pools = NULL;
  for (int forgotten = 0; forgotten < 2; forgotten++)
    for (struct hearth_thread_pools *thread = hearth_all_thread_pools; thread; thread = thread->next) {
      if (thread == hearth_thread_pools || (thread->has_thread || thread->is_forgotten) != forgotten)
        continue;
      thread->next_idle = idle_pools;
      idle_pools = thread;
    }
  for (struct hearth_thread_pools *thread = idle_pools; thread; thread = thread->next_idle) {
    thread->is_forgotten |= thread->has_thread;
    thread->has_thread = false;
  }
}
