/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* -memprof-report: a line of JSON about each module that is compiled, appended to one file (docs/options.md, "Reports"). */
#ifndef HEARTH_MATCH_REPORT_H
#define HEARTH_MATCH_REPORT_H

#include "coverage.h"

/* Append the module's line, in one piece: compilers that run at a time can share the file. E_IO, E_NOMEM, and those of reading
 * the profile. */
hearth_status hearth_match_report_append(const char *path, hearth_session *session, const hearth_coverage *coverage,
                                         hearth_error *err);

#endif
