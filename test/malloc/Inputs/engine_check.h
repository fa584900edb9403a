/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The consistency check of the engine, for tests: the map, lists, holes and counts of a heap against each other. Expensive. The
 * heap's thread calls it, and nobody else frees its blocks meanwhile. */
#ifndef HEARTH_ENGINE_CHECK_H
#define HEARTH_ENGINE_CHECK_H

#include "engine.h"

/* Says on standard error what is wrong. */
bool hearth_pool_is_valid(hearth_pool *pool);
bool hearth_heap_is_valid(hearth_heap *heap);

/* What the walk over a pool finds, in granules. */
typedef struct hearth_pool_sums {
  size_t live, freed, holes, at_cursors;
} hearth_pool_sums;
bool hearth_pool_sum(hearth_pool *pool, hearth_pool_sums *ret_sums);

#endif
