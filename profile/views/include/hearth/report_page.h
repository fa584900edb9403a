/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The output of `hearth report`: a page that shows a profile, and perhaps the trace that it was made of, in one file
 * that needs nothing else. */
#ifndef HEARTH_REPORT_PAGE_H
#define HEARTH_REPORT_PAGE_H

#include "hearth/advice.h"
#include "hearth/trace.h"
#include "hearth/view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hearth_page_options {
  size_t size;                     /* sizeof(hearth_page_options), or 0 */
  const hearth_view_options *view; /* NULL: every context */
  hearth_trace *trace;    /* that the profile is of: its records have the tallies of advice.h; NULL: none; borrowed */
  hearth_advice *advice;  /* findings on the profile; NULL: none; borrowed */
  hearth_profile *base;   /* to compare with; NULL: none; the profile is that of both together then; borrowed */
  const char *base_title; /* its name */
  const char *title;      /* shown, and in errors; not NULL */
} hearth_page_options;

/* Write to a stream. Memory is bounded by the contexts that pass the filters and their stacks. E_IO when the stream
 * reports an error; errors of the readers, E_NOMEM. After an error the output is of no use. */
hearth_status hearth_page_write_html(hearth_profile *profile, const hearth_page_options *options, FILE *stream,
                                     hearth_error *err);

#ifdef __cplusplus
}
#endif
#endif
