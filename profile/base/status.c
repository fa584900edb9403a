/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages of errors, printed into the caller's buffer: that cannot fail. */
#include "hearth/status.h"

#include <stdarg.h>
#include <stdio.h>

const char *hearth_status_string(hearth_status status) {
  switch (status) {
#define HEARTH_ERROR(number, NAME, meaning)                                                                            \
  case HEARTH_##NAME:                                                                                                  \
    return meaning;
#include "hearth/errors.def"
  }
  return "unknown status";
}

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
