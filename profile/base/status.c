/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages of errors, printed into the caller's buffer: that cannot fail. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hearth/status.h"

hearth_status hearth_error_set(hearth_error *err, hearth_status status, const char *format, ...) {
  if (!err)
    return status;
  va_list arguments;
  err->status = status;
  va_start(arguments, format);
  vsnprintf(err->message, sizeof err->message, format, arguments);
  va_end(arguments);
  return status;
}

hearth_status hearth_error_nomem(hearth_error *err) { return hearth_error_set(err, HEARTH_E_NOMEM, "out of memory"); }

/* ------------------------------------------------ option size ------------------------------------------------ */

/* Takes over option structs of any size: bytes that both sides know are copied, others must be 0. */

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
