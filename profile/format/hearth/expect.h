/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What our code believes, never of input: of layouts when it is compiled, of its own data when it runs. */
#ifndef HEARTH_EXPECT_H
#define HEARTH_EXPECT_H

#include <stdint.h>

/* Sizes and offsets of structs, in C and in C++. */
#ifdef __cplusplus
#define HEARTH_CHECK_LAYOUT(condition) static_assert(condition, "on-disk layout")
#else
#define HEARTH_CHECK_LAYOUT(condition) _Static_assert(condition, "on-disk layout")
#endif

/* Invariants. They are checked with -DHEARTH_CHECK=ON and in builds with sanitizers; a false one ends the program by a
 * trap, which allocates and prints nothing. */
#ifdef HEARTH_CHECK
#define hearth_expect(condition) ((condition) ? (void)0 : __builtin_trap())
#else
#define hearth_expect(condition) ((void)sizeof(!(condition))) /* not evaluated */
#endif

#endif
