/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A stack is folded from the root on. If a frame's place is among its callers already, the stack goes on as it was
 * there, and the functions of the callers between are noted as coming back. Equal stacks are one node, by a hash table
 * of caller and place. */
#include "match.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/expect.h"

hearth_status hearth_stacks_init(hearth_stacks *stacks, hearth_profile *profile, hearth_error *err) {
  *stacks = (hearth_stacks){.profile = profile};
  stacks->folded = calloc((size_t)hearth_profile_stack_count(profile) + 1, sizeof *stacks->folded);
  stacks->frames = calloc((size_t)hearth_profile_frame_count(profile) + 1, sizeof *stacks->frames);
  stacks->comes_back = calloc((size_t)hearth_profile_function_count(profile) + 1, sizeof *stacks->comes_back);
  stacks->left_out = calloc((size_t)hearth_profile_frame_count(profile) + 1, sizeof *stacks->left_out);
  bool ok = stacks->folded && stacks->frames && stacks->comes_back && stacks->left_out;
  return ok ? HEARTH_OK : hearth_error_nomem(err);
}

void hearth_stacks_destroy(hearth_stacks *stacks) {
  free(stacks->nodes);
  free(stacks->by_call.slots);
  free(stacks->folded);
  free(stacks->frames);
  free(stacks->comes_back);
  free(stacks->left_out);
  free(stacks->path);
  memset(stacks, 0, sizeof *stacks);
}

/* The kind of a frame of the profile, in `caller`; 0: not known yet. */
enum { PLACE = 1, NAME = 2 };

/* Frames of one place are one, whatever else the profile tells them apart by; each unknown place is one of its own. */
static bool folded_stack_same_place(const hearth_stack_node *a, const hearth_stack_node *b) {
  return a->id == b->id && (a->id || a->frame == b->frame);
}

static bool is_same_call(const void *owner, uint32_t item, const void *key) {
  const hearth_stack_node *known = &((const hearth_stacks *)owner)->nodes[item], *node = key;
  return known->caller == node->caller && folded_stack_same_place(known, node);
}

/* Ids are hashes; rows of frames are in the lower half. */
static uint64_t hash_of(const hearth_stack_node *node) {
  return id_table_mix((node->id ? node->id : node->frame) ^ (uint64_t)node->caller << 32);
}

/* The node, made unless there is one; HEARTH_NONE: out of memory. */
static uint32_t folded_stack_intern(hearth_stacks *stacks, const hearth_stack_node *node) {
  hearth_expect(node->caller == HEARTH_NONE || node->caller < stacks->count);
  uint64_t hash = hash_of(node);
  uint32_t found = id_table_find(&stacks->by_call, hash, is_same_call, stacks, node);
  if (found != HEARTH_NONE)
    return found;
  if (!id_table_reserve(&stacks->by_call) ||
      !hearth_array_grow(&stacks->nodes, &stacks->room, stacks->count, sizeof *stacks->nodes))
    return HEARTH_NONE;
  stacks->nodes[stacks->count] = *node;
  id_table_insert(&stacks->by_call, hash, (uint32_t)stacks->count);
  return (uint32_t)stacks->count++;
}

/* Known by a name alone: scopes that the program named are no callers; functions without debug information are, but
 * are in no chain of calls that is to be matched. */
static hearth_status is_only_named(const hearth_stacks *stacks, const hearth_frame_info *frame, bool *ret,
                                   hearth_error *err) {
  hearth_function_info function;
  *ret = false;
  if (frame->line != HEARTH_LINE_UNKNOWN)
    return HEARTH_OK;
  HEARTH_TRY(hearth_profile_get_function(stacks->profile, frame->function, &function, err));
  *ret = function.start_line == 0;
  return HEARTH_OK;
}

static hearth_status folded_stack_place_of(hearth_stacks *stacks, uint32_t row, hearth_stack_node *ret,
                                           hearth_error *err) {
  hearth_stack_node *known = &stacks->frames[row];
  if (!known->caller) {
    hearth_frame_info frame;
    bool only_named;
    HEARTH_TRY(hearth_profile_get_frame(stacks->profile, row, &frame, err));
    HEARTH_TRY(is_only_named(stacks, &frame, &only_named, err));
    *known = (hearth_stack_node){
        .id = frame.stack_id, .caller = only_named ? NAME : PLACE, .frame = row, .function = frame.function};
  }
  *ret = *known;
  return HEARTH_OK;
}

