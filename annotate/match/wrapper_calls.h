/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The places in the profile where functions that the user listed are called. The profile's contexts belong to the
 * functions that these call in the end, which are further in; here they are found by the place of the call. */
#ifndef HEARTH_WRAPPER_CALLS_H
#define HEARTH_WRAPPER_CALLS_H

#include "hearth/profile.h"

typedef struct hearth_wrapper_call {
  uint32_t frame;   /* row of the place that calls */
  uint32_t context; /* row of a context through it */
  uint32_t node;    /* where the place is in that context's stack */
} hearth_wrapper_call;

typedef struct hearth_wrapper_calls {
  hearth_wrapper_call *items; /* by frame, then context */
  size_t count, room;
  bool known;
} hearth_wrapper_calls;

/* Find all calls of functions with these names (linkage names, borrowed) in a profile: takes time in proportion to all its
 * stacks. E_NOMEM, and those of reading a profile. Free in any case. */
hearth_status hearth_wrapper_calls_find(hearth_wrapper_calls *calls, hearth_profile *profile, const char *const *names,
                                        size_t n, hearth_error *err);
void hearth_wrapper_calls_free(hearth_wrapper_calls *calls);

/* Position of the first call by a frame of row `frame` or a later one. */
size_t hearth_wrapper_calls_from(const hearth_wrapper_calls *calls, uint32_t frame);

#endif
