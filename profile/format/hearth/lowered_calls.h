/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What lowered calls and the allocator agree on: hints, and how a program's code takes blocks without a call. */
#ifndef HEARTH_LOWERED_CALLS_H
#define HEARTH_LOWERED_CALLS_H

#include "hearth/mib.h"

/* ------------------------------------------------ hints ------------------------------------------------ */

/* Hints of allocations by placement, where nothing else was asked for: one byte, 0 coldest to 255 hottest. Of
 * tcmalloc's scale; stock tcmalloc takes 0 alone for cold. Pool g has the hint HEARTH_HINT_POOL + g, which is hot to
 * allocators without pools. */

enum {
  HEARTH_HINT_COLD = 0,
  HEARTH_HINT_NOTCOLD = 128,
  HEARTH_HINT_AMBIGUOUS = 222,
  HEARTH_HINT_POOL = 223,
  HEARTH_HINT_DORMANT = HEARTH_HINT_POOL + HEARTH_POOL_OF_DORMANT,
  HEARTH_HINT_HOT = 254
};

/* Larger blocks lie page by page, in no pool: none lies between others. */
enum { HEARTH_POOLED_BYTES_MAX = 128 << 10 };

HEARTH_CHECK_LAYOUT(HEARTH_HINT_POOL + HEARTH_POOLS_MAX == HEARTH_HINT_HOT);

/* `hints`: of each class. */
static inline uint8_t hearth_hint_of(hearth_placement placement, const uint8_t hints[4]) {
  return placement < HEARTH_PLACEMENT_POOL ? hints[placement]
                                           : (uint8_t)(HEARTH_HINT_POOL + placement - HEARTH_PLACEMENT_POOL);
}

/* ------------------------------------------------ fast path ------------------------------------------------ */

/* The part of the allocator that a program's code uses, to take a block of the main pool without malloc:
 *
 *   extern _Thread_local char *hearth_fast_pools_3[2];   of malloc, of operator new
 *
 *   list = hearth_fast_pools_3[family] + sizeof(void *) * class    class: granules of 16 bytes, rounded up; 0 to 64
 *   the list minus the pool's key is its first block, NULL: none; the block's first word becomes the list
 *   the block's byte of the map, at its segment's start plus its granule, becomes the class
 *   the pool's budget grows by the class
 *   no block: hearth_fast_malloc_3(pool, class), or hearth_fast_new_3, makes one, if the key is not 0
 *
 * Programs have a weak definition, of an empty pool whose key is 0. The allocator's own one comes to be that of the
 * program, as with every variable that both have. A thread's pools are set with its first block, if malloc and free
 * (operator new and delete) are the allocator's, and the user's options do not ask for other pools or for counts:
 * before that, and with any other allocator, nothing is found and the code calls. The number in the names is that of
 * this layout. */

#define HEARTH_FAST_POOLS  "hearth_fast_pools_3"
#define HEARTH_FAST_MALLOC "hearth_fast_malloc_3"
#define HEARTH_FAST_NEW    "hearth_fast_new_3"

enum {
  HEARTH_FAST_GRANULE = 16,
  HEARTH_FAST_CLASSES = 64,
  HEARTH_FAST_SEGMENT = 2 << 20,
  HEARTH_FAST_BUDGET = 0x3c8, /* offsets in the pool */
  HEARTH_FAST_KEY = 0x500,
  HEARTH_FAST_POOL_BYTES = 0x508,
};

typedef enum hearth_fast_family {
  HEARTH_FAST_OF_MALLOC,
  HEARTH_FAST_OF_NEW,
  HEARTH_FAST_FAMILIES,
} hearth_fast_family;

#endif
