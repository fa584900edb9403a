/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Decision calls that set the same bits and call the same function: a small function that was inlined in many places leaves
 * a copy of its calls in each. They share one function that makes the call, around whose call the bits are set:
 *
 *   define internal ptr @__hearth_decide.CALLEE(i64 %0) {
 *     %1 = call ptr @CALLEE(i64 %0)
 *     ret ptr %1
 *   }
 *
 * So a copy costs nothing, but for the way through that function. */
#ifndef HEARTH_SHARED_CALLS_H
#define HEARTH_SHARED_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

typedef struct hearth_decision_call {
  LLVMValueRef call;
  uint64_t bits; /* that are set around it */
  bool is_alone; /* they are clear before it; follows from the bits */
  bool may_jump; /* the code generator may make the call a jump */
} hearth_decision_call;

/* Calls that share a function from now on are left out, and that function's call is in the list, behind the others, whose
 * order stays. Returns the new count, which is not larger. */
size_t hearth_share_decision_calls(hearth_decision_call *calls, size_t count);

#endif
