/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Return addresses of folded calls: calls that may be in progress where a stack lacks them. Any thread may
 * add and read at any time, signal handlers too. */
#ifndef HEARTH_RUNTIME_FOLDED_PCS_H
#define HEARTH_RUNTIME_FOLDED_PCS_H

#include <stdint.h>

/* Further ones are not noted: plans may then heed calls that they should not. */
#define HEARTH_FOLDED_PCS_MOST 6144u

/* An address that is there is not added again. */
void hearth_folded_pcs_add(uint64_t pc);

/* Those added so far, in any order: the one behind `pc`, NULL for the first one. NULL: that was the last. */
const uint64_t *hearth_folded_pcs_next(const uint64_t *pc);

#endif