/* In `comes_back`. */
enum { NEVER = 1, COMES_BACK = 2 };

/* The node at or above `caller` with the same place, which the stack goes on as; HEARTH_NONE if there is none. */
static uint32_t fold_to(hearth_stacks *stacks, uint32_t caller, const hearth_stack_node *node) {
  uint32_t same = caller;
  while (same != HEARTH_NONE && !folded_stack_same_place(&stacks->nodes[same], node))
    same = stacks->nodes[same].caller;
  for (uint32_t folded = caller; same != HEARTH_NONE && folded != same; folded = stacks->nodes[folded].caller) {
    stacks->comes_back[stacks->nodes[folded].function] = COMES_BACK;
    stacks->left_out[stacks->nodes[folded].frame] = true;
  }
  return same;
}

/* The folded stack of `row` called from the folded stack `caller`. */
static hearth_status folded_stack_call(hearth_stacks *stacks, uint32_t caller, uint32_t row, uint32_t *ret,
                                       hearth_error *err) {
  hearth_stack_node node;
  HEARTH_TRY(folded_stack_place_of(stacks, row, &node, err));
  *ret = caller;
  if (node.caller == NAME)
    return HEARTH_OK;
  if ((*ret = fold_to(stacks, caller, &node)) != HEARTH_NONE)
    return HEARTH_OK;
  node.caller = caller;
  *ret = folded_stack_intern(stacks, &node);
  return *ret == HEARTH_NONE ? hearth_error_nomem(err) : HEARTH_OK;
}

hearth_status hearth_stacks_fold(hearth_stacks *stacks, uint32_t node, uint32_t *ret, hearth_error *err) {
  size_t steps = 0;
  uint32_t row, caller, folded = HEARTH_NONE;
  /* Towards the root, as far as nothing is known yet; then back, from callers to callees. */
  for (; node != HEARTH_NONE; node = caller) {
    HEARTH_TRY(hearth_profile_get_stack(stacks->profile, node, &row, &caller, err));
    if (stacks->folded[node]) {
      folded = stacks->folded[node] - 1;
      break;
    }
    if (!hearth_array_grow(&stacks->path, &stacks->path_room, steps, sizeof *stacks->path))
      return hearth_error_nomem(err);
    stacks->path[steps++] = node;
  }
  while (steps > 0) {
    node = stacks->path[--steps];
    HEARTH_TRY(hearth_profile_get_stack(stacks->profile, node, &row, &caller, err));
    HEARTH_TRY(folded_stack_call(stacks, folded, row, &folded, err));
    stacks->folded[node] = folded + 1;
  }
  hearth_expect(folded == HEARTH_NONE || folded < stacks->count);
  *ret = folded;
  return HEARTH_OK;
}

hearth_status hearth_stacks_comes_back(hearth_stacks *stacks, uint32_t function, bool *ret, hearth_error *err) {
  uint8_t *known = &stacks->comes_back[function];
  hearth_function_info info = {0};
  bool folded = false;
  if (!*known)
    HEARTH_TRY(hearth_profile_get_function(stacks->profile, function, &info, err));
  for (uint32_t i = 0; i < info.frame_count && !folded; i++) {
    hearth_frame_info frame;
    HEARTH_TRY(hearth_profile_get_frame(stacks->profile, info.first_frame + i, &frame, err));
    folded = frame.in_cycle;
  }
  if (!*known)
    *known = folded ? COMES_BACK : NEVER;
  *ret = *known == COMES_BACK;
  return HEARTH_OK;
}

hearth_status hearth_stacks_left_out(const hearth_stacks *stacks, uint32_t frame, bool *ret, hearth_error *err) {
  hearth_frame_info known, other;
  hearth_function_info function;
  HEARTH_TRY(hearth_profile_get_frame(stacks->profile, frame, &known, err));
  HEARTH_TRY(hearth_profile_get_function(stacks->profile, known.function, &function, err));
  *ret = known.recursive || stacks->left_out[frame];
  for (uint32_t i = 0; i < function.frame_count && known.stack_id && !*ret; i++) {
    uint32_t row = function.first_frame + i;
    HEARTH_TRY(hearth_profile_get_frame(stacks->profile, row, &other, err));
    *ret = other.stack_id == known.stack_id && (other.recursive || stacks->left_out[row]);
  }
  return HEARTH_OK;
}
