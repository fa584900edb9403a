/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tail calls of profiled programs. A jump loses the caller's frame, and contexts with it, so the profiling build forbids jumps
 * (-fno-optimize-sibling-calls, the attribute "disable-tail-calls"). But a program that lives by jumps would then overflow its
 * stack. So these stay jumps, as they are in the plain build:
 *
 *   - recursion that LLVM makes a loop;
 *   - calls in a cycle of calls that all come last, as in a state machine, while the same call is in progress. So each
 *     keeps one frame on a stack at most, contexts are those that folding leaves of deep recursion, and decision
 *     sites of the optimised program keep the same frames. */
#ifndef HEARTH_TAIL_CALLS_H
#define HEARTH_TAIL_CALLS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

/* Behind the optimiser, which hearth_pass_tail_calls allowed to find tail calls: forbid those that are in no cycle. Without
 * it the program's flags count. Allocation calls are never jumps: they are the leaves of contexts. False: out of
 * memory, and those of cycles are forbidden, too. */
bool hearth_tail_calls_limit(LLVMModuleRef module);

#endif
