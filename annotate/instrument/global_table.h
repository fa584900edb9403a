/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table by which the profiling runtime finds a module's global variables (hearth/globals.h). */
#ifndef HEARTH_GLOBAL_TABLE_H
#define HEARTH_GLOBAL_TABLE_H

#include <stdbool.h>

#include <llvm-c/Core.h>

/* Define it, before accesses are collected: those of globals count from then on. Globals begin in granules of their own where
 * the language allows it. `stores`: those are counted, too. False: out of memory. */
bool hearth_global_table_define(LLVMModuleRef module, bool stores);

/* NULL: the module has none. */
LLVMValueRef hearth_global_table_of(LLVMModuleRef module);

/* Accesses of this global count. */
bool hearth_global_counts(LLVMValueRef global);

#endif
