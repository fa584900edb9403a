/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profile's call stacks with recursion folded: each cycle of calls kept once, as profiles are written that fold it
 * themselves. So profiles of either kind give the same contexts, and a chain of inlined frames can be compared with
 * them. Equal stacks are one node, and a node is made when a stack that needs it is first asked for. */
#ifndef HEARTH_FOLDED_STACKS_H
#define HEARTH_FOLDED_STACKS_H

#include "hearth/profile.h"
#include "id_table.h"

typedef struct hearth_stack_node {
  uint64_t id;       /* stack id; 0 if the frame's place is unknown */
  uint32_t caller;   /* node, lower than this one; or HEARTH_NONE */
  uint32_t frame;    /* row of the profile; that of the first such frame that was seen */
  uint32_t function; /* row */
} hearth_stack_node;

typedef struct hearth_stacks {
  hearth_profile *profile; /* borrowed */
  enum hearth_id_scheme scheme;
  bool llvm_ids;
  hearth_stack_node *nodes;
  size_t count, room;
  id_table by_call;          /* nodes by caller and place */
  uint32_t *folded;          /* of each node of the profile: its folded node + 1; 0 unknown yet */
  hearth_stack_node *frames; /* of each frame of the profile: `id` and `function`; in `caller`, its kind */
  uint8_t *comes_back;       /* of each function: see hearth_stacks_comes_back; 0: not looked up yet */
  bool *left_out;            /* of each frame: folding here left it out of a stack */
  uint32_t *path;            /* scratch */
  size_t path_room;
} hearth_stacks;

/* `llvm_ids`: stack ids are LLVM's own (hearth_shim_llvm_stack_id). Tables as large as the profile are memory that is not
 * touched before it is needed. E_NOMEM. Destroy in any case. */
hearth_status hearth_stacks_init(hearth_stacks *stacks, hearth_profile *profile, bool llvm_ids, hearth_error *err);
void hearth_stacks_destroy(hearth_stacks *stacks);

/* The folded stack of a node of the profile. */
hearth_status hearth_stacks_fold(hearth_stacks *stacks, uint32_t node, uint32_t *ret, hearth_error *err);

/* Has folding left out calls that the function (a row) makes, here or as the profile was written? Its caller in a folded
 * stack may then have called it again, by way of these, before it made the call that the stack shows. */
hearth_status hearth_stacks_comes_back(hearth_stacks *stacks, uint32_t function, bool *ret, hearth_error *err);

/* Has folding left out the call at the place of this frame (a row) between two calls at one other place, here or as the profile
 * was written? The second one of these then came by it, whoever is its caller in the folded stack. */
hearth_status hearth_stacks_left_out(const hearth_stacks *stacks, uint32_t frame, bool *ret, hearth_error *err);

#endif
