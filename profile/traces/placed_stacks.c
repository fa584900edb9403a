/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Of a recorded stack the innermost frames, those of the allocator and of functions that the compiler made, are passed over
 * until the profile knows the rest. */
#include "placed_stacks.h"

#include <stdlib.h>

#include "array.h"
#include "hearth/hints.h"
#include "known_stacks.h"

enum { PASSED_OVER = 8, COLD_BELOW = 64 /* the allocator's */ };

typedef struct comparison {
  hearth_known_stacks known;
  hearth_stack_way *ways; /* of the recording, by node */
  hearth_error *err;
} comparison;

/* *node: past the frames that are passed over. */
static const hearth_known_stack *find(const comparison *c, uint32_t *node) {
  uint32_t from = *node;
  for (int i = 0; i <= PASSED_OVER && from != HEARTH_NONE; i++, from = c->ways[from].caller) {
    const hearth_known_stack *known = hearth_known_stacks_find(&c->known, c->ways[from].key);
    if (!known)
      continue;
    *node = from;
    return known;
  }
  return NULL;
}

/* As the allocator reads it. */
static hearth_placement placement_of(int hint) {
  if (hint == HEARTH_NO_HINT || (hint >= COLD_BELOW && hint < HEARTH_HINT_POOL))
    return HEARTH_CLASS_NOTCOLD;
  if (hint < COLD_BELOW)
    return HEARTH_CLASS_COLD;
  return (hearth_placement)(hint < HEARTH_HINT_HOT ? HEARTH_PLACEMENT_POOL + hint - HEARTH_HINT_POOL
                                                   : HEARTH_CLASS_HOT);
}

static hearth_placing judge(const hearth_known_stack *known, hearth_placement asked) {
  if (!known)
    return HEARTH_PLACING_UNKNOWN;
  if (known->placement == HEARTH_CLASS_UNKNOWN || known->placement == asked)
    return HEARTH_PLACING_RIGHT;
  return asked == HEARTH_CLASS_NOTCOLD ? HEARTH_PLACING_NEUTRAL : HEARTH_PLACING_WRONG;
}

static hearth_status compare(comparison *c, hearth_profile *recording, hearth_placed_stack **ret) {
  uint32_t count = hearth_profile_context_count(recording);
  bool any_hint = false;
  HEARTH_TRY(hearth_stack_ways_read(recording, &c->ways, c->err));
  HEARTH_TRY(hearth_array_create(ret, count, sizeof **ret, c->err));
  for (uint32_t i = 0; i < count; i++) {
    hearth_placed_stack *stack = &(*ret)[i];
    hearth_mib mib;
    HEARTH_TRY(hearth_profile_get_context(recording, i, &stack->node, &mib, c->err));
    stack->context = i;
    stack->hint = c->ways[stack->node].hint;
    const hearth_known_stack *known = find(c, &stack->node);
    stack->placing = judge(known, placement_of(stack->hint));
    stack->placement = known ? known->placement : (hearth_placement)HEARTH_CLASS_UNKNOWN;
    stack->blocks = mib.AllocCount;
    stack->bytes = mib.TotalSize;
    any_hint |= stack->hint != HEARTH_NO_HINT;
  }
  return any_hint ? HEARTH_OK
                  : hearth_error_set(c->err, HEARTH_E_EMPTY,
                                     "no allocation of the recording has a hint: record a program that was compiled "
                                     "with the profile, by HEARTH_MALLOC=verify hearth record");
}

hearth_status hearth_placed_stacks_read(hearth_profile *profile, hearth_profile *recording, hearth_placed_stack **ret,
                                        hearth_error *err) {
  comparison c = {.err = err};
  *ret = NULL;
  hearth_status status = hearth_known_stacks_read(profile, &c.known, err);
  if (status == HEARTH_OK)
    status = compare(&c, recording, ret);
  hearth_known_stacks_free(&c.known);
  free(c.ways);
  if (status != HEARTH_OK) {
    free(*ret);
    *ret = NULL;
  }
  return status;
}
