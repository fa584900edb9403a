/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Code sinking for counter updates: accesses through one pointer in basic blocks that follow each other become one. */
#ifndef HEARTH_SINK_COUNTS_H
#define HEARTH_SINK_COUNTS_H

#include "accesses.h"
#include "counter.h"
#include "flow.h"

/* An access that others may follow on the path that control takes is not counted where it happens: its count is kept
 * in a register down to the last of them, or to the edge where the path to them is left. No path through the
 * function has more updates than before, and at each interruption (flow.h) all counters have the same values as before.
 * Weights of sunk accesses become 0. Splits edges of the flow. Without memory for that, nothing changes. */
void hearth_sink_counts(hearth_accesses *accesses, hearth_flow *flow, hearth_counters *counters);

#endif
