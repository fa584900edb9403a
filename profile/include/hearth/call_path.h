/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Call paths: where in a program's files its contexts allocate, as an allocator can tell when it is called. Profiles of
 * programs that were recorded as they are have them (`hearth record`), for `hearth run`.
 *
 *   return address  of the call of the allocation function: a place in the file of a program or library
 *   height          how far the call lies from the start of the main thread's stack, in bytes; 0: in other threads, too,
 *                   or it differs, as under recursion
 *
 * A context has several if it was reached by calls with different code, or in runs whose stacks were aligned differently. */
#ifndef HEARTH_CALL_PATH_H
#define HEARTH_CALL_PATH_H

#include "hearth/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hearth_call_path {
  uint32_t context; /* row of CONTEXTS */
  uint32_t binary;  /* row of BINARIES */
  uint32_t height;
  uint64_t offset; /* of the return address in that file */
} hearth_call_path;

typedef struct hearth_call_paths {
  const hearth_call_path *rows; /* sorted by context, binary, offset, height */
  size_t count;
} hearth_call_paths;

/* All of them; none if the profile has none. They live as long as the handle; the first call decodes them. E_CORRUPT, E_NOMEM. */
hearth_status hearth_profile_get_call_paths(hearth_profile *profile, hearth_call_paths *ret, hearth_error *err);

#ifdef __cplusplus
}
#endif
#endif
