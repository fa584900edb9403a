/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compile-time check of on-disk layouts, in C and in C++. */
#ifndef HEARTH_LAYOUT_H
#define HEARTH_LAYOUT_H

#include <stdint.h>

#ifdef __cplusplus
#define HEARTH_CHECK_LAYOUT(condition) static_assert(condition, "on-disk layout")
#else
#define HEARTH_CHECK_LAYOUT(condition) _Static_assert(condition, "on-disk layout")
#endif

#endif
