/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A stack's key is a hash from its root inwards, so that one pass over the nodes, callers first, has those of all stacks.
 * Scopes are no part of it: the innermost one that names a hint tells the hint. Of a recorded stack the innermost frames,
 * those of the adapter and of functions that the compiler made, are passed over until the profile knows the rest. */
#include "placed_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "compare.h"
#include "hearth/hints.h"
#include "hearth/ids.h"
#include "search.h"

enum { PASSED_OVER = 8, NO_HINT = -1, COLD_BELOW = 64 /* the adapter's */ };

/* What leads to a node. */
typedef struct way {
  uint64_t key;
  uint32_t caller;
  int hint;
} way;

typedef struct known_stack {
  uint64_t key;
  hearth_placement placement;
} known_stack;

typedef struct comparison {
  known_stack *known; /* by key */
  size_t known_count;
  way *ways; /* of the recording, by node */
  hearth_error *err;
} comparison;

static int hint_of_scope(const char *name, int outer) {
  size_t prefix = strlen(HEARTH_HINT_SCOPE);
  if (strncmp(name, HEARTH_HINT_SCOPE, prefix) != 0 || strlen(name) != prefix + 3)
    return outer;
  int hint = atoi(name + prefix);
  return hint <= UINT8_MAX ? hint : outer;
}

static hearth_status read_way(hearth_profile *profile, uint32_t node, way *ways, hearth_error *err) {
  const way root = {.key = 1, .hint = NO_HINT};
  hearth_frame_info frame;
  hearth_function_info function;
  char path[HEARTH_PATH_LIMIT];
  uint32_t row, caller;
  HEARTH_TRY(hearth_profile_get_stack(profile, node, &row, &caller, err));
  HEARTH_TRY(hearth_profile_get_frame(profile, row, &frame, err));
  HEARTH_TRY(hearth_profile_get_function(profile, frame.function, &function, err));
  HEARTH_TRY(hearth_profile_get_path(profile, function.path, path, sizeof path, err));
  ways[node] = caller == HEARTH_NONE ? root : ways[caller];
  ways[node].caller = caller;
  if (strcmp(path, HEARTH_SCOPE_FILE) == 0)
    ways[node].hint = hint_of_scope(function.name, ways[node].hint);
  else
    ways[node].key = (ways[node].key ^ frame.stack_id) * UINT64_C(0x9e3779b97f4a7c15) + 1;
  return HEARTH_OK;
}

/* Callers are lower than callees. */
static hearth_status read_ways(hearth_profile *profile, way **ret, hearth_error *err) {
  uint32_t count = hearth_profile_stack_count(profile);
  HEARTH_TRY(hearth_array_create(ret, count, sizeof **ret, err));
  for (uint32_t node = 0; node < count; node++)
    HEARTH_TRY(read_way(profile, node, *ret, err));
  return HEARTH_OK;
}

static hearth_status learn(comparison *c, hearth_profile *profile, const hearth_plan *plan) {
  way *ways = NULL;
  uint32_t count = hearth_profile_context_count(profile);
  hearth_status status = read_ways(profile, &ways, c->err);
  if (status == HEARTH_OK)
    status = hearth_array_create(&c->known, count, sizeof *c->known, c->err);
  for (uint32_t i = 0, node; status == HEARTH_OK && i < count; i++) {
    status = hearth_profile_get_context(profile, i, &node, NULL, c->err);
    if (status == HEARTH_OK)
      c->known[c->known_count++] = (known_stack){ways[node].key, hearth_plan_placement_of(plan, i)};
  }
  free(ways);
  if (status == HEARTH_OK && count)
    qsort(c->known, count, sizeof *c->known, hearth_compare_u64);
  return status;
}

/* *node: past the frames that are passed over. */
static const known_stack *find(const comparison *c, uint32_t *node) {
  uint32_t from = *node;
  for (int i = 0; i <= PASSED_OVER && from != HEARTH_NONE; i++, from = c->ways[from].caller) {
    const uint64_t *key = &c->ways[from].key;
    size_t at = hearth_lower_bound(key, c->known, c->known_count, sizeof *c->known, hearth_compare_u64);
    if (at == c->known_count || c->known[at].key != *key)
      continue;
    *node = from;
    return &c->known[at];
  }
  return NULL;
}

/* As the adapter reads it. */
static hearth_placement placement_of(int hint) {
  if (hint == NO_HINT || (hint >= COLD_BELOW && hint < HEARTH_HINT_POOL))
    return HEARTH_CLASS_NOTCOLD;
  if (hint < COLD_BELOW)
    return HEARTH_CLASS_COLD;
  return (hearth_placement)(hint < HEARTH_HINT_HOT ? HEARTH_PLACEMENT_POOL + hint - HEARTH_HINT_POOL
                                                   : HEARTH_CLASS_HOT);
}

static hearth_placing judge(const known_stack *known, hearth_placement asked) {
  if (!known)
    return HEARTH_PLACING_UNKNOWN;
  if (known->placement == HEARTH_CLASS_UNKNOWN || known->placement == asked)
    return HEARTH_PLACING_RIGHT;
  return asked == HEARTH_CLASS_NOTCOLD ? HEARTH_PLACING_NEUTRAL : HEARTH_PLACING_WRONG;
}

static hearth_status compare(comparison *c, hearth_profile *recording, hearth_placed_stack **ret) {
  uint32_t count = hearth_profile_context_count(recording);
  bool any_hint = false;
  HEARTH_TRY(read_ways(recording, &c->ways, c->err));
  HEARTH_TRY(hearth_array_create(ret, count, sizeof **ret, c->err));
  for (uint32_t i = 0; i < count; i++) {
    hearth_placed_stack *stack = &(*ret)[i];
    hearth_mib mib;
    HEARTH_TRY(hearth_profile_get_context(recording, i, &stack->node, &mib, c->err));
    stack->context = i;
    stack->hint = c->ways[stack->node].hint;
    const known_stack *known = find(c, &stack->node);
    stack->placing = judge(known, placement_of(stack->hint));
    stack->placement = known ? known->placement : (hearth_placement)HEARTH_CLASS_UNKNOWN;
    stack->blocks = mib.AllocCount;
    stack->bytes = mib.TotalSize;
    any_hint |= stack->hint != NO_HINT;
  }
  return any_hint ? HEARTH_OK
                  : hearth_error_set(c->err, HEARTH_E_EMPTY,
                                     "no allocation of the recording has a hint: record a program that was compiled "
                                     "with the profile, by HEARTH_HOTCOLD=verify hearth record");
}

hearth_status hearth_placed_stacks_read(hearth_profile *profile, hearth_profile *recording, hearth_placed_stack **ret,
                                        hearth_error *err) {
  comparison c = {.err = err};
  hearth_plan plan;
  *ret = NULL;
  HEARTH_TRY(hearth_profile_get_plan(profile, &plan, err));
  if (plan.context_count == 0)
    return hearth_error_set(err, HEARTH_E_EMPTY, "the profile's plan has no placements: make one by 'hearth plan'");
  hearth_status status = learn(&c, profile, &plan);
  if (status == HEARTH_OK)
    status = compare(&c, recording, ret);
  free(c.known);
  free(c.ways);
  if (status != HEARTH_OK) {
    free(*ret);
    *ret = NULL;
  }
  return status;
}
