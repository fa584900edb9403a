/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages without stdio: they come from inside of malloc and free. */
#ifndef HEARTH_MALLOC_MISUSE_H
#define HEARTH_MALLOC_MISUSE_H

#pragma GCC visibility push(hidden)

/* "hearth malloc: WHAT ADDRESS" on standard error, then abort: the program's heap differs from its author's belief. */
_Noreturn void hearth_fatal(const char *what, const void *address);

#pragma GCC visibility pop

#endif
