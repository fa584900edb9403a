/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profile of a trace, as `hearth index` would write it, in memory. */
#ifndef HEARTH_TRACE_PROFILE_H
#define HEARTH_TRACE_PROFILE_H

#include "hearth/profile.h"
#include "hearth/trace.h"

/* Is this file a trace? Only regular files are looked at. */
bool hearth_trace_profile_is_trace(const char *path);

typedef struct trace_profile {
  hearth_trace *trace;
  hearth_profile *profile;
  void *image; /* of the profile */
} trace_profile;

/* The records have the tallies of hearth/advice.h. Prints errors and warnings; false after an error. Close also then. */
bool hearth_trace_profile_open(trace_profile *ret, const char *path);
void hearth_trace_profile_close(trace_profile *both);

#endif
