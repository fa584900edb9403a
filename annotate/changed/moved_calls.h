/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How a module tells a link which of its functions have changed since they were profiled, and where their calls were: salvage
 * (salvage.h) needs the calls as they were written, which only compiling sees. It is named metadata, a node for each
 * function, and linkers put those of all modules together:
 *
 *   !memprof.moved = !{!0}
 *   !0 = !{i64 FUNCTION, i64 OLD_FUNCTION, i32 CALLS, i32 LINE, i32 COLUMN, i32 OLD_LINE, i32 OLD_COLUMN, ...} */
#ifndef HEARTH_MOVED_CALLS_H
#define HEARTH_MOVED_CALLS_H

#include "salvage.h"

/* Adds a node for each function that has changed; nothing if there is none. */
void hearth_moved_calls_write(LLVMModuleRef module, const hearth_salvage *salvage);

/* Reads the module's nodes; the caller passes the result to hearth_salvage_destroy. NULL if there are none, or out of
 * memory. Other nodes are passed over. */
hearth_salvage *hearth_moved_calls_read(LLVMModuleRef module);

#endif
