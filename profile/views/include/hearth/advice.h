/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a profile or a trace says could be better: findings, ranked by what they may save. docs/tools.md, "hearth
 * advise". */
#ifndef HEARTH_ADVICE_H
#define HEARTH_ADVICE_H

#include "hearth/json_writer.h"
#include "hearth/view.h"

HEARTH_C_BEGIN

/* A profile of a trace may have tallies: facts about its blocks that other profiles have no fields for (groups.h), and in
 * place of a histogram of accesses, which traces do not have, the bytes that are live at so many moments, the first at
 * the begin and the last at the end. */
enum { HEARTH_TALLY_MOMENTS = 128 };

typedef struct hearth_advice hearth_advice;

/* Look for findings. The profile is borrowed, as are the options' strings.
 *   tallied  the profile is of a trace, and its records have the tallies
 * Errors: the reader's, E_NOMEM. Destroy accepts NULL. */
hearth_status hearth_advice_create(hearth_profile *profile, const hearth_view_options *options, bool tallied,
                                   hearth_advice **ret, hearth_error *err);
void hearth_advice_destroy(hearth_advice *advice);

/* Print at most `top` findings, then those on global variables; `name` is the profile's, `binary` as below. */
hearth_status hearth_advice_print_text(hearth_advice *advice, const char *name, size_t top, const char *binary,
                                       FILE *stream, hearth_error *err);

/* Findings, those that may save most first. */
size_t hearth_advice_finding_count(const hearth_advice *advice);
/* The row of a finding's context of most bytes. */
uint32_t hearth_advice_finding_context(const hearth_advice *advice, size_t number);
/* Members of an open JSON object: those of a finding; and "not_looked_for", the kinds for which there is no data. */
void hearth_advice_write_finding(const hearth_advice *advice, size_t number, hearth_json *json);
void hearth_advice_write_missing(const hearth_advice *advice, hearth_json *json);

/* Findings on global variables, each of all globals of one kind: a paragraph for each, nothing without globals; or the
 * JSON member "global_findings".
 *   binary  the program, with symbols; NULL: not known which variables share lines
 * E_IO, E_FORMAT, E_NO_DEBUG_INFO (no symbols), E_CORRUPT, E_NOMEM. */
hearth_status hearth_global_advice_print_text(hearth_profile *profile, const char *name, const char *binary,
                                              FILE *stream, hearth_error *err);
hearth_status hearth_global_advice_write_json(hearth_profile *profile, hearth_json *json, hearth_error *err);

HEARTH_C_END
#endif
