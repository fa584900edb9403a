/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Hints for the allocations of a trace: those of a profile's plan, by stack. */
#ifndef HEARTH_TRACE_HINTS_H
#define HEARTH_TRACE_HINTS_H

#include "hearth/plan.h"

typedef struct hearth_trace_hints {
  uint8_t *rows; /* by the trace's nodes; malloc'd */
  size_t count;
  bool is_known_stack; /* the profile knows one stack of the trace at least */
} hearth_trace_hints;

/* Stacks that the profile lacks, or that are too light for a placement, have the hint of the program's own allocator.
 * Errors: E_EMPTY (the profile has no placements), those of reading either file, E_NOMEM. */
hearth_status hearth_trace_hints_read(const char *profile, const char *trace, hearth_trace_hints *ret,
                                      hearth_error *err);
void hearth_trace_hints_free(hearth_trace_hints *hints);

#endif
