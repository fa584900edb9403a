/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a profile says of global variables that could be better. docs/tools.md, "hearth advise". */
#ifndef HEARTH_GLOBAL_ADVICE_H
#define HEARTH_GLOBAL_ADVICE_H

#include "hearth/global.h"
#include "hearth/json_writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Findings, each of all globals of one kind: a paragraph for each, nothing without globals; or the JSON members
 * "global_findings" and "globals_not_looked_for".
 *   binary  the program, with symbols; NULL: not known which variables share lines
 * E_IO, E_FORMAT, E_NO_DEBUG_INFO (no symbols), E_CORRUPT, E_NOMEM. */
hearth_status hearth_global_advice_print_text(hearth_profile *profile, const char *name, const char *binary,
                                              FILE *stream, hearth_error *err);
hearth_status hearth_global_advice_write_json(hearth_profile *profile, const char *binary, hearth_json *json,
                                              hearth_error *err);

#ifdef __cplusplus
}
#endif
#endif
