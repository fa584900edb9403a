/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Binary search for a place among a function's frames, then the discriminator. Frames of an inlined call are tried from
 * the innermost outwards until one has contexts; a leaf is read from the profile once and kept. Of its contexts those
 * that agree with the outer frames are selected (trim.c), up to where a cycle makes frames incomparable. */
#include "match.h"

#include <stdlib.h>
#include <string.h>

#include "hearth/expect.h"
#include "salvage.h"

/* Frames of a function are sorted by line, then column: those of one place, of any discriminator, are neighbours. */
static hearth_status lower_bound(hearth_profile *profile, hearth_row_range in, uint32_t line, uint64_t column,
                                 uint32_t *ret, hearth_error *err) {
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

/* Rows of the frames at a place, those with the discriminator of the location if there are any. Else they are another
 * call's, and a call that never ran must not inherit its neighbour's hint; unless there is no neighbour, or the profile
 * knows no discriminators there (other flags): then the place is all there is. */
static hearth_status frames_at(hearth_profile *profile, const hearth_location *place, hearth_row_range *ret,
                               hearth_error *err) {
  uint32_t row;
  hearth_function_info function;
  if (!place->id)
    return HEARTH_E_NOT_FOUND;
  HEARTH_TRY(hearth_profile_find_function(profile, place->function, &row, err));
  HEARTH_TRY(hearth_profile_get_function(profile, row, &function, err));
  hearth_row_range all = {function.first_frame, function.first_frame + function.frame_count}, here;
  HEARTH_TRY(lower_bound(profile, all, place->line, place->column, &here.first, err));
  HEARTH_TRY(lower_bound(profile, all, place->line, (uint64_t)place->column + 1, &here.end, err));

  hearth_row_range exact = {here.end, here.end};
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
  *ret = exact.first < exact.end || (told_apart && !place->alone) ? exact : here;
  return ret->first < ret->end ? HEARTH_OK : HEARTH_E_NOT_FOUND;
}

hearth_matcher *hearth_matcher_create(void) { return calloc(1, sizeof(hearth_matcher)); }

void hearth_matcher_destroy(hearth_matcher *matcher) {
  if (matcher)
    hearth_matcher_close(matcher);
  free(matcher);
}

static hearth_status match_open_profile(hearth_matcher *matcher, const char *path, const hearth_pass_options *options,
                                        hearth_error *err) {
  HEARTH_TRY(hearth_profile_open(path, &matcher->profile, err));
  HEARTH_TRY(hearth_placer_init(&matcher->placer, matcher->profile, options->by_plan, &options->classify, err));
  HEARTH_TRY(hearth_stacks_init(&matcher->stacks, matcher->profile, err));
  matcher->path = strdup(path);
  matcher->leaves = calloc((size_t)hearth_profile_frame_count(matcher->profile) + 1, sizeof *matcher->leaves);
  matcher->matched = calloc((size_t)hearth_profile_context_count(matcher->profile) + 1, sizeof *matcher->matched);
  return matcher->path && matcher->leaves && matcher->matched ? HEARTH_OK : hearth_error_nomem(err);
}

hearth_status hearth_matcher_open(hearth_matcher *matcher, const char *path, const hearth_pass_options *options,
                                  hearth_error *err) {
  if (!matcher->profile || strcmp(matcher->path, path) != 0) {
    hearth_matcher_close(matcher);
    hearth_status status = match_open_profile(matcher, path, options, err);
    if (status != HEARTH_OK) {
      hearth_matcher_close(matcher);
      return status;
    }
  }
  matcher->trims = !options->full_contexts;
  return HEARTH_OK;
}

void hearth_matcher_close(hearth_matcher *matcher) {
  hearth_leaf *leaf, *next;
  for (leaf = matcher->first_leaf; leaf; leaf = next) {
    next = leaf->next;
    hearth_leaf_destroy(leaf);
  }
  free(matcher->leaves);
  free(matcher->matched);
  hearth_salvage_destroy(matcher->salvage);
  hearth_call_sites_free(&matcher->crowded);
  hearth_stacks_destroy(&matcher->stacks);
  hearth_profile_close(matcher->profile);
  free(matcher->path);
  memset(matcher, 0, sizeof *matcher);
}

/* The leaf of these frames, read when it is first asked for. */
static hearth_status match_leaf_of(hearth_matcher *matcher, hearth_row_range frames, hearth_leaf **ret,
                                   hearth_error *err) {
  hearth_expect(frames.first < frames.end && frames.end <= hearth_profile_frame_count(matcher->profile));
  for (*ret = matcher->leaves[frames.first]; *ret; *ret = (*ret)->of_same_first)
    if ((*ret)->frames.end == frames.end)
      return HEARTH_OK;
  HEARTH_TRY(hearth_leaf_read(frames, &matcher->stacks, &matcher->placer, matcher->matched, ret, err));
  (*ret)->next = matcher->first_leaf;
  (*ret)->of_same_first = matcher->leaves[frames.first];
  matcher->first_leaf = *ret;
  matcher->leaves[frames.first] = *ret;
  return HEARTH_OK;
}

/* Did folding leave out the call at this place? */
static hearth_status was_left_out(const hearth_matcher *matcher, const hearth_location *place, bool *ret,
                                  hearth_error *err) {
  hearth_row_range frames;
  *ret = false;
  hearth_status status = frames_at(matcher->profile, place, &frames, err);
  if (status == HEARTH_OK)
    status = hearth_stacks_left_out(&matcher->stacks, frames.first, ret, err);
  return status;
}

/* Can callees of chain[0] call the caller chain[2]? */
static hearth_status comes_back(const hearth_matcher *matcher, hearth_leaf *leaf, const hearth_location *chain,
                                bool *ret, hearth_error *err) {
  uint32_t callee, caller;
  *ret = false;
  HEARTH_TRY(hearth_profile_find_function(matcher->profile, chain[0].function, &callee, err));
  HEARTH_TRY(hearth_profile_find_function(matcher->profile, chain[2].function, &caller, err));
  return hearth_leaf_leads_to(leaf, callee, caller, ret, err);
}

/* How far the contexts of a leaf, chain[0], can be compared with the chain. Where callees of chain[i - 1] can call
 * the caller of chain[i - 1], there is a cycle: an earlier call by chain[i - 1] may be the one that folding kept,
 * and its caller then stands where chain[i] is here. So it is, if chain[i - 1] calls through a pointer, where
 * folding left out chain[i]. */
static hearth_status comparable(const hearth_matcher *matcher, hearth_leaf *leaf, const hearth_location *chain,
                                size_t n, size_t *ret, hearth_error *err) {
  for (*ret = 2; *ret < n; ++*ret) {
    bool cycle = false;
    hearth_status status = comes_back(matcher, leaf, chain + *ret - 2, &cycle, err);
    if (!cycle && (status == HEARTH_OK || status == HEARTH_E_NOT_FOUND))
      status = was_left_out(matcher, &chain[*ret], &cycle, err);
    if (status != HEARTH_OK && status != HEARTH_E_NOT_FOUND)
      return status;
    if (cycle)
      return HEARTH_OK;
  }
  *ret = n;
  return HEARTH_OK;
}

/* The contexts of the leaf chain[0]. */
static hearth_status match_leaf(hearth_matcher *matcher, const hearth_location *chain, size_t n, hearth_contexts *ret,
                                size_t *ret_end, hearth_error *err) {
  hearth_row_range frames;
  hearth_leaf *leaf;
  uint64_t callers[HEARTH_CHAIN_MAX];
  HEARTH_TRY(frames_at(matcher->profile, chain, &frames, err));
  HEARTH_TRY(match_leaf_of(matcher, frames, &leaf, err));
  HEARTH_TRY(comparable(matcher, leaf, chain, n, ret_end, err));
  hearth_expect(*ret_end <= HEARTH_CHAIN_MAX);
  for (size_t i = 1; i < *ret_end; i++)
    callers[i - 1] = chain[i].id;
  HEARTH_TRY(hearth_leaf_select(leaf, callers, *ret_end - 1, matcher->trims, ret, err));
  return ret->count ? HEARTH_OK : HEARTH_E_NOT_FOUND;
}

hearth_status hearth_match_allocation(hearth_matcher *matcher, const hearth_location *chain, size_t n,
                                      hearth_contexts *ret, size_t *ret_leaf, size_t *ret_end, hearth_error *err) {
  for (size_t leaf = 0; leaf < n; leaf++) {
    hearth_contexts found = {0};
    size_t length;
    hearth_status status = match_leaf(matcher, chain + leaf, n - leaf, &found, &length, err);
    if (status == HEARTH_OK) {
      *ret = found;
      *ret_leaf = leaf;
      *ret_end = leaf + length;
      return HEARTH_OK;
    }
    hearth_contexts_free(&found);
    if (status != HEARTH_E_NOT_FOUND)
      return status;
  }
  return HEARTH_E_NOT_FOUND;
}

hearth_status hearth_match_frame(hearth_profile *profile, const hearth_call_sites *sites, uint64_t function,
                                 uint32_t row, const hearth_frame_info *frame, bool *ret, hearth_error *err) {
  size_t first = hearth_call_sites_from(sites, function, frame->line, frame->column);
  size_t end = hearth_call_sites_from(sites, function, frame->line, frame->column + 1);
  bool alone = true;
  for (size_t i = first + 1; i < end; i++)
    alone &= sites->items[i].discriminator == sites->items[first].discriminator;
  *ret = false;
  for (size_t i = first; i < end && !*ret; i++) {
    hearth_location place = {.function = function,
                             .line = frame->line,
                             .column = frame->column,
                             .discriminator = sites->items[i].discriminator,
                             .alone = alone,
                             .id = frame->stack_id};
    hearth_row_range rows;
    hearth_status status = frames_at(profile, &place, &rows, err);
    if (status != HEARTH_OK && status != HEARTH_E_NOT_FOUND)
      return status;
    *ret = status == HEARTH_OK && rows.first <= row && row < rows.end;
    if (alone)
      break;
  }
  return HEARTH_OK;
}

hearth_status hearth_match_callsite(const hearth_matcher *matcher, const hearth_location *chain, size_t n,
                                    hearth_error *err) {
  for (size_t i = 0; i < n; i++) {
    hearth_row_range rows;
    HEARTH_TRY(frames_at(matcher->profile, &chain[i], &rows, err));
  }
  return n ? HEARTH_OK : HEARTH_E_NOT_FOUND;
}
