/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums over windows, by pair of contexts, in a hash table of bounded size. One thread adds to them. */
#ifndef HEARTH_RUNTIME_PAIR_SUMS_H
#define HEARTH_RUNTIME_PAIR_SUMS_H

#include "touched_sums.h"

#define HEARTH_PAIR_CONTEXTS 64u /* of a window make pairs */

typedef struct hearth_pair_slot {
  uint32_t a, b; /* a < b; both 0: free */
  uint64_t windows;
  uint64_t lines; /* with a fraction */
} hearth_pair_slot;

typedef struct hearth_pair_sums {
  hearth_pair_slot *slots;
  uint32_t size; /* a power of two */
  uint32_t count;
  uint64_t lost; /* pairs of windows that found no room */
} hearth_pair_sums;

/* False: no memory. */
bool hearth_pair_sums_create(hearth_pair_sums *sums);
void hearth_pair_sums_forget(hearth_pair_sums *sums);

/* Have room for the pairs of one window more, unless the table is as large as it may be. */
void hearth_pair_sums_reserve(hearth_pair_sums *sums);

/* Add the pairs of the most touched contexts of a window that has ended; pages and weight as there. */
void hearth_pair_sums_add_window(hearth_pair_sums *sums, const hearth_touched_sums *touched, uint64_t pages,
                                 uint64_t sampled, uint32_t weight);

#endif
