/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages without stdio: they come from inside of malloc and free. errno is kept. Nothing is written where descriptor 2 has
 * become a file of the program's: it must be the same file as when the program started, the same file as standard output, or
 * a file that is appended to, as logs are. */
#ifndef HEARTH_MALLOC_MESSAGES_H
#define HEARTH_MALLOC_MESSAGES_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* "hearth malloc: WHAT DETAIL" on standard error. */
void hearth_malloc_warn(const char *what, const char *detail);

/* "hearth malloc: WHAT ADDRESS", then abort: the program's heap differs from its author's belief. */
_Noreturn void hearth_fatal(const char *what, const void *address);

#pragma GCC visibility pop

#endif
