/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profile of a trace or of a heap dump, as `hearth index` would write it, in memory. */
#ifndef HEARTH_TRACE_PROFILE_H
#define HEARTH_TRACE_PROFILE_H

#include "hearth/profile.h"
#include "hearth/trace.h"

/* Is this file a trace, or a heap dump? Only regular files are looked at. */
bool hearth_trace_profile_is_trace(const char *path);
bool hearth_trace_profile_is_heap_dump(const char *path);

typedef struct trace_profile {
  hearth_trace *trace;
  hearth_profile *profile;
  void *image; /* of the profile */
} trace_profile;

/* Of a trace, the records have the tallies of hearth/advice.h; of a heap dump, there is no trace. Prints errors and warnings; false after an error. Close also then. */
bool hearth_trace_profile_open(trace_profile *ret, const char *path);
void hearth_trace_profile_close(trace_profile *both);

#endif
