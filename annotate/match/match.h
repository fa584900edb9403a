/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which contexts of the profile a call can have. */
#ifndef HEARTH_MATCH_H
#define HEARTH_MATCH_H

#include "leaf.h"
#include "location.h"
#include "passes.h"

typedef struct hearth_matcher {
  char *path;
  hearth_profile *profile; /* NULL: none is open */
  hearth_placer placer;
  bool trims; /* matched contexts are cut off behind the caller that decides their placement */
  hearth_stacks stacks;
  hearth_leaf **leaves;    /* lists by first frame, of leaves that were looked up */
  hearth_leaf *first_leaf; /* list of all leaves that were looked up */
  hearth_wrapper_calls wrapper_calls;
  struct hearth_salvage *salvage; /* of the module that is annotated; NULL: not compared with the profile */
  hearth_call_sites crowded;      /* places of the module at the first look at it */
  bool knows_crowded;
  bool *matched; /* by row of contexts: some call was found to have it */
} hearth_matcher;

/* Open a profile, unless it is open; with the same options each time. Those of hearth_profile_open, E_NOMEM; on error none is open. */
hearth_status hearth_matcher_open(hearth_matcher *matcher, const char *path, const hearth_pass_options *options,
                                  hearth_error *err);
/* Close the open profile; it may be opened again. */
void hearth_matcher_close(hearth_matcher *matcher);

/* Look for calls of these functions in the profile that is open, unless that was done. */
hearth_status hearth_matcher_know_wrappers(hearth_matcher *matcher, const char *const *names, size_t n,
                                           hearth_error *err);

/* The contexts whose leaf is the innermost frame of `chain` that the profile knows as one that allocates, and which
 * agree with the frames outside of it. Frames inside of it that the profile lacks (tail calls, code without debug
 * information) are passed over. The contexts agree with chain[*ret_leaf .. *ret_end): frames outside of it are
 * callers that folding may have left out of them. For a call of a wrapper, contexts that went on through one from there
 * count as well. Outputs are set on success only; E_NOT_FOUND when there is no such context. */
hearth_status hearth_match_allocation(hearth_matcher *matcher, const hearth_location *chain, size_t n,
                                      bool calls_wrapper, hearth_contexts *ret, size_t *ret_leaf, size_t *ret_end,
                                      hearth_error *err);

/* Is there a call in the module that is matched with the frame, row `row`, of the function with this id? */
hearth_status hearth_match_frame(hearth_profile *profile, const hearth_call_sites *sites, uint64_t function,
                                 uint32_t row, const hearth_frame_info *frame, bool *ret, hearth_error *err);

/* OK if all frames of `chain` are places in the profile: then the call may be a caller in contexts. */
hearth_status hearth_match_callsite(const hearth_matcher *matcher, const hearth_location *chain, size_t n,
                                    hearth_error *err);

#endif
