/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages without stdio: the adapter runs inside free. */
#ifndef HEARTH_HOTCOLD_FATAL_H
#define HEARTH_HOTCOLD_FATAL_H

/* "hearth hotcold: <what><detail>" and a line end on standard error. errno is kept. Nothing is written where descriptor
 * 2 has become a file of the program's: it must be the same file as when the program started, the same file as standard
 * output, or a file that is appended to, as logs are. */
void hearth_hotcold_warn(const char *what, const char *detail);

/* The same, then abort: the state of the program's heap differs from its author's belief. libc's own allocator would
 * abort, too. */
_Noreturn void hearth_hotcold_fatal(const char *what, const char *detail);

#endif
