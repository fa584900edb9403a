/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Invariants: what our code believes of its own data, never of input. They are checked with -DHEARTH_CHECK=ON and in
 * builds with sanitizers; a false one ends the program by a trap, which allocates and prints nothing. Not installed. */
#ifndef HEARTH_EXPECT_H
#define HEARTH_EXPECT_H

#ifdef HEARTH_CHECK
#define hearth_expect(condition) ((condition) ? (void)0 : __builtin_trap())
#else
#define hearth_expect(condition) ((void)sizeof(!(condition))) /* not evaluated */
#endif

#endif
