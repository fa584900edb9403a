/* Inside of a leaf: what selecting from it needs. */
#ifndef HEARTH_LEAF_INTERNAL_H
#define HEARTH_LEAF_INTERNAL_H

#include "leaf.h"

/* Give a node its children. leaf->nodes may move. Children of a node whose stacks end: none. */
hearth_status hearth_leaf_grow(hearth_leaf *leaf, uint32_t node, hearth_error *err);
/* The numbers of a stack. */
hearth_status hearth_leaf_sum(const hearth_leaf *leaf, const hearth_leaf_stack *stack, hearth_mib *ret,
                              hearth_error *err);

#endif
