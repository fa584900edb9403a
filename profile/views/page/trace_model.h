/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The part that a trace adds to a model: the plots of single blocks. */
#ifndef HEARTH_PAGE_TRACE_H
#define HEARTH_PAGE_TRACE_H

#include "hearth/trace.h"
#include "timeline.h"

/* Errors: those of reading the trace, and of hearth_page_timeline.h. The timeline is to be destroyed after an error, too. */
hearth_status hearth_page_trace_read(hearth_trace *trace, hearth_page_timeline *ret, hearth_error *err);

#endif
