/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The thread that has the system take cold memory away, for programs that were asked to (HEARTH_HOTCOLD=cold=...).
 *
 * A thread, and not the allocating threads in passing: memory is best given back by a program that rests, and such a
 * program does not allocate; nor should an allocation wait until pages are written. It blocks all signals, and sleeps but
 * for some system calls in each interval. It is started by the first call that takes a slow path after the ranges are
 * open, and in a forked child, which has no other threads, again. */
#ifndef HEARTH_PAGE_OUT_H
#define HEARTH_PAGE_OUT_H

#include "hotcold_options.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Decide once, with the options as they are in force: from now on the thread is wanted, if there is anything to do. */
void hearth_page_out_open(enum hearth_cold_mode mode, unsigned interval_s);

/* Seconds until the next round: the interval, but where more than a quarter of what the last round sent out was back in
 * memory by this one, twice as long as before, up to 64 intervals: to fetch it again costs more than its absence gains. */
unsigned hearth_page_out_wait(unsigned waited_s, unsigned interval_s, uint64_t sent_bytes, uint64_t returned_bytes);

/* Is that time over, or so much memory new since the last round, an eighth of what there was, that it is not waited for? */
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
