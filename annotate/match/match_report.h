/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* -memprof-report: a line of JSON about each module that is compiled, appended to one file (docs/options.md, "Reports"). */
#ifndef HEARTH_MATCH_REPORT_H
#define HEARTH_MATCH_REPORT_H

#include "coverage.h"
#include "match.h"

/* Append the module's line, in one piece: compilers that run at a time can share the file. E_IO, E_NOMEM, and those of reading
 * the profile. */
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
/* Remark "Promoted": a call through a pointer, with these contexts, is one of `function` where the pointer is its address. */
void hearth_remark_promoted(LLVMValueRef call, const hearth_context_sums *found, const char *function);

#endif
