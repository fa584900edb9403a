/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which shard each context belongs to. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/builder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static hearth_status shard_of_function(hearth_profile *profile, uint32_t row, uint32_t count, uint32_t *ret,
                                       hearth_error *err) {
  char path[HEARTH_PATH_LIMIT];
  hearth_function_info f;
  HEARTH_TRY(hearth_profile_get_function(profile, row, &f, err));
  HEARTH_TRY(hearth_profile_get_path(profile, f.path, path, sizeof path, err));
  *ret = (uint32_t)((*path ? XXH3_64bits(path, strlen(path)) : f.id) % count);
  return HEARTH_OK;
}

static hearth_status shard_of_context(hearth_profile *profile, uint32_t row, const uint32_t *of_functions,
                                      uint32_t *ret, hearth_error *err) {
  uint32_t node, frame, caller;
  hearth_frame_info info;
  HEARTH_TRY(hearth_profile_get_context(profile, row, &node, NULL, err));
  HEARTH_TRY(hearth_profile_get_stack(profile, node, &frame, &caller, err));
  HEARTH_TRY(hearth_profile_get_frame(profile, frame, &info, err));
  *ret = of_functions[info.function];
  return HEARTH_OK;
}

hearth_status hearth_profile_shard(hearth_profile *profile, uint32_t count, uint32_t *ret, hearth_error *err) {
  uint32_t functions = hearth_profile_function_count(profile), *of_functions;
  HEARTH_TRY(hearth_array_create(&of_functions, functions, sizeof *of_functions, err));
  hearth_status status = HEARTH_OK;
  for (uint32_t i = 0; status == HEARTH_OK && i < functions; i++)
    status = shard_of_function(profile, i, count, &of_functions[i], err);
  for (uint32_t i = 0; status == HEARTH_OK && i < hearth_profile_context_count(profile); i++)
    status = shard_of_context(profile, i, of_functions, &ret[i], err);
  free(of_functions);
  return status;
}
