/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls of all kinds, in random order, through code without frame pointers (compiled so). */
#ifndef HEARTH_TEST_LAST_STACK_CALLS_H
#define HEARTH_TEST_LAST_STACK_CALLS_H

/* Calls `capture` now and then; `draw` gives random numbers below what it is given. */
int previous_stack_calls(unsigned depth, unsigned (*draw)(unsigned below), void (*capture)(void));

#endif
