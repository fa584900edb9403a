#include "match.h"

#include <stdlib.h>
#include <string.h>

typedef struct row_range {
  uint32_t first, end;
} row_range;

/* Frames of a function are sorted by line, then column: those of one place, of any discriminator, are neighbours. */
static hearth_status lower_bound(hearth_profile *profile, row_range in, uint32_t line, uint64_t column, uint32_t *ret,
                                 hearth_error *err) {
  while (in.first < in.end) {
    hearth_frame_info frame;
    uint32_t middle = in.first + (in.end - in.first) / 2;
    HEARTH_TRY(hearth_profile_get_frame(profile, middle, &frame, err));
    if (frame.line < line || (frame.line == line && frame.column < column))
      in.first = middle + 1;
    else
      in.end = middle;
  }
  *ret = in.first;
  return HEARTH_OK;
}

/* Rows of the frames at a place. Where the profile tells several apart by discriminators, only those with that of the
 * location: it is another call's row otherwise, and a call that never ran must not inherit its neighbour's hint. Where it
 * knows no discriminators there (other flags or another release than now), the place is all there is. */
static hearth_status frames_at(hearth_profile *profile, const hearth_location *place, row_range *ret,
                               hearth_error *err) {
  uint32_t row;
  hearth_function_info function;
  if (!place->id)
    return HEARTH_E_NOT_FOUND;
  HEARTH_TRY(hearth_profile_find_function(profile, place->function, &row, err));
  HEARTH_TRY(hearth_profile_get_function(profile, row, &function, err));
  row_range all = {function.first_frame, function.first_frame + function.frame_count}, here;
  HEARTH_TRY(lower_bound(profile, all, place->line, place->column, &here.first, err));
  HEARTH_TRY(lower_bound(profile, all, place->line, (uint64_t)place->column + 1, &here.end, err));

  row_range exact = {here.end, here.end};
  bool told_apart = false;
  for (row = here.first; row < here.end; row++) {
    hearth_frame_info frame;
    HEARTH_TRY(hearth_profile_get_frame(profile, row, &frame, err));
    told_apart |= frame.discriminator != 0;
    if (frame.discriminator == place->discriminator) {
      exact.first = exact.first < row ? exact.first : row;
      exact.end = row + 1;
    }
  }
  *ret = told_apart ? exact : here;
  return ret->first < ret->end ? HEARTH_OK : HEARTH_E_NOT_FOUND;
}

hearth_status hearth_match_stack_ids(hearth_profile *profile, uint32_t leaf, uint64_t **ret, size_t *ret_depth,
                                     hearth_error *err) {
  uint32_t node, frame_row;
  size_t depth = 0;
  for (node = leaf; node != HEARTH_NONE; depth++)
    HEARTH_TRY(hearth_profile_get_stack(profile, node, &frame_row, &node, err));
  if (depth == 0)
    return hearth_error_set(err, HEARTH_E_CORRUPT, "a context has no frames");
  uint64_t *ids = malloc(depth * sizeof *ids);
  if (!ids)
    return hearth_error_set(err, HEARTH_E_NOMEM, "out of memory");
  node = leaf;
  for (size_t i = 0; i < depth; i++) {
    hearth_frame_info frame;
    hearth_status status = hearth_profile_get_stack(profile, node, &frame_row, &node, err);
    if (status == HEARTH_OK)
      status = hearth_profile_get_frame(profile, frame_row, &frame, err);
    if (status != HEARTH_OK) {
      free(ids);
      return status;
    }
    if (i > 0)
      ids[i - 1] = frame.stack_id;
  }
  *ret = ids;
  *ret_depth = depth - 1;
  return HEARTH_OK;
}

/* Room for one more: both arrays grow when their common count is a power of two. */
static bool reserve_one(hearth_contexts *contexts) {
  size_t count = contexts->stack_count;
  if (count & (count - 1))
    return true;
  size_t room = count ? count * 2 : 1;
  hearth_context *items = realloc(contexts->items, room * sizeof *items);
  if (items)
    contexts->items = items;
  uint64_t **stacks = realloc(contexts->stacks, room * sizeof *stacks);
  if (stacks)
    contexts->stacks = stacks;
  return items && stacks;
}

