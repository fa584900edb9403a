/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which ambiguous allocation calls are worth the functions that must be cloned to tell their contexts apart. */
#ifndef HEARTH_CLONE_PLAN_H
#define HEARTH_CLONE_PLAN_H

#include "session.h"

typedef struct hearth_clone_candidate {
  LLVMValueRef call;
  uint64_t cold_bytes; /* of its cold contexts, > 0 */
  size_t *functions;   /* that would be cloned, at most: indexes into the plan's */
  size_t n_functions;
  bool chosen;
  bool unclonable; /* one of the functions is */
} hearth_clone_candidate;

typedef struct hearth_clone_plan {
  struct hearth_clone_function {
    size_t size;   /* instructions */
    bool paid;     /* for a candidate that was chosen */
    bool clonable; /* hearth_ir_is_clonable */
  } *functions;
  size_t n_functions;
  hearth_clone_candidate *candidates;
  size_t n_candidates, n_chosen;
  size_t budget; /* instructions that may be cloned */
} hearth_clone_plan;

/* Plan for calls that have cold contexts and others, taking those of most cold bytes for an instruction first. The
 * clones have at most `budget` per cent of the module's instructions, or HEARTH_CLONE_ALWAYS of them. Calls that may be
 * callers in their contexts and lost their `!callsite` get it back. False when out of memory; free it in either case. */
#define HEARTH_CLONE_ALWAYS 100 /* small modules may clone a wrapper, too */
bool hearth_clone_plan_make(hearth_clone_plan *plan, hearth_session *session, unsigned budget);
void hearth_clone_plan_free(hearth_clone_plan *plan);

#endif
