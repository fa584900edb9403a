/* How control and addresses move within one function: what the instrumentation needs of LLVM's analyses, which only C++
 * offers, in llvm-c's words. Instructions may be inserted while a flow is in use; blocks and branches must stay. */
#ifndef HEARTH_FLOW_H
#define HEARTH_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hearth_flow hearth_flow;

/* `function` has a body and outlives the flow. */
hearth_flow *hearth_flow_create(LLVMValueRef function);
void hearth_flow_destroy(hearth_flow *flow);

/* Whether a heap block may be freed, or made, or the profile be written, by this instruction or instead of what follows
 * it: a call that may free, throw, or never return. Accesses are counted together only where none is in between. */
bool hearth_flow_interrupts(LLVMValueRef instruction);

/* The pointer without constant offsets, and their sum in bytes. */
LLVMValueRef hearth_flow_pointer_base(LLVMValueRef pointer, int64_t *ret_offset);

/* Whether each run of `from` is followed by exactly one run of `to`, with no interruption in a block between the two. Ends
 * of `from` and starts of `to` are not looked at. False if that would take long to find out. */
bool hearth_flow_runs_through(hearth_flow *flow, LLVMBasicBlockRef from, LLVMBasicBlockRef to);

/* How the address of an access moves in the innermost loop around it, if the access is made in each iteration, the
 * loop's number of iterations is known when it is entered, and nothing interrupts it. */
typedef struct hearth_loop_access {
  LLVMBasicBlockRef preheader; /* runs once before the loop */
  int64_t stride;              /* bytes from one iteration to the next; 0: always the same address */
  const void *start, *trips;   /* opaque; for hearth_flow_expand */
} hearth_loop_access;

/* False if any of this is not so. */
bool hearth_flow_loop_access(hearth_flow *flow, LLVMValueRef instruction, LLVMValueRef pointer,
                             hearth_loop_access *ret_access);
/* Compute the address of the first iteration and the number of iterations, as i64, at the end of the preheader. */
void hearth_flow_expand(hearth_flow *flow, const hearth_loop_access *access, LLVMValueRef *ret_start,
                        LLVMValueRef *ret_trips);

#ifdef __cplusplus
}
#endif
#endif
