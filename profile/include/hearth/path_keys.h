/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Keys of call paths (hearth/call_path.h): what an allocator has to look at in a program as it is to find the placement of a
 * block that its plan gives the whole call stack. Each return address has the cheapest key that parts its placements. */
#ifndef HEARTH_PATH_KEYS_H
#define HEARTH_PATH_KEYS_H

#include <stdio.h>

#include "hearth/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum hearth_path_key {
  HEARTH_PATH_ADDRESS,   /* the return address: all contexts there have one placement */
  HEARTH_PATH_HEIGHT,    /* and the height of the stack */
  HEARTH_PATH_REST,      /* any other height: what contexts without one have in common */
  HEARTH_PATH_AMBIGUOUS, /* no key: placed as without a profile */
  HEARTH_PATH_KEYS
};

/* The table for the allocator (docs/formats/library-calls.md); *ret_has_hints: it places any block elsewhere than the
 * program's own allocator does. E_EMPTY (no paths), E_IO, E_NOMEM, and those of reading. */
hearth_status hearth_path_keys_write(hearth_profile *profile, FILE *stream, bool *ret_has_hints, hearth_error *err);

/* The output of `hearth plan --paths`: a row for each return address, the most bytes first, and sums; or the same as one JSON
 * object (docs/tools.md). As above. */
hearth_status hearth_path_keys_print(hearth_profile *profile, bool as_json, FILE *stream, hearth_error *err);

/* The plan that `hearth run` goes by. A profile whose accesses were counted, or that has pools, keeps its own, unless `layout` is
 * given: 1 + an enum hearth_layout, or 0 for the cheapest; LAYOUT_OWN is none. For others there is a plan with guessed accesses. The
 * profile with that plan takes the place of *profile; it is in *ret_data, to be freed after it is closed, or NULL. After an error
 * *profile may be NULL. */
#define HEARTH_PATH_LAYOUT_OWN UINT32_MAX
hearth_status hearth_path_plan_make(hearth_profile **profile, uint32_t layout, void **ret_data, hearth_error *err);

#ifdef __cplusplus
}
#endif
#endif
