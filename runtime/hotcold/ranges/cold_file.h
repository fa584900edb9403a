/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The cold range in a file, so that cold bytes can leave memory on machines without swap space.
 *
 *   window   the part of the range that is mapped shared from the file; the file has no name any more. Pages outside are
 *            private memory.
 *
 * Shared memory stays shared across fork, so before a fork the window is mapped again, privately, from the same file:
 * nothing is copied, and as nobody writes to the file any more, parent and child each see the old bytes. If either
 * writes to such a page from then on, the page stays in its memory, as any private page does. The next pages that
 * either takes, and that were never used, are the window of a file of its own. Fork handlers do not run for _Fork() and
 * for clone() called by its system call number: a process made so shares the window.
 *
 * Blocks of the disk are reserved before pages are handed out: a full disk is a full range, not SIGBUS. */
#ifndef HEARTH_COLD_FILE_H
#define HEARTH_COLD_FILE_H

#include "region.h"

/* For the region's use, under its page_run_lock. */
extern const struct hearth_region_backing hearth_cold_file_backing;

/* Map the pages at `start`, all clean and free, from a file in `directory`, shorter than HEARTH_HOTCOLD_PATH_BYTES.
 * Returns false after a warning that says the reason; the mapping is then the same as before. */
bool hearth_cold_file_open(const char *directory, char *start, size_t bytes);

/* The descriptor of the window's file, or -1. The caller holds the page_run_lock; the file may be closed as soon as it
 * is released. */
int hearth_cold_file_descriptor(void);

/* In the thread that is about to fork, with the region's locks held. No effect without a window. */
void hearth_cold_file_before_fork(void);

#endif
