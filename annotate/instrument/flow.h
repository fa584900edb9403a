/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How control and addresses move within one function: the part of LLVM's analyses that the instrumentation needs and
 * only C++ offers, in llvm-c's words. Instructions may be inserted while a flow is in use; blocks and branches must
 * stay until hearth_flow_split_edge. */
#ifndef HEARTH_FLOW_H
#define HEARTH_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hearth_flow hearth_flow;

/* `function` has a body and outlives the flow. */
hearth_flow *hearth_flow_create(LLVMValueRef function);
void hearth_flow_destroy(hearth_flow *flow); /* NULL is accepted */

/* Says whether this instruction may free or make a heap block, or write the profile, or whether that may happen instead
 * of the next instruction: a call that may free, throw, or never return, or an atomic operation, as another thread may
 * wait for it to do so. Accesses are counted together only where none is in between. Calls of quiet functions
 * (module_facts.h) are none. */
bool hearth_flow_interrupts(LLVMValueRef instruction);

/* The pointer without constant offsets, and their sum in bytes. */
LLVMValueRef hearth_flow_pointer_base(LLVMValueRef pointer, int64_t *ret_offset);

/* The pointer without offsets, the variable ones included, nor steps of loops that it walks in, and the sum of the
 * constant offsets in bytes. All that the program accesses through either is in one block, as arithmetic cannot lead a
 * pointer to another one. */
LLVMValueRef hearth_flow_pointer_object(const hearth_flow *flow, LLVMValueRef pointer, int64_t *ret_offset);

/* The blocks by position: each behind those that come before it, but for the ways back of loops. The function's first has
 * position 0; those that cannot be reached are the last. */
size_t hearth_flow_block_count(const hearth_flow *flow);
LLVMBasicBlockRef hearth_flow_block(const hearth_flow *flow, size_t position);
size_t hearth_flow_position(const hearth_flow *flow, LLVMBasicBlockRef block);

/* Whether nothing in the block interrupts. */
bool hearth_flow_is_transparent(const hearth_flow *flow, LLVMBasicBlockRef block);

/* Whether the block is in a loop. */
bool hearth_flow_repeats(const hearth_flow *flow, LLVMBasicBlockRef block);

/* Whether the value is there when the block starts, and is not made anew by the block, which can be reached. */
bool hearth_flow_has_value(const hearth_flow *flow, LLVMValueRef value, LLVMBasicBlockRef block);

/* The place for the block's next phi, which is also before the debug records. */
void hearth_flow_stand_at_start(LLVMBuilderRef builder, LLVMBasicBlockRef block);

/* A block that runs when control passes from the one block, which has several successors and ends in a branch or switch,
 * to the other one: that one, if it has no other way in, or a new one. From then on only this function may be called. */
LLVMBasicBlockRef hearth_flow_split_edge(hearth_flow *flow, LLVMBasicBlockRef from, LLVMBasicBlockRef to);

/* Let control take one of two ways, that meet again, before the instruction. Code goes before the ends of both. From then
 * on the flow must not be asked anything. */
void hearth_flow_branch(LLVMValueRef condition, LLVMValueRef before, LLVMValueRef *ret_then_end,
                        LLVMValueRef *ret_else_end);

/* Let control take another way first, if the condition holds, which hardly ever is so. Returns the end of that way, before which
 * code goes. The flow as above. */
LLVMValueRef hearth_flow_branch_rarely(LLVMValueRef condition, LLVMValueRef before);

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
