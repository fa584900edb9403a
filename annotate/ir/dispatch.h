/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lowered calls that link everywhere: each goes to a function in the module itself, which calls the hinted function
 * if the program has one, and the plain one without the hint otherwise:
 *
 *   define linkonce_odr hidden ptr @__hearth_malloc_hot_cold(i64 %0, i8 %1) comdat {
 *     if (&malloc_hot_cold) return malloc_hot_cold(%0, %1); else return malloc(%0);
 *   }
 *
 * `malloc_hot_cold` is a weak reference, which ld.so resolves to an allocator that was linked as shared object,
 * preloaded, or is in the program. Nothing under the name of a hinted function is defined, so nothing can come
 * before the allocator's or tcmalloc's. */
#ifndef HEARTH_DISPATCH_H
#define HEARTH_DISPATCH_H

#include "alloc_functions.h"

/* The function to call in place of an allocation call of this row, with its arguments and a hint; made if the module
 * lacks it. NULL if one of the names is taken by something else. */
LLVMValueRef hearth_dispatch_for(LLVMValueRef call, const hearth_alloc_function *row);

/* Make a definition, or a declaration that will become one, one for the program, whichever modules have it; never
 * visible outside of the program or library that it is linked into. */
void hearth_share_global(LLVMModuleRef module, LLVMValueRef global, const char *name);

/* For a variable of threads that any module may define: at a fixed distance from the thread's pointer. Linkers write
 * that distance into programs' code; it is not known yet in code that may become part of a library, as that of -fPIE
 * may. */
LLVMThreadLocalMode hearth_thread_model(LLVMModuleRef module);

/* Give a function an attribute, unless it has it, or this LLVM knows none of the name. */
void hearth_add_attribute(LLVMValueRef function, LLVMAttributeIndex place, const char *name, uint64_t value);

#endif