/* Does the stack of `leaf` agree with the callers? Looks no further than the first that does not: of the many contexts of
 * a common helper, few are those of one place it was inlined to. */
static hearth_status stack_agrees(hearth_profile *profile, uint32_t leaf, const hearth_location *callers, size_t n,
                                  bool *ret, hearth_error *err) {
  uint32_t node, frame_row;
  *ret = true;
  HEARTH_TRY(hearth_profile_get_stack(profile, leaf, &frame_row, &node, err));
  for (size_t i = 0; i < n && node != HEARTH_NONE && *ret; i++) {
    hearth_frame_info frame;
    HEARTH_TRY(hearth_profile_get_stack(profile, node, &frame_row, &node, err));
    if (!callers[i].id)
      continue;
    HEARTH_TRY(hearth_profile_get_frame(profile, frame_row, &frame, err));
    /* A frame of unknown place (id 0), here or in the profile, may be any: it must not rule a context out. */
    *ret = !frame.stack_id || frame.stack_id == callers[i].id;
  }
  return HEARTH_OK;
}

/* Contexts of one leaf frame that agree with its callers. */
static hearth_status add_contexts(const hearth_matcher *matcher, uint32_t frame_row, const hearth_location *callers,
                                  size_t n, hearth_contexts *contexts, hearth_error *err) {
  hearth_frame_info frame;
  HEARTH_TRY(hearth_profile_get_frame(matcher->profile, frame_row, &frame, err));
  for (uint32_t i = 0; i < frame.context_count; i++) {
    uint32_t leaf, row = frame.first_context + i;
    hearth_context context;
    bool agrees;
    HEARTH_TRY(hearth_profile_get_context(matcher->profile, row, &leaf, NULL, err));
    HEARTH_TRY(stack_agrees(matcher->profile, leaf, callers, n, &agrees, err));
    if (!agrees)
      continue;
    if (!reserve_one(contexts))
      return hearth_error_set(err, HEARTH_E_NOMEM, "out of memory");
    HEARTH_TRY(hearth_profile_get_context(matcher->profile, row, &leaf, &context.mib, err));
    HEARTH_TRY(hearth_match_stack_ids(matcher->profile, leaf, &context.stack, &context.depth, err));
    context.hotness = hearth_classify(&matcher->classifier, &context.mib);
    contexts->stacks[contexts->stack_count++] = context.stack;
    contexts->items[contexts->count++] = context;
  }
  return HEARTH_OK;
}

void hearth_contexts_free(hearth_contexts *contexts) {
  for (size_t i = 0; i < contexts->stack_count; i++)
    free(contexts->stacks[i]);
  free(contexts->stacks);
  free(contexts->items);
  memset(contexts, 0, sizeof *contexts);
}

hearth_status hearth_match_allocation(const hearth_matcher *matcher, const hearth_location *chain, size_t n,
                                      hearth_contexts *ret, size_t *ret_leaf, hearth_error *err) {
  hearth_contexts found = {0};
  hearth_status status = HEARTH_E_NOT_FOUND;
  for (size_t leaf = 0; leaf < n && status == HEARTH_E_NOT_FOUND; leaf++) {
    row_range rows;
    status = frames_at(matcher->profile, &chain[leaf], &rows, err);
    for (uint32_t row = rows.first; status == HEARTH_OK && row < rows.end; row++)
      status = add_contexts(matcher, row, chain + leaf + 1, n - leaf - 1, &found, err);
    if (status == HEARTH_OK && found.count == 0)
      status = HEARTH_E_NOT_FOUND;
    if (status == HEARTH_OK)
      *ret_leaf = leaf;
  }
  if (status == HEARTH_OK)
    *ret = found;
  else
    hearth_contexts_free(&found);
  return status;
}

hearth_status hearth_match_callsite(const hearth_matcher *matcher, const hearth_location *chain, size_t n,
                                    hearth_error *err) {
  for (size_t i = 0; i < n; i++) {
    row_range rows;
    HEARTH_TRY(frames_at(matcher->profile, &chain[i], &rows, err));
  }
  return n ? HEARTH_OK : HEARTH_E_NOT_FOUND;
}
