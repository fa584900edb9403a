/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The placements of a profile's plan by whole stacks, and the keys of a profile's stacks. */
#ifndef HEARTH_KNOWN_STACKS_H
#define HEARTH_KNOWN_STACKS_H

#include "hearth/plan.h"

typedef struct hearth_known_stack {
  uint64_t key;
  hearth_placement placement;
} hearth_known_stack;

typedef struct hearth_known_stacks {
  hearth_known_stack *rows; /* by key */
  size_t count;
} hearth_known_stacks;

/* The way from the root to a node of a profile's stacks. Scopes are no part of the key; the innermost one that names a hint tells it. */
typedef struct hearth_stack_way {
  uint64_t key;
  uint32_t caller;
  int hint; /* HEARTH_NO_HINT: no scope tells one */
} hearth_stack_way;

enum { HEARTH_NO_HINT = -1 };

/* By the profile's nodes; malloc'd. Errors: E_NOMEM, and those of reading. */
hearth_status hearth_stack_ways_read(hearth_profile *profile, hearth_stack_way **ret, hearth_error *err);

/* To be freed with hearth_known_stacks_free, also after an error. Errors: E_EMPTY (the plan has no placements), E_NOMEM, and
 * those of reading. */
hearth_status hearth_known_stacks_read(hearth_profile *profile, hearth_known_stacks *ret, hearth_error *err);
const hearth_known_stack *hearth_known_stacks_find(const hearth_known_stacks *known, uint64_t key);
void hearth_known_stacks_free(hearth_known_stacks *known);

/* Placements that a recorded run asked for (HEARTH_MALLOC=verify), compared with the plan's for whole stacks. */

typedef enum hearth_placing {
  HEARTH_PLACING_RIGHT,   /* as the plan has it; or it has none for the stack, which is light */
  HEARTH_PLACING_NEUTRAL, /* as without a profile, though the plan has a placement */
  HEARTH_PLACING_WRONG,   /* another placement than the plan's */
  HEARTH_PLACING_UNKNOWN, /* the profile lacks the stack */
  HEARTH_PLACINGS
} hearth_placing;

typedef struct hearth_placed_stack {
  uint32_t context, node; /* rows of the recording; past the allocator's frames if the profile has the stack */
  hearth_placing placing;
  int hint;                   /* -1: the allocation call has none */
  hearth_placement placement; /* the plan's */
  uint64_t blocks, bytes;
} hearth_placed_stack;

/* Read the placing of each context of the recording, in its order; *ret is malloc'd. Errors: E_EMPTY (the profile's
 * plan has no placements, or no allocation of the recording has a hint), E_NOMEM, and those of reading. */
hearth_status hearth_placed_stacks_read(hearth_profile *profile, hearth_profile *recording, hearth_placed_stack **ret,
                                        hearth_error *err);

/* Hints for the allocations of a trace: those of a profile's plan, by stack. */

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
