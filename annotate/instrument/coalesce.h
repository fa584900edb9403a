/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fewer counter updates for the same counts. */
#ifndef HEARTH_COALESCE_H
#define HEARTH_COALESCE_H

#include "accesses.h"
#include "counter.h"
#include "flow.h"

/* Accesses near each other in one block, through one pointer, with no interruption between them, are counted with the
 * first: the weights of the others become 0. A counter is for `granule` bytes. Where there is no memory for that, nothing
 * changes. */
void hearth_coalesce_neighbours(hearth_accesses *accesses, unsigned granule);

/* Accesses that a loop makes in each iteration, and whose addresses move evenly or not at all, are counted before the
 * loop; exact for each counter, or where blocks matter only for each block. Their weights become 0; they become walks. */
void hearth_coalesce_loops(hearth_accesses *accesses, hearth_flow *flow, hearth_counters *counters);

/* Count the walks. This makes blocks: nothing may be asked of a flow of the function from then on. */
void hearth_coalesce_walks(const hearth_accesses *accesses, hearth_counters *counters);

#endif
