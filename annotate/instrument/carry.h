/* Counts that are carried along: accesses through one pointer in blocks that follow each other become one update. */
#ifndef HEARTH_CARRY_H
#define HEARTH_CARRY_H

#include "accesses.h"
#include "counter.h"
#include "flow.h"

/* An access that others may follow, on the way that control takes, is not counted where it happens; its count is carried in a
 * register to the last of them, or to where the way to them is left. No way through the function has more updates than
 * before, and at each interruption (flow.h) all counts are what they were. Weights of carried accesses become 0. Splits
 * edges of the flow. Where there is no memory for that, nothing changes. */
void hearth_carry_counts(hearth_accesses *accesses, hearth_flow *flow, hearth_counters *counters);

#endif
