/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A stack's key is a hash from its root inwards, so that one pass over the nodes, callers first, has those of all stacks. */
#include "known_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "compare.h"
#include "hearth/hints.h"
#include "hearth/ids.h"
#include "hearth/trace_stack_keys.h"
#include "search.h"

static int hint_of_scope(const char *name, int outer) {
  size_t prefix = strlen(HEARTH_HINT_SCOPE);
  if (strncmp(name, HEARTH_HINT_SCOPE, prefix) != 0 || strlen(name) != prefix + 3)
    return outer;
  int hint = atoi(name + prefix);
  return hint <= UINT8_MAX ? hint : outer;
}

/* Functions without debug information have no stack id of their own in profiles: here their names part them. */
static hearth_status read_way(hearth_profile *profile, uint32_t node, hearth_stack_way *ways, hearth_error *err) {
  const hearth_stack_way root = {.key = HEARTH_STACK_KEY_ROOT, .hint = HEARTH_NO_HINT};
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
    ways[node].key = hearth_stack_key(ways[node].key, hearth_stack_id(function.id, frame.line, frame.column));
  return HEARTH_OK;
}

/* Callers are lower than callees. */
hearth_status hearth_stack_ways_read(hearth_profile *profile, hearth_stack_way **ret, hearth_error *err) {
  uint32_t count = hearth_profile_stack_count(profile);
  HEARTH_TRY(hearth_array_create(ret, count, sizeof **ret, err));
  for (uint32_t node = 0; node < count; node++)
    HEARTH_TRY(read_way(profile, node, *ret, err));
  return HEARTH_OK;
}

static hearth_status learn(hearth_known_stacks *known, hearth_profile *profile, const hearth_plan *plan,
                           hearth_error *err) {
  hearth_stack_way *ways = NULL;
  uint32_t count = hearth_profile_context_count(profile);
  hearth_status status = hearth_stack_ways_read(profile, &ways, err);
  if (status == HEARTH_OK)
    status = hearth_array_create(&known->rows, count, sizeof *known->rows, err);
  for (uint32_t i = 0, node; status == HEARTH_OK && i < count; i++) {
    status = hearth_profile_get_context(profile, i, &node, NULL, err);
    if (status == HEARTH_OK)
      known->rows[known->count++] = (hearth_known_stack){ways[node].key, hearth_plan_placement_of(plan, i)};
  }
  free(ways);
  return status;
}

hearth_status hearth_known_stacks_read(hearth_profile *profile, hearth_known_stacks *ret, hearth_error *err) {
  hearth_plan plan;
  *ret = (hearth_known_stacks){0};
  HEARTH_TRY(hearth_profile_get_plan(profile, &plan, err));
  if (plan.context_count == 0)
    return hearth_error_set(err, HEARTH_E_EMPTY, "the profile's plan has no placements: make one by 'hearth plan'");
  HEARTH_TRY(learn(ret, profile, &plan, err));
  if (ret->count)
    qsort(ret->rows, ret->count, sizeof *ret->rows, hearth_compare_u64);
  return HEARTH_OK;
}

const hearth_known_stack *hearth_known_stacks_find(const hearth_known_stacks *known, uint64_t key) {
  size_t at = hearth_lower_bound(&key, known->rows, known->count, sizeof *known->rows, hearth_compare_u64);
  return at < known->count && known->rows[at].key == key ? &known->rows[at] : NULL;
}

void hearth_known_stacks_free(hearth_known_stacks *known) {
  free(known->rows);
  *known = (hearth_known_stacks){0};
}

/* Of a recorded stack the innermost frames, those of the allocator and of functions that the compiler made, are passed over
 * until the profile knows the rest. */

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

static uint8_t hint_of(const hearth_known_stack *known) {
  static const uint8_t hints[] = {[HEARTH_CLASS_UNKNOWN] = HEARTH_HINT_NOTCOLD,
                                  [HEARTH_CLASS_COLD] = HEARTH_HINT_COLD,
                                  [HEARTH_CLASS_NOTCOLD] = HEARTH_HINT_NOTCOLD,
                                  [HEARTH_CLASS_HOT] = HEARTH_HINT_HOT};
  return known ? hearth_hint_of(known->placement, hints) : HEARTH_HINT_NOTCOLD;
}

static hearth_status find_hints(const hearth_known_stacks *known, const char *trace, hearth_trace_hints *hints,
                                hearth_error *err) {
  uint64_t *keys;
  HEARTH_TRY(hearth_trace_stack_keys(trace, NULL, &keys, &hints->count, err));
  hearth_status status = hearth_array_create(&hints->rows, hints->count, sizeof *hints->rows, err);
  for (size_t i = 0; status == HEARTH_OK && i < hints->count; i++) {
    const hearth_known_stack *stack = keys[i] ? hearth_known_stacks_find(known, keys[i]) : NULL;
    hints->rows[i] = hint_of(stack);
    hints->is_known_stack |= stack != NULL;
  }
  free(keys);
  return status;
}

hearth_status hearth_trace_hints_read(const char *profile, const char *trace, hearth_trace_hints *ret,
                                      hearth_error *err) {
  hearth_profile *opened;
  hearth_known_stacks known;
  *ret = (hearth_trace_hints){0};
  HEARTH_TRY(hearth_profile_open_stream(profile, &opened, err));
  hearth_status status = hearth_known_stacks_read(opened, &known, err);
  if (status == HEARTH_OK)
    status = find_hints(&known, trace, ret, err);
  hearth_known_stacks_free(&known);
  hearth_profile_close(opened);
  return status;
}

void hearth_trace_hints_free(hearth_trace_hints *hints) {
  free(hints->rows);
  *hints = (hearth_trace_hints){0};
}
