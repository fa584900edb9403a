/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Status and error detail of the profile library. Functions that can fail return a status and fill in a caller-owned
 * error on failure, so that reporting an error cannot fail itself. The library never prints, exits or aborts. */
#ifndef HEARTH_STATUS_H
#define HEARTH_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define HEARTH_C_BEGIN extern "C" {
#define HEARTH_C_END   }
#else
#define HEARTH_C_BEGIN
#define HEARTH_C_END
#endif

HEARTH_C_BEGIN

/* Numbers are fixed: they may appear in scripts and logs. */
typedef enum hearth_status {
  HEARTH_OK = 0,
  HEARTH_E_NOT_FOUND = 1,
  HEARTH_E_IO = 2,     /* input or output failed */
  HEARTH_E_FORMAT = 3, /* not a file of the expected format */
  HEARTH_E_VERSION = 4,
  HEARTH_E_TRUNCATED = 5,
  HEARTH_E_CORRUPT = 6,
  HEARTH_E_NO_DEBUG_INFO = 7, /* none that is usable */
  HEARTH_E_NO_BUILD_ID = 8,
  HEARTH_E_MISMATCH = 9, /* inputs do not belong together */
  HEARTH_E_FULL = 10,    /* a limit of the format is reached */
  HEARTH_E_NOMEM = 11,
  HEARTH_E_EMPTY = 12, /* nothing to do */
  HEARTH_E_USAGE = 13, /* unusable arguments */
} hearth_status;

typedef struct hearth_error {
  hearth_status status;
  char message[512]; /* NUL-terminated, one line: file, place, reason, remedy */
} hearth_error;

/* Pass an error up: return the status of `expression` from the calling function unless it is HEARTH_OK. */
#define HEARTH_TRY(expression)                                                                                         \
  do {                                                                                                                 \
    hearth_status status_ = (expression);                                                                              \
    if (status_ != HEARTH_OK)                                                                                          \
      return status_;                                                                                                  \
  } while (0)

/* The next of several steps before a clean-up: done if all is well so far. */
#define HEARTH_THEN(status, expression) ((status) = (status) == HEARTH_OK ? (expression) : (status))

/* Fill in `err` (may be NULL) printf-style and return `status`. Cuts messages that are too long. */
hearth_status hearth_error_set(hearth_error *err, hearth_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/* The same for HEARTH_E_NOMEM, with the one message that it needs: neither a file nor a place explains it. */
hearth_status hearth_error_nomem(hearth_error *err);

/* ------------------------------------------------ option structs ------------------------------------------------ */

/* Option structs that grow. Each begins with its size, so that a library and a program that were built from headers of
 * different releases understand each other: see docs/decisions/public-names.md. */

/* Copy options that a caller gave, as far as its struct reaches; the rest is 0, which means defaults.
 *   ret, ret_size  the struct as this library knows it
 *   options        the caller's, which begins with a size_t, its size: 0 stands for `ret_size`; NULL: all is 0
 * Error: E_USAGE, if the caller's struct is larger and the part that this library does not know is not 0. */
hearth_status hearth_options_take(void *ret, size_t ret_size, const void *options, hearth_error *err);

HEARTH_C_END
#endif
