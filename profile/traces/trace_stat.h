/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth trace stat`. */
#ifndef HEARTH_TRACE_STAT_H
#define HEARTH_TRACE_STAT_H

#include <stdio.h>

#include "hearth/trace.h"

/* Print the statistics of a trace. Errors: E_CORRUPT, E_NOMEM. */
hearth_status hearth_trace_stat(hearth_trace *trace, FILE *to, hearth_error *err);

#endif
