/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which placements a recorded run asked for (HEARTH_MALLOC=verify), beside those that the plan has for the whole stacks. */
#ifndef HEARTH_PLACED_STACKS_H
#define HEARTH_PLACED_STACKS_H

#include "hearth/plan.h"

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

/* Of each context of the recording, in its order; *ret is malloc'd. Errors: E_EMPTY (the profile's plan has no placements,
 * or no allocation of the recording has a hint), E_NOMEM, and those of reading. */
hearth_status hearth_placed_stacks_read(hearth_profile *profile, hearth_profile *recording, hearth_placed_stack **ret,
                                        hearth_error *err);

#endif
