/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Free pages between the blocks of parcels. Pools keep them for HEARTH_KEEP_MS, as a program that freed them may soon want as
 * much again, and give them back earlier for as much fresh memory as is taken; cold pools give them back at once. For the
 * pool's thread, or the holder of the lock of pools without one. */
#ifndef HEARTH_KEPT_MEMORY_H
#define HEARTH_KEPT_MEMORY_H

#include "pool.h"

/* Quanta of the pool were freed, or used. */
void hearth_kept_memory_grows(struct hearth_pool *pool);
void hearth_kept_memory_shrinks(struct hearth_pool *pool);

/* So many quanta of fresh memory came into use: give back as many of the thread's hot pools. */
void hearth_kept_memory_release_for(struct hearth_thread_pools *thread, size_t quanta);

#endif
