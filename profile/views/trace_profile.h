/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profile of a trace, of a heap dump or of two profiles, as `hearth index` would write it, in memory. */
#ifndef HEARTH_TRACE_PROFILE_H
#define HEARTH_TRACE_PROFILE_H

#include "hearth/profile.h"
#include "hearth/trace.h"

/* Only regular files are looked at. */
typedef enum trace_profile_kind {
  TRACE_PROFILE_OTHER,
  TRACE_PROFILE_TRACE,
  TRACE_PROFILE_HEAP_DUMP
} trace_profile_kind;
trace_profile_kind hearth_trace_profile_kind(const char *path);

typedef struct trace_profile {
  hearth_trace *trace;
  hearth_profile *profile;
  void *image; /* of the profile */
} trace_profile;

/* Of a trace, the records have tallies (hearth/advice.h); of a heap dump, there is no trace. Prints errors and
 * warnings; false after an error. Close also then. */
bool hearth_trace_profile_open(trace_profile *ret, const char *path, trace_profile_kind kind);
/* Two indexed profiles in one, for stacks that only one of them has. */
bool hearth_trace_profile_join(trace_profile *ret, const char *base, const char *path);
void hearth_trace_profile_close(trace_profile *both);

#endif
