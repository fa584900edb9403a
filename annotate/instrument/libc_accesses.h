/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The memory that functions of the C library access is counted by range at their calls. The table is
 * libc_accesses.def. */
#ifndef HEARTH_LIBC_ACCESSES_H
#define HEARTH_LIBC_ACCESSES_H

#include <stdbool.h>

#include "counter.h"

/* Is it a call of one of the functions in the table? */
bool hearth_is_libc_access(LLVMValueRef call);

/* Count the accesses of a call behind it; nothing if it is no call of a function in the table, or one that must be
 * followed by a return. */
void hearth_count_libc_call(hearth_counters *counters, LLVMValueRef call);

#endif
