/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From the profile to a call: its stacks with recursion folded, the contexts of one place that allocates as a tree of
 * callers (a leaf), and the matcher, which finds the leaf of a call and selects its contexts; a session, which is one
 * pass over one module; and how much of the profile was found. */
#ifndef HEARTH_MATCH_H
#define HEARTH_MATCH_H

#include "hearth/md.h"
#include "hearth/profile.h"
#include "id_table.h"
#include "module.h"
#include "passes.h"

/* ------------------------------------------------ folded stacks ------------------------------------------------ */

/* The profile's call stacks with recursion folded: each cycle of calls kept once, as profiles are written that fold it
 * themselves. So profiles of either kind give the same contexts, and a chain of inlined frames can be compared with
 * them. Equal stacks are one node, and a node is made when a stack that needs it is first asked for. */

typedef struct hearth_stack_node {
  uint64_t id;       /* stack id; 0 if the frame's place is unknown */
  uint32_t caller;   /* node, lower than this one; or HEARTH_NONE */
  uint32_t frame;    /* row of the profile; that of the first such frame that was seen */
  uint32_t function; /* row */
} hearth_stack_node;

typedef struct hearth_stacks {
  hearth_profile *profile; /* borrowed */
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

/* Tables as large as the profile are memory that is not touched before it is needed. E_NOMEM. Destroy in any case. */
hearth_status hearth_stacks_init(hearth_stacks *stacks, hearth_profile *profile, hearth_error *err);
void hearth_stacks_destroy(hearth_stacks *stacks);

/* The folded stack of a node of the profile. */
hearth_status hearth_stacks_fold(hearth_stacks *stacks, uint32_t node, uint32_t *ret, hearth_error *err);

/* Has folding left out calls that the function (a row) makes, here or as the profile was written? Its caller in a
 * folded stack may then have called it again, by way of these, before it made the call that the stack shows. */
hearth_status hearth_stacks_comes_back(hearth_stacks *stacks, uint32_t function, bool *ret, hearth_error *err);

/* Has folding left out the call at the place of this frame (a row) between two calls at one other place, here or as
 * the profile was written? The second one of these then came by it, whoever is its caller in the folded stack. */
hearth_status hearth_stacks_left_out(const hearth_stacks *stacks, uint32_t frame, bool *ret, hearth_error *err);

/* ------------------------------------------------ leaves ------------------------------------------------ */

/* The contexts of one place that allocates, as a tree of callers: the first level below the root holds the leaf's
 * callers, the next one theirs. It is read from the profile once and grown only where a question needs it: towards the
 * callers that a call was inlined into, and where contexts of different placements part. */

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

/* Contexts that are equal to the compiler, though the profile may hold several: inlined differently in different
 * builds, told apart by discriminators that this build does not have, or by how deep a recursion was. Their sum
 * decides their placement. */
typedef struct hearth_leaf_stack {
  uint64_t id;                   /* of `at` */
  uint32_t stack;                /* node; HEARTH_NONE if the leaf has no caller */
  uint32_t at;                   /* the frame by which the tree parts next; HEARTH_NONE behind the last */
  uint32_t first_row, row_count; /* of hearth_leaf.rows */
  uint32_t sum;                  /* of hearth_leaf.sums, if there are several rows */
  hearth_placement placement;
  bool is_light;
} hearth_leaf_stack;

/* Stacks that share their first `depth` callers; of its parent's children, those with an end here come first, then
 * those of unknown place, then the others by id. */
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
  uint32_t *rows; /* contexts of the profile */
  hearth_leaf_stack *stacks;
  hearth_mib *sums;
  hearth_leaf_node *nodes; /* nodes[0] is the root */
  uint64_t *calls;         /* pairs of functions, caller << 32 | callee, ascending; NULL: not asked for yet */
  size_t row_count, stack_count, sum_count, node_count, node_room, call_count;
} hearth_leaf;

/* All contexts whose leaf is one of the frames. `matched`, `folded` and `placer` are borrowed as long as the leaf
 * lives. Destroy accepts NULL. */
hearth_status hearth_leaf_read(hearth_row_range frames, hearth_stacks *folded, const hearth_placer *placer,
                               bool *matched, hearth_leaf **ret, hearth_error *err);
void hearth_leaf_destroy(hearth_leaf *leaf);

/* Add to *ret the contexts that agree with the callers ids[0..n), the innermost first, on the frames that both have;
 * an id of 0, here or in the profile, agrees with any. `trims`: they end with the caller from which on all share one
 * placement, and the numbers of merged contexts are summed by the rules of mib_fields.def; else stacks are whole.
 * Contexts of several placements end before a cycle of calls that folding may have left out of them. */
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

/* Of a set of placements: HEARTH_CLASS_UNKNOWN, of stacks that are together too light for one, counts only where it
 * is alone. */
static inline uint64_t hearth_leaf_placements_that_count(uint64_t placements) {
  const uint64_t light = hearth_placement_bit(HEARTH_CLASS_UNKNOWN);
  return placements & ~light ? placements & ~light : placements;
}

