/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls of functions that have no counters, as their code is a library's: what they access is counted at their calls. They are
 * those of library_accesses.def, the others of libstdc++ that the module only declares, and the user's own,
 * -memprof-library-accesses. A line of that table is
 *
 *   NAME [ACCESSES]   # comment
 *
 * with the items of library_accesses.def; none: one access through each argument that is a pointer. A * at the end of NAME
 * stands for whatever follows. Of other functions nothing is counted: they may be of a file with counters. */
#ifndef HEARTH_LIBRARY_ACCESSES_H
#define HEARTH_LIBRARY_ACCESSES_H

#include <stdbool.h>

#include "counter.h"
#include "hearth/status.h"

/* Mark the module's declarations of such functions, with attributes. `path` is the user's table; "": none. E_IO, E_FORMAT, E_NOMEM,
 * with file, line and remedy. */
hearth_status hearth_library_mark(LLVMModuleRef module, const char *path, hearth_error *err);
/* Take the attributes away. */
void hearth_library_forget(LLVMModuleRef module);

/* The call is of such a function. */
bool hearth_library_knows(LLVMValueRef call);

/* `visit` each pointer through which one access counts, as a load in front of the call would. Says whether there is more: what
 * hearth_library_count counts. */
typedef void hearth_library_visit(void *closure, LLVMValueRef call, LLVMValueRef pointer);
bool hearth_library_visit_pointers(LLVMValueRef call, hearth_library_visit *visit, void *closure);

/* Count the ranges that a call accesses, those that are known behind it only if there is a place behind it alone. */
void hearth_library_count(hearth_counters *counters, LLVMValueRef call);

#endif
