/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A pool's segments and slots, for slow_path.c and sweep.c. */
#ifndef HEARTH_MALLOC_SLOTS_H
#define HEARTH_MALLOC_SLOTS_H

#include "engine.h"

#pragma GCC visibility push(hidden)

/* A slot has no block any more. */
void hearth_pool_return_slot(hearth_pool *pool, hearth_segment *segment, unsigned slot);
/* A segment without slots in use leaves the pool. */
void hearth_pool_return_segment(hearth_pool *pool, hearth_segment *segment);
void hearth_segment_set_state(hearth_segment *segment);

/* Holes or slots are used again. */
static inline void hearth_pool_reuse(hearth_pool *pool, size_t granules) {
  pool->received_granules -= granules < pool->received_granules ? granules : pool->received_granules;
}

/* Granules that may be freed before the lists are dropped: a quarter, and as much as two slots. Of the whole heap in its main pool:
 * what lies in others, as cold memory, would count there without hints. */
static inline int64_t hearth_pool_quota(const hearth_pool *pool) {
  size_t used = pool == &pool->heap->main ? pool->heap->used_granules : pool->used_granules;
  return (int64_t)(used / 4 + 2 * HEARTH_SLOT_GRANULES);
}

/* The granules of all blocks, when all segments are swept; blocks that other threads freed since then count, too. */
size_t hearth_pool_live(const hearth_pool *pool);
/* The quota; but in a pool of several segments at most seven eighths of its blocks: the last ones may lie everywhere, and hold all of
 * it. A sweep of all takes time by its blocks, as segments without any go back: so the blocks that were freed pay for it.
 *   listed   granules that are in the lists */
void hearth_pool_set_budget(hearth_pool *pool, size_t live, int64_t listed);

/* Marks a block of another thread's heap, or of none. */
void hearth_remote_free(hearth_segment *segment, void *block, size_t class);
/* By the pool's owner: marked blocks of the slots in the queue become holes. false: there were no such slots. */
bool hearth_pool_receive(hearth_pool *pool);

#pragma GCC visibility pop

#endif
