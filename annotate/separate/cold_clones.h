/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Clones of functions for the cold contexts of one allocation call, where LLVM has no pass that makes them. */
#ifndef HEARTH_COLD_CLONES_H
#define HEARTH_COLD_CLONES_H

#include "session.h"

/* The callers in whose contexts the call is cold are made to call clones, "FUNCTION.memprof.N", in which the call's hint is
 * resolved to cold; functions in between are cloned where their own callers differ. Callers without a known context
 * keep their callees. At most *budget instructions are added, and are taken from it. False if there is no clone:
 * nothing was changed then. */
bool hearth_cold_clones_make(hearth_session *session, LLVMValueRef call, size_t *budget);

#endif
