/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile as a file to look at: in formats that other tools draw (docs/tools.md, "hearth export", describes the contents
 * of each), or as a page. */
#ifndef HEARTH_PROFILE_EXPORT_H
#define HEARTH_PROFILE_EXPORT_H

#include "hearth/advice.h"
#include "hearth/trace.h"
#include "hearth/view.h"

HEARTH_C_BEGIN

typedef enum hearth_export_format {
  HEARTH_EXPORT_FOLDED, /* a line per context: "root;...;leaf value" (Brendan Gregg's flame graphs) */
  HEARTH_EXPORT_PPROF,  /* google/pprof's profile.proto, gzip: every quantity at once */
  HEARTH_EXPORT_DHAT,   /* version 2 of the JSON that Valgrind's dh_view.html reads */
  HEARTH_EXPORT_MASSIF, /* the file that Valgrind's ms_print reads */
  HEARTH_EXPORT_CHROME  /* the heap over time in Chrome's JSON trace format, which Perfetto reads */
} hearth_export_format;

typedef struct hearth_export_options {
  size_t size;                     /* sizeof(hearth_export_options), or 0 */
  const hearth_view_options *view; /* NULL: every context */
  hearth_quantity value;           /* folded: the quantity to draw; pprof: the one to draw first */
  const char *title;               /* shown by viewers, and in errors; not NULL */
} hearth_export_options;

/* Write to a stream, as the contexts come: memory is bounded by the number of functions, frames and (pprof)
 * different inline chains. E_NOT_FOUND when accesses are asked for and were not counted in every run; E_IO when the
 * stream reports an error; errors of the reader. After an error the output is of no use. */
hearth_status hearth_export(hearth_profile *profile, hearth_export_format format, const hearth_export_options *options,
                            FILE *stream, hearth_error *err);

/* The page of `hearth report` shows a profile, and perhaps the trace that it was made of, in one file that needs nothing
 * else. */
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

HEARTH_C_END
#endif
