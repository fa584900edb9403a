/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Hints of allocations by placement, where nothing else was asked for: one byte, 0 coldest to 255 hottest. Of
 * tcmalloc's scale; stock tcmalloc takes 0 alone for cold. Pool g has the hint HEARTH_HINT_POOL + g, which is hot to
 * allocators without pools. */
#ifndef HEARTH_HINTS_H
#define HEARTH_HINTS_H

#include "hearth/mib.h"

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

#endif