/* ------------------------------------------------ matcher ------------------------------------------------ */

/* Which contexts of the profile a call can have. */

typedef struct hearth_matcher {
  char *path;
  hearth_profile *profile; /* NULL: none is open */
  hearth_placer placer;
  bool trims; /* matched contexts are cut off behind the caller that decides their placement */
  hearth_stacks stacks;
  hearth_leaf **leaves;           /* lists by first frame, of leaves that were looked up */
  hearth_leaf *first_leaf;        /* list of all leaves that were looked up */
  struct hearth_salvage *salvage; /* of the module that is annotated; NULL: not compared with the profile */
  hearth_call_sites crowded;      /* places of the module at the first look at it */
  bool knows_crowded;
  bool *matched; /* by row of contexts: some call was found to have it */
} hearth_matcher;

/* Open a profile, unless it is open; with the same options each time. Those of hearth_profile_open, E_NOMEM; on
 * error none is open. */
hearth_status hearth_matcher_open(hearth_matcher *matcher, const char *path, const hearth_pass_options *options,
                                  hearth_error *err);
/* Close the open profile; it may be opened again. */
void hearth_matcher_close(hearth_matcher *matcher);

/* The contexts whose leaf is the innermost frame of `chain` that the profile knows as one that allocates, and which
 * agree with the frames outside of it. Frames inside of it that the profile lacks (tail calls, code without debug
 * information) are passed over. The contexts agree with chain[*ret_leaf .. *ret_end): frames outside of it are
 * callers that folding may have left out of them. Outputs are set on success only; E_NOT_FOUND when there is no such
 * context. */
hearth_status hearth_match_allocation(hearth_matcher *matcher, const hearth_location *chain, size_t n,
                                      hearth_contexts *ret, size_t *ret_leaf, size_t *ret_end, hearth_error *err);

/* Is there a call in the module that is matched with the frame, row `row`, of the function with this id? */
hearth_status hearth_match_frame(hearth_profile *profile, const hearth_call_sites *sites, uint64_t function,
                                 uint32_t row, const hearth_frame_info *frame, bool *ret, hearth_error *err);

/* OK if all frames of `chain` are places in the profile: then the call may be a caller in contexts. */
hearth_status hearth_match_callsite(const hearth_matcher *matcher, const hearth_location *chain, size_t n,
                                    hearth_error *err);

/* ------------------------------------------------ session ------------------------------------------------ */

/* One pass over one module with the profile at hand. The part that was read is kept for the next pass. */

typedef struct hearth_session {
  LLVMModuleRef module;
  const hearth_pass_options *options;
  hearth_matcher *matcher; /* of the options; NULL where no profile was given */
  enum hearth_id_scheme scheme;
  hearth_moved_calls moved; /* the module's notes on functions that changed */
  hearth_locator *locator;
  hearth_md *md;
  hearth_call_sites sites; /* where they are now, if this session was the module's first; else none */
  enum { HEARTH_IDS_NOT_COMPARED, HEARTH_IDS_OURS, HEARTH_IDS_FOREIGN } ids;
} hearth_session;

/* The attachments for one call: all of them are computed before the module changes. */
typedef struct hearth_edit {
  LLVMValueRef call;
  uint64_t *callsite;
  size_t n_callsite;
  bool through_pointer;     /* the call is to be promoted first (hearth_promote_pointer_call) */
  bool salvaged;            /* the call, or one that it was inlined by, is in a function that has changed */
  hearth_contexts contexts; /* none: only `!callsite` */
} hearth_edit;

typedef struct hearth_edits {
  hearth_edit *items;
  size_t count, capacity;
} hearth_edits;

/* False when the profile cannot be used; the user has then been told. Close in either case. */
bool hearth_session_open(hearth_session *session, LLVMModuleRef module, const hearth_pass_options *options);
void hearth_session_close(hearth_session *session);
/* From now on, calls of functions that have changed since they were profiled are where they were then. */
hearth_status hearth_session_salvage(hearth_session *session, hearth_error *err);
/* Are the ids in the module Hearth's hashes of debug locations? In a module that clang's own heap profiling
 * annotated they are not. True where no id can be compared. */
bool hearth_session_ids_are_ours(hearth_session *session);
/* Tell the user that the profile could not be used, and why. Returns false. */
bool hearth_session_fail(hearth_session *session, const hearth_error *err);

/* Match an allocation call; on OK an edit was added. E_NOT_FOUND: the profile says nothing about it. */
hearth_status hearth_session_match_allocation(hearth_session *session, LLVMValueRef call, hearth_edits *edits,
                                              hearth_error *err);
/* The same for a call through a pointer that can be promoted; also E_NOT_FOUND: its contexts are too light for hints. */
hearth_status hearth_session_match_pointer_call(hearth_session *session, LLVMValueRef call, hearth_edits *edits,
                                                hearth_error *err);
/* The same for a call that may be a caller in contexts. */
hearth_status hearth_session_match_callsite(hearth_session *session, LLVMValueRef call, hearth_edits *edits,
                                            hearth_error *err);
