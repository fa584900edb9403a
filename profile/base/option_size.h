/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Option structs that grow. Each begins with its size, so that a library and a program that were built from headers of
 * different releases understand each other: see docs/decisions/public-names.md. */
#ifndef HEARTH_OPTION_SIZE_H
#define HEARTH_OPTION_SIZE_H

#include <stddef.h>

#include "hearth/status.h"

/* Copy options that a caller gave, as far as its struct reaches; the rest is 0, which means defaults.
 *   ret, ret_size  the struct as this library knows it
 *   options        the caller's, which begins with a size_t, its size: 0 stands for `ret_size`; NULL: all is 0
 * Error: E_USAGE, if the caller's struct is larger and the part that this library does not know is not 0. */
hearth_status hearth_options_take(void *ret, size_t ret_size, const void *options, hearth_error *err);

#endif
