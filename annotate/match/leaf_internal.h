/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The inside of a leaf, for the code that selects from it. */
#ifndef HEARTH_LEAF_INTERNAL_H
#define HEARTH_LEAF_INTERNAL_H

#include "leaf.h"

/* Give a node its children. leaf->nodes may move. Children of a node whose stacks end: none. */
hearth_status hearth_leaf_grow(hearth_leaf *leaf, uint32_t node, hearth_error *err);
/* The numbers of a stack. */
hearth_status hearth_leaf_sum(const hearth_leaf *leaf, const hearth_leaf_stack *stack, hearth_mib *ret,
                              hearth_error *err);

/* Of a set of placements: HEARTH_CLASS_UNKNOWN, of stacks that are together too light for one, counts only where it is alone. */
static inline uint64_t hearth_leaf_placements_that_count(uint64_t placements) {
  const uint64_t light = hearth_placement_bit(HEARTH_CLASS_UNKNOWN);
  return placements & ~light ? placements & ~light : placements;
}

#endif