/* Carry out all edits; returns whether the module changed. */
bool hearth_session_apply(hearth_session *session, hearth_edits *edits);
void hearth_edits_free(hearth_edits *edits);

/* Mark a call `nomerge`: it is told apart by its location only. */
void hearth_forbid_merging(LLVMValueRef call);

/* ------------------------------------------------ coverage ------------------------------------------------ */

/* The part of a module's profile that was found in the module. Contexts belong to the module that has the function
 * of their leaf: those of other modules do not count, nor do those of allocations inside a function that the leaf calls
 * (fopen) or calls through a pointer: these are no calls that could take a hint, however fresh the profile. */

/* Why the contexts of a place were not matched (docs/options.md, "Reasons"). */
#define HEARTH_UNMATCHED_REASONS(X)                                                                                    \
  X(NO_LINE, "no-call-in-line")                                                                                        \
  X(NO_COLUMN, "no-call-in-column")                                                                                    \
  X(CHAIN, "inlined-differently")                                                                                      \
  X(NO_PLACE, "place-unknown")                                                                                         \
  X(CALLEE, "callee-allocates")                                                                                        \
  X(POINTER, "through-pointer")                                                                                        \
  X(FUNCTION, "function-gone")
#define HEARTH_UNMATCHED_REASON(NAME, name) HEARTH_UNMATCHED_##NAME,
typedef enum hearth_unmatched_reason { HEARTH_UNMATCHED_REASONS(HEARTH_UNMATCHED_REASON) } hearth_unmatched_reason;

const char *hearth_unmatched_name(hearth_unmatched_reason reason); /* "no-call-in-line" */

typedef struct hearth_unmatched {
  uint32_t frame; /* row of the place */
  uint64_t contexts, bytes;
  hearth_unmatched_reason reason;
  bool in_library;     /* the callee is in a library without debug information */
  LLVMValueRef callee; /* function that is called there; NULL unless that is the reason */
} hearth_unmatched;

typedef struct hearth_coverage_sums {
  uint64_t functions, contexts, bytes;
} hearth_coverage_sums;

/* Places of the module's functions that the profile knows: allocation calls and callers, or decision sites. */
typedef struct hearth_callsite_sums {
  uint64_t all, matched, salvaged; /* matched: there is a call; salvaged: of these, in functions that have changed */
} hearth_callsite_sums;

/* Bytes of all functions of the module's source file in the profile, also of functions that the module does not
 * have. */
typedef struct hearth_file_sums {
  uint64_t matched, lost; /* lost: by calls that could take a hint, as far as is known */
} hearth_file_sums;

typedef struct hearth_coverage {
  hearth_coverage_sums all, matched; /* a function is matched if all of its contexts are */
  hearth_coverage_sums salvaged;     /* of `matched`: in functions that have changed since */
  hearth_coverage_sums library;      /* of `elsewhere`: in libraries without debug information */
  hearth_coverage_sums elsewhere;    /* allocated in a callee, or through a pointer; not in `all` */
  hearth_callsite_sums callsites;
  hearth_callsite_sums decision_sites; /* none if contexts are not told apart by the plan */
  hearth_file_sums file;
  hearth_unmatched *unmatched; /* by place, of both */
  size_t n_unmatched, room;
} hearth_coverage;

/* After all allocation calls of the session's module were matched. `of_file`: `file` is wanted, too. Those of
 * reading a profile, E_NOMEM; free in any case. */
hearth_status hearth_coverage_measure(hearth_coverage *coverage, hearth_session *session,
                                      const hearth_call_sites *sites, bool of_file, hearth_error *err);
void hearth_coverage_free(hearth_coverage *coverage);

/* ------------------------------------------------ match report ------------------------------------------------ */

/* -memprof-report: a line of JSON about each module that is compiled, appended to one file (docs/options.md,
 * "Reports"). */

/* Append the module's line, in one piece: compilers that run at a time can share the file. E_IO, E_NOMEM, and those
 * of reading the profile. */
hearth_status hearth_match_report_append(const char *path, hearth_session *session, const hearth_coverage *coverage,
                                         hearth_error *err);

/* ------------------------------------------------ context remarks ------------------------------------------------ */

/* Optimisation remarks about the contexts of a call. */

/* Counts for the remark on a call's contexts. All zero: none. */
typedef struct hearth_context_sums {
  size_t count, of_placement[HEARTH_PLACEMENTS];
  uint64_t bytes, cold_bytes;
} hearth_context_sums;

hearth_context_sums hearth_sum_contexts(const hearth_contexts *contexts);

/* Remark "Matched", or "Salvaged" where the function has changed: the call has these contexts of the profile. */
void hearth_remark_matched(LLVMValueRef call, const hearth_context_sums *found, bool salvaged);
/* Remark "Promoted": a call through a pointer, with these contexts, is one of `function` where the pointer is its
 * address. */
void hearth_remark_promoted(LLVMValueRef call, const hearth_context_sums *found, const char *function);

#endif
