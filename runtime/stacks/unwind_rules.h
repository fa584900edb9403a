/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A memory of the rules that find the callers of code addresses: reading call frame information costs microseconds, and
 * looking a rule up again costs two memory accesses. Lock-free, also in signal handlers that interrupt the runtime. */
#ifndef HEARTH_RUNTIME_UNWIND_RULES_H
#define HEARTH_RUNTIME_UNWIND_RULES_H

#include "cfi.h"

/* Make room to remember rules; once. Without it each one is read anew. False: there are no rules for this processor, nor
 * need of them. */
bool hearth_unwind_rules_create(void);

/* The rule of the code at `pc`, of the module that is loaded there. HEARTH_CFI_NONE: there is none that can be used. */
hearth_cfi_rule hearth_unwind_rules_find(uint64_t pc);

/* Forget the rules of code that is not mapped any more (hearth_mappings_close). */
void hearth_unwind_rules_forget_closed(void);

#endif
