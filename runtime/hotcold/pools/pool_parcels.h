/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The parcels of a pool: which there are, which will be searched, how large holes they have at most, and when their memory
 * goes back. For the pool's thread. */
#ifndef HEARTH_POOL_PARCELS_H
#define HEARTH_POOL_PARCELS_H

#include "pool.h"

/* A new one, for medium blocks or the others. NULL when the range is full. */
struct hearth_parcel *hearth_pool_create_parcel(struct hearth_pool *pool, bool is_medium, bool *ret_zeroed);

/* Quanta came into use: a hole, or what a block grew by. */
void hearth_pool_use_quanta(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quanta);

/* Quanta are free; the block map knows nothing of them. */
void hearth_pool_unuse_quanta(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quanta);

/* The same of quanta that the block map knows. The parcel is not even. It may be gone then, or memory may have gone back. */
void hearth_pool_free_quanta(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quantum, size_t quanta);

/* A hole of so many quanta begins here now. */
void hearth_pool_raise_bounds(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quantum, size_t quanta);

/* The parcel to search next, no longer in the list of them; or NULL. */
struct hearth_parcel *hearth_pool_next_waiting(struct hearth_pool *pool);

/* After quanta of the parcel became free: an end for an empty parcel, a place in the list for one with much room. */
void hearth_pool_look_after(struct hearth_pool *pool, struct hearth_parcel *parcel);

#endif
