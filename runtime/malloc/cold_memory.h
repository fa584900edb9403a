/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory of cold blocks, which may leave: to swap space, or to a file on machines without.
 *
 * The file has no name any more; cold memory maps pieces of it, shared. Shared memory stays shared across fork, so
 * before a fork all pieces are mapped again, privately, from the same file: nothing is copied, and as nobody writes
 * to the file any more, parent and child each see the old bytes. What either takes from then on is of a file of its
 * own. Blocks of the disk are reserved before memory is handed out: a full disk is no memory, not SIGBUS. */
#ifndef HEARTH_MALLOC_COLD_MEMORY_H
#define HEARTH_MALLOC_COLD_MEMORY_H

#include "malloc_options.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Once, before the first cold block. A mode that cannot be had is HEARTH_COLD_KEEP, after a warning that says why. */
void hearth_cold_memory_configure(const hearth_malloc_options *options);

/* As hearth_system_open, _discard and _release, of whole pages. A piece is released whole. */
bool hearth_cold_memory_open(void *start, size_t bytes);
void hearth_cold_memory_discard(void *start, size_t bytes);
void hearth_cold_memory_release(void *start, size_t bytes);

/* Has pages leave, in a mode in which they leave; they wait for the disk. False: the kernel knows no such advice, or
 * the memory is locked. */
bool hearth_cold_memory_send(char *start, size_t bytes);

/* In the thread that is about to fork, with the locks of segments and large blocks held; and when it has. */
void hearth_cold_memory_before_fork(void);
void hearth_cold_memory_after_fork(void);

/* cold_thread.c: the thread that has cold memory leave, for programs that were asked to. A thread, and not the
 * allocating ones in passing: memory is best given back by a program that rests, and such a program does not
 * allocate; and an allocation should not wait until pages are written. It blocks all signals, and sleeps except for
 * some system calls in each interval. */

/* A round each `interval_s` seconds (0: never), for at most `cost_percent` of the time (0: no bound). */
void hearth_cold_thread_configure(unsigned interval_s, unsigned cost_percent);
/* Starts it, if it is wanted and does not run. With no lock held. */
void hearth_cold_thread_ensure(void);
void hearth_cold_thread_after_fork(void); /* in the child, which has no other threads */

#pragma GCC visibility pop

#endif
