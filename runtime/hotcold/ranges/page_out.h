/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The thread that has the system take cold memory away, for programs that were asked to (HEARTH_HOTCOLD=cold=...).
 *
 * A thread, and not the allocating threads in passing: memory is best given back by a program that rests, and such a
 * program does not allocate; and an allocation should not wait until pages are written. The thread blocks all signals,
 * and sleeps except for some system calls in each interval. The first call that takes a slow path after the ranges are
 * open starts it. A forked child, which has no other threads, starts it again. */
#ifndef HEARTH_PAGE_OUT_H
#define HEARTH_PAGE_OUT_H

#include "hotcold_options.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* For HEARTH_COLD_AUTO: pageout where there is swap space, or else file. */
enum hearth_cold_mode hearth_page_out_mode(void);

/* Decide once, with the options that are in force: from now on the thread is wanted, if there is anything to do. `corrects`: tiles
 * that come back stay (warm_tiles.h), and rounds do not become rarer. */
void hearth_page_out_open(enum hearth_cold_mode mode, bool corrects, unsigned interval_s);

/* Seconds until the next round: the interval. If more than a quarter of the bytes that the last round sent out were
 * back in memory by this one, it is twice the last wait, up to 64 intervals: to fetch the bytes again costs more than
 * their absence gains. */
unsigned hearth_page_out_wait(unsigned waited_s, unsigned interval_s, uint64_t sent_bytes, uint64_t returned_bytes);

/* Is that time over, or has memory grown by so much since the last round, an eighth, that the wait ends early? */
bool hearth_page_out_is_due(unsigned waited_s, unsigned wait_s, uint64_t committed_then, uint64_t committed_now);

/* In a forked child. */
void hearth_page_out_after_fork(void);

extern _Atomic bool hearth_page_out_is_wanted; /* and not yet started */
void hearth_page_out_start(void);

/* Called with no lock held, where time does not matter. */
static inline void hearth_page_out_ensure(void) {
  if (atomic_load_explicit(&hearth_page_out_is_wanted, memory_order_relaxed))
    hearth_page_out_start();
}

#endif
