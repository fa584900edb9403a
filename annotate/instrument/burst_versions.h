/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counting for part of the time: a function gets a version of its code that counts beside a plain one (versions.h). */
#ifndef HEARTH_BURST_VERSIONS_H
#define HEARTH_BURST_VERSIONS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

#include "passes.h"

/* Make the version that counts, still without counters, if the function has accesses to count. Where two versions cannot
 * be made, nothing changes: no access of the function is counted, and a remark says why. False: no memory. */
bool hearth_bursts_prepare(LLVMValueRef function, const hearth_pass_options *options);

#endif
