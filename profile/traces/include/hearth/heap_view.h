/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Heap dumps for people and for other tools. */
#ifndef HEARTH_HEAP_VIEW_H
#define HEARTH_HEAP_VIEW_H

#include "hearth/heap_dumps.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hearth_heap_view_options {
  size_t size;        /* sizeof(hearth_heap_view_options), or 0 */
  uint64_t floor;     /* bytes; entries with fewer are merged into their callers; 0: none are */
  size_t most;        /* entries that are listed; 0: all */
  bool linkage_names; /* print linkage names instead of short ones */
  bool full_names;    /* print demangled names with parameters and template arguments */
} hearth_heap_view_options;

/* A line for each dump; then, unless `dump` is NULL, the live blocks of that one, most bytes first. E_IO, E_NOMEM. */
hearth_status hearth_heap_print(const hearth_heap_dumps *dumps, const hearth_heap_dump *dump,
                                const hearth_heap_view_options *options, FILE *stream, hearth_error *err);

/* All dumps as JSON of Chrome's trace viewer (chrome://tracing, "memory-infra" dumps with heaps_v2). E_IO, E_NOMEM. */
hearth_status hearth_heap_export_chrome(const hearth_heap_dumps *dumps, const hearth_heap_view_options *options,
                                        FILE *stream, hearth_error *err);

#ifdef __cplusplus
}
#endif
#endif
