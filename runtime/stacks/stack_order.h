/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Call stacks in an order in which stacks with common callers follow each other. */
#ifndef HEARTH_RUNTIME_STACK_ORDER_H
#define HEARTH_RUNTIME_STACK_ORDER_H

#include "depot.h"

/* Sort the first `count` contexts of the depot's list by their stacks, outermost address first. Takes no memory, and little
 * stack. One call at a time. */
void hearth_stack_order(hearth_depot *depot, uint32_t count);

#endif
