/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory of cold blocks, which may leave: to swap space, or to a file on machines without.
 *
 * The file has no name any more; cold memory maps pieces of it, shared. Shared memory stays shared across fork, so before a
 * fork all pieces are mapped again, privately, from the same file: nothing is copied, and as nobody writes to the file any
 * more, parent and child each see the old bytes. What either takes from then on is of a file of its own. Blocks of the disk
 * are reserved before memory is handed out: a full disk is no memory, not SIGBUS. */
#ifndef HEARTH_MALLOC_COLD_MEMORY_H
#define HEARTH_MALLOC_COLD_MEMORY_H

#include "malloc_options.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Once, before the first cold block. A mode that cannot be had is HEARTH_COLD_KEEP, after a warning that says why. */
void hearth_cold_memory_configure(const hearth_malloc_options *options);

/* Keep, advise, pageout or file. */
hearth_cold_mode hearth_cold_memory_mode(void);
/* Pages are to leave: no huge ones. */
bool hearth_cold_memory_leaves(void);

/* As hearth_system_open, _discard and _release, of whole pages. A piece is released whole. */
bool hearth_cold_memory_open(void *start, size_t bytes);
void hearth_cold_memory_discard(void *start, size_t bytes);
void hearth_cold_memory_release(void *start, size_t bytes);

/* The descriptor of the file, or -1. */
int hearth_cold_memory_descriptor(void);

/* In the thread that is about to fork, with the locks of segments and large blocks held; and when it has. */
void hearth_cold_memory_before_fork(void);
void hearth_cold_memory_after_fork(void);

/* cold_thread.c: the thread that has cold memory leave, for programs that were asked to. A thread, and not the allocating
 * ones in passing: memory is best given back by a program that rests, and such a program does not allocate; and an
 * allocation should not wait until pages are written. It blocks all signals, and sleeps except for some system calls in each
 * interval. */

/* `corrects`: what comes back stays (cold_thread.c), and rounds do not become rarer. */
void hearth_cold_thread_configure(bool corrects, unsigned interval_s);
/* Starts it, if it is wanted and does not run. With no lock held. */
void hearth_cold_thread_ensure(void);
void hearth_cold_thread_after_fork(void); /* in the child, which has no other threads */

/* Seconds until the next round: the interval. If more than a quarter of the bytes that the last round sent out were
 * back in memory by this one, it is twice the last wait, up to 64 intervals: to fetch the bytes again costs more than
 * their absence gains. */
unsigned hearth_cold_thread_wait(unsigned waited_s, unsigned interval_s, size_t sent_bytes, size_t returned_bytes);

#pragma GCC visibility pop

#endif
