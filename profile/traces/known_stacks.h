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

#endif
