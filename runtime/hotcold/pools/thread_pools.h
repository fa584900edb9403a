/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The pools of each thread, so that most calls take no lock. When a thread ends, its pools wait for the next new one.
 *
 * A block that another thread's pools own goes to the freeing thread's bin all the same, and may be handed out by it. When the bin
 * is full, such blocks are noted in the owner's list of remote blocks, under its lock, and the owner frees them before it
 * asks for a new parcel. Pools without a thread are worked on directly, under the same lock. */
#ifndef HEARTH_THREAD_POOLS_H
#define HEARTH_THREAD_POOLS_H

#include "futex_lock.h"
#include "hearth/hotcold.h"
#include "pool.h"

struct hearth_thread_pools {
  struct hearth_thread_pools *next; /* of all there ever were; they are reused, never unmapped */
  struct hearth_thread_pools *next_idle;
  uint64_t passed_on;            /* hinted requests that were left to the program's own allocator */
  struct hearth_futex_lock lock; /* guards what follows, and all pools while they have no thread */
  bool has_thread;
  bool is_forgotten;                    /* its thread vanished by fork; the lists may be broken */
  struct hearth_parcel *_Atomic remote; /* the thread looks at it without the lock */
  _Alignas(64) struct hearth_pool pool[HEARTH_POOLS];
  void *bins[HEARTH_POOLS][HEARTH_SMALL_QUANTA][HEARTH_BIN_MOST];
};

/* Of the calling thread; NULL: none yet, or no longer. */
extern _Thread_local struct hearth_thread_pools *hearth_thread_pools __attribute__((tls_model("initial-exec")));

static inline void **hearth_bin_at(struct hearth_thread_pools *thread, unsigned pool, size_t quanta) {
  return thread->bins[pool][quanta - 1];
}

static inline void **hearth_bin_of(const struct hearth_pool *pool, size_t quanta) {
  return hearth_bin_at(pool->thread, pool->number, quanta);
}

/* For readers in other processes (status_page.h). */
extern struct hearth_thread_pools *hearth_all_thread_pools;

/* Once, before the first of the calls below. Without a thread-specific key no thread keeps its pools. */
void hearth_thread_pools_open(void);

/* Called by the slow path of an allocation, with no lock held, before anything else. Whoever uses the pools defines it; it
 * may allocate. */
void hearth_pools_user_allocates(void);

void *hearth_take_slowly(unsigned pool, size_t quanta, bool *ret_zeroed);
void hearth_put_slowly(void *block);

/* A block of at most HEARTH_MEDIUM_BYTES, or NULL when the range is full or not reserved. *ret_zeroed (unless NULL): it is
 * known to be all zero. */
static inline void *hearth_take(unsigned pool, size_t bytes, bool *ret_zeroed) {
  struct hearth_thread_pools *thread = hearth_thread_pools;
  size_t quanta = hearth_quanta_for(bytes);
  void *block = NULL;
  bool zeroed = false;
  if (thread && quanta <= HEARTH_SMALL_QUANTA)
    block = hearth_pool_take_small(&thread->pool[pool], hearth_bin_at(thread, pool, quanta), quanta, &zeroed);
  if (!block)
    return hearth_take_slowly(pool, quanta, ret_zeroed);
  if (ret_zeroed)
    *ret_zeroed = zeroed;
  return block;
}

/* Quanta of a request that the thread may serve without locks and searches; 0: it may not, as when no bytes are asked for. */
static inline __attribute__((always_inline)) size_t hearth_quick_quanta(const struct hearth_thread_pools *thread,
                                                                        size_t bytes) {
  size_t before = bytes - 1;
  if (__builtin_expect(!thread || before >= HEARTH_SMALL_QUANTA * HEARTH_QUANTUM_BYTES, 0))
    return 0;
  return (before >> HEARTH_QUANTUM_SHIFT) + 1;
}

/* A block of at most HEARTH_MEDIUM_BYTES with an alignment, a power of two of at most a page. */
void *hearth_take_aligned(unsigned pool, size_t bytes, size_t alignment);

_Noreturn void hearth_refuse_block(const void *block);

/* The same as below, of medium blocks of even parcels; all others are refused. */
size_t hearth_even_medium_quanta(uint64_t owner, const void *block);

/* Quanta of a live block that is not large; `owner` is hearth_owner_of(block), and not 0. */
static inline __attribute__((always_inline)) size_t hearth_live_quanta(uint64_t owner, const void *block) {
  size_t offset = hearth_offset_of(block), even = hearth_owner_even(owner);
  size_t quanta = !even                               ? hearth_block_quanta(offset >> HEARTH_QUANTUM_SHIFT)
                  : hearth_even_begins(owner, offset) ? even
                                                      : 0;
  if (__builtin_expect(!quanta || (uintptr_t)block % HEARTH_QUANTUM_BYTES, 0))
    return hearth_even_medium_quanta(owner, block);
  return quanta;
}

/* Give back a block, if that is possible without locks and searches. `offset` is that of `block`, an address in the ranges, which
 * need not be one of a block. */
static inline __attribute__((always_inline)) bool hearth_put_fast(size_t offset, void *block) {
  struct hearth_thread_pools *thread = hearth_thread_pools;
  uint64_t owner = hearth_owner_at(offset);
  size_t quanta = hearth_owner_even(owner);
  if (quanta ? !hearth_even_begins(owner, offset) : !owner || offset % HEARTH_QUANTUM_BYTES)
    return false;
  if (!quanta)
    quanta = hearth_block_quanta_near(offset >> HEARTH_QUANTUM_SHIFT);
  if (__builtin_expect(!thread || !quanta, 0))
    return false;
  unsigned pool = hearth_owner_pool(owner);
  return hearth_pool_put_small(&thread->pool[pool], hearth_bin_at(thread, pool, quanta), quanta, block);
}

/* Grow or shrink a block that is not large where it is. False, and nothing changed, if that cannot be. */
bool hearth_resize(uint64_t owner, void *block, size_t bytes);

/* Count a hinted request that is the program's own allocator's to serve. False if the thread has no pools yet: then it is to be
 * passed on slowly. */
static inline bool hearth_pass_on(void) {
  struct hearth_thread_pools *thread = hearth_thread_pools;
  if (!thread)
    return false;
  hearth_count_add(&thread->passed_on, 1);
  return true;
}
void hearth_pass_on_slowly(void);

/* Sums over all threads, and large blocks. */
void hearth_pool_figures(unsigned pool, struct hearth_hotcold_pool_stats *ret_stats);
uint64_t hearth_passed_on(void);

/* Around fork: all locks, which come before those of the regions. In the child, with all locks free, the pools of the threads that
 * do not exist there are forgotten, until a new thread takes them over. */
void hearth_thread_pools_lock(void);
void hearth_thread_pools_unlock(void);
void hearth_thread_pools_after_fork(void);

#endif
