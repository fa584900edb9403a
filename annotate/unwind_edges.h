/* Where control goes behind a call: the ways that it returns and unwinds, which only C++ can change. */
#ifndef HEARTH_UNWIND_EDGES_H
#define HEARTH_UNWIND_EDGES_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Have `emit` insert code at each place where control continues behind a call or invoke that returns or unwinds. A call
 * through which an exception could leave the function becomes an invoke, whose landing pad goes on unwinding; *pad is that
 * block, one for all calls of a function, NULL before the first. Not for musttail calls. */
void hearth_after_call(LLVMValueRef call, LLVMBasicBlockRef *pad, void (*emit)(LLVMBuilderRef builder, void *data),
                       void *data);

#ifdef __cplusplus
}
#endif
#endif
