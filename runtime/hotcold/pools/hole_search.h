/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The search for holes; whatever is left of the one before is closed. All return whether there is one now. For the pool's thread. */
#ifndef HEARTH_HOLE_SEARCH_H
#define HEARTH_HOLE_SEARCH_H

#include "pool.h"

/* A hole of at least so many quanta, for small blocks. */
bool hearth_hole_find(struct hearth_pool *pool, enum hearth_hole which, size_t quanta);

/* The same; it lies in the first parcel that has one, also for the next hole. */
bool hearth_hole_find_first(struct hearth_pool *pool, enum hearth_hole which, size_t quanta);

/* A medium block where others were freed; the rest of its hole stays free. NULL if there is no room that is worth the search. */
void *hearth_medium_take_freed(struct hearth_pool *pool, size_t quanta, size_t alignment);

/* A new parcel. `even`: the size of its blocks, if they begin where it does; or 0. */
bool hearth_hole_find_fresh(struct hearth_pool *pool, enum hearth_hole which, size_t even);

/* The search leaves the parcel that it is in; the next hole is closed. */
void hearth_pool_leave_parcel(struct hearth_pool *pool);

#endif
