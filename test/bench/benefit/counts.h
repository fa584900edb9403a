/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counting accesses where they happen: what count.c and oracle.c share.
 *
 *   granule  16 bytes of memory, with one counter: two blocks never share one
 *   window   the second half of the process's processor time, if a first run has told how long it takes; counters begin anew
 *            with it. That is taken for the steady state.
 *
 * The subject is compiled with clang's -fmemory-profile, and these functions are in the place of its runtime. What is
 * counted are the accesses of the program's own code, once for a granule that memcpy, memmove or memset go through. */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GRANULE_BYTES = 16, PAGE_BYTES = 4096, BUSY_PERCENT = 99 };

extern uint64_t *counts; /* of the granule of an address: counts[address / GRANULE_BYTES] */

void counts_clear(uintptr_t start, uintptr_t end);

/* Called when the window begins, in a signal handler, and at exit. Supplied by count.c or oracle.c. */
void window_begins(void);
void window_ends(int output);

/* A growing array of `limit` bytes at most, zero. */
void *reserve(size_t limit);

#endif
