/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The part of a module's profile that was found in the module. Contexts belong to the module that has the function
 * of their leaf: those of other modules do not count, nor do those of allocations inside a function that the leaf calls
 * (fopen) or calls through a pointer: these are no calls that could take a hint, however fresh the profile. */
#ifndef HEARTH_COVERAGE_H
#define HEARTH_COVERAGE_H

#include "session.h"

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

/* -memprof-report: a line of JSON about each module that is compiled, appended to one file (docs/options.md, "Reports"). */

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
