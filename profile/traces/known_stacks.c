/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A stack's key is a hash from its root inwards, so that one pass over the nodes, callers first, has those of all stacks. */
#include "known_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "compare.h"
#include "hearth/hints.h"
#include "hearth/ids.h"
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
