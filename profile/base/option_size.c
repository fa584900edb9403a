/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Takes over option structs of any size: bytes that both sides know are copied, others must be 0. */
#include "option_size.h"

#include <string.h>

hearth_status hearth_options_take(void *ret, size_t ret_size, const void *options, hearth_error *err) {
  const char *bytes = options;
  size_t size = 0;
  memset(ret, 0, ret_size);
  if (!options)
    return HEARTH_OK;
  memcpy(&size, options, sizeof size);
  if (size == 0)
    size = ret_size;
  if (size < sizeof size)
    return hearth_error_set(err, HEARTH_E_USAGE, "options say that they have %zu bytes: set 'size' to their sizeof",
                            size);
  for (size_t i = ret_size; i < size; i++)
    if (bytes[i])
      return hearth_error_set(err, HEARTH_E_USAGE,
                              "options have %zu bytes and set some beyond the %zu that this library knows: "
                              "build with the headers of the library, or use a newer library",
                              size, ret_size);
  memcpy(ret, options, size < ret_size ? size : ret_size);
  memcpy(ret, &ret_size, sizeof ret_size);
  return HEARTH_OK;
}
