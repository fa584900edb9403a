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

/* Bytes of contexts. Those of a context with several paths are shared out among them. */
typedef struct hearth_path_sums {
  uint64_t with_path, unplaced;     /* of the former, those without a placement */
  uint64_t bytes[HEARTH_PATH_KEYS]; /* the others */
} hearth_path_sums;

/* The table for the allocator (docs/formats/library-calls.md); *ret_has_hints: it places any block elsewhere than the
 * program's own allocator does. E_EMPTY (no paths), E_IO, E_NOMEM, and those of reading. */
hearth_status hearth_path_keys_write(hearth_profile *profile, FILE *stream, bool *ret_has_hints, hearth_error *err);

/* The output of `hearth plan --paths`: a row for each return address, the most bytes first, and sums. As above. */
hearth_status hearth_path_keys_print(hearth_profile *profile, FILE *stream, hearth_error *err);

#ifdef __cplusplus
}
#endif
#endif
