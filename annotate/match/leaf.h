/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The contexts of one place that allocates, as a tree of callers: the first level below the root holds the leaf's
 * callers, the next one theirs. It is read from the profile once and grown only where a question needs it: towards the
 * callers that a call was inlined into, and where contexts of different placements part. */
#ifndef HEARTH_LEAF_H
#define HEARTH_LEAF_H

#include "folded_stacks.h"
#include "placer.h"
#include "wrapper_calls.h"

/* Rows of the profile's frames: [first, end). */
typedef struct hearth_row_range {
  uint32_t first, end;
} hearth_row_range;

/* A context of an allocation call. */
typedef struct hearth_context {
  uint64_t *stack; /* stack ids, the leaf's caller first; owned */
  size_t depth;
  hearth_placement placement;
  hearth_mib mib;
} hearth_context;

typedef struct hearth_contexts {
  hearth_context *items; /* by stack, each once; where contexts are cut off at a recursion, once for each placement */
  size_t count, room;
  uint64_t placements; /* of the contexts; items have NOTCOLD for UNKNOWN */
  bool has_dormant;    /* some cold contexts of the call are dormant: all its cold blocks lie where these do */
} hearth_contexts;

void hearth_contexts_free(hearth_contexts *contexts);
/* Do the contexts have several placements? */
bool hearth_contexts_differ(const hearth_contexts *contexts);

/* Contexts that are equal to the compiler, though the profile may hold several: inlined differently in different builds,
 * told apart by discriminators that this build does not have, or by how deep a recursion was. Their sum decides their
 * placement. */
typedef struct hearth_leaf_stack {
  uint64_t id;                   /* of `at` */
  uint32_t stack;                /* node; HEARTH_NONE if the leaf has no caller */
  uint32_t at;                   /* the frame by which the tree parts next; HEARTH_NONE behind the last */
  uint32_t first_row, row_count; /* of hearth_leaf.rows */
  uint32_t sum;                  /* of hearth_leaf.sums, if there are several rows */
  hearth_placement placement;
  bool is_light;
} hearth_leaf_stack;

/* Stacks that share their first `depth` callers; of its parent's children, those with an end here come first, then those
 * of unknown place, then the others by id. */
typedef struct hearth_leaf_node {
  uint64_t id;           /* of the last caller that is shared */
  uint32_t frame;        /* row: that caller's, or another one's of its place; at the root, the leaf's */
  uint32_t function;     /* row: whose frame that is */
  uint32_t first, count; /* of hearth_leaf.stacks; the children's are parts of it */
  uint32_t depth;
  uint32_t first_child, child_count; /* none: not grown yet */
  uint64_t placements;               /* placements that occur, of contexts that are not light */
  bool ends;                         /* the stacks have no more callers */
} hearth_leaf_node;

typedef struct hearth_leaf {
  struct hearth_leaf *next, *of_same_first; /* for the owner */
  hearth_stacks *folded;                    /* borrowed, as the placer */
  const hearth_placer *placer;
  bool *matched; /* by row of contexts: set where they are selected; borrowed */
  hearth_row_range frames;
  bool has_dormant;
  bool wrapped;   /* the contexts include those of wrapper calls */
  uint32_t *rows; /* contexts of the profile */
  hearth_leaf_stack *stacks;
  hearth_mib *sums;
  hearth_leaf_node *nodes; /* nodes[0] is the root */
  uint64_t *calls;         /* pairs of functions, caller << 32 | callee, ascending; NULL: not asked for yet */
  size_t row_count, stack_count, sum_count, node_count, node_room, call_count;
} hearth_leaf;

/* All contexts whose leaf is one of the frames, and those of the wrapper calls that they make (NULL: of none), whose
 * further frames are left out. `matched`, `folded` and `placer` are borrowed as long as the leaf lives. Destroy
 * accepts NULL. */
hearth_status hearth_leaf_read(hearth_row_range frames, const hearth_wrapper_calls *wrapped, hearth_stacks *folded,
                               const hearth_placer *placer, bool *matched, hearth_leaf **ret, hearth_error *err);
void hearth_leaf_destroy(hearth_leaf *leaf);

/* Add to *ret the contexts that agree with the callers ids[0..n), the innermost first, on the frames that both have; an
 * id of 0, here or in the profile, agrees with any. `trims`: they end with the caller from which on all share one placement,
 * and the numbers of merged contexts are summed by the rules of mib_fields.def; else stacks are whole. Contexts of several placements
 * end before a cycle of calls that folding may have left out of them. */
hearth_status hearth_leaf_select(hearth_leaf *leaf, const uint64_t *ids, size_t n, bool trims, hearth_contexts *ret,
                                 hearth_error *err);

/* Can a call of the function `from` lead to one of `to` (rows)? As far as the stacks of this leaf show. */
hearth_status hearth_leaf_leads_to(hearth_leaf *leaf, uint32_t from, uint32_t to, bool *ret, hearth_error *err);

/* ------------------------------------------------ leaf internal ------------------------------------------------ */

/* The inside of a leaf, for the code that selects from it. */

/* Give a node its children. leaf->nodes may move. Children of a node whose stacks end: none. */
hearth_status hearth_leaf_grow(hearth_leaf *leaf, uint32_t node, hearth_error *err);
/* The numbers of a stack. */
hearth_status hearth_leaf_sum(const hearth_leaf *leaf, const hearth_leaf_stack *stack, hearth_mib *ret,
                              hearth_error *err);

/* Of a set of placements: HEARTH_CLASS_UNKNOWN, of stacks that are together too light for one, counts only where it is alone. */
static inline uint64_t hearth_leaf_placements_that_count(uint64_t placements) {
  const uint64_t light = hearth_placement_bit(HEARTH_CLASS_UNKNOWN);
  return placements & ~light ? placements & ~light : placements;
}

#endif
