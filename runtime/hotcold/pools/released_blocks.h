/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Blocks that leave the bins: the freeing thread's own become free quanta; those of other threads' pools are remote, noted for their
 * owner; those of pools without a thread are freed under their lock. */
#ifndef HEARTH_RELEASED_BLOCKS_H
#define HEARTH_RELEASED_BLOCKS_H

#include "thread_pools.h"

/* Take blocks of one size out of use that are in none of the bins any more. `freeing`: of the calling thread, or NULL. */
void hearth_release_blocks(struct hearth_thread_pools *freeing, void *const *blocks, unsigned count);

/* Free the blocks noted for the thread; with its lock held. */
void hearth_free_remote_blocks(struct hearth_thread_pools *thread);

/* The same, without the lock, by the thread. Returns whether there was anything. */
bool hearth_collect_remote_blocks(struct hearth_thread_pools *thread);

#endif
