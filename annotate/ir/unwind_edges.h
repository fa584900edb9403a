/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where control goes around a call: ways past it, and those that it returns and unwinds to. Only C++ can change them. */
#ifndef HEARTH_UNWIND_EDGES_H
#define HEARTH_UNWIND_EDGES_H

#include <stdbool.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Have `emit` insert code at each place where control continues behind a call or invoke that returns or unwinds. A call
 * through which an exception could leave the function becomes an invoke, whose landing pad goes on unwinding; *pad is that
 * block, one for all calls of a function, NULL before the first. In functions whose exceptions are tokens or go through
 * funclets there is none, and no code where such calls unwind. Not for musttail calls. */
void hearth_after_call(LLVMValueRef call, LLVMBasicBlockRef *pad, void (*emit)(LLVMBuilderRef builder, void *data),
                       void *data);

/* May the code generator make the call a jump, for which the caller's frame goes? It may where the call comes last, and what it
 * returns is handed on. musttail calls are such, too. */
bool hearth_may_jump(LLVMValueRef call);

/* Divide the way to a call that may become a jump: where `condition`, which comes before it, holds, a copy of the call is made
 * that still may; otherwise the call itself, which then is none. False, and nothing done, if other code needs the call's value. */
bool hearth_jump_if(LLVMValueRef call, LLVMValueRef condition);

#ifdef __cplusplus
}
#endif
#endif
