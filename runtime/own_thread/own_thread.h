/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The thread of the runtime's own, which looks at memory while the program runs (docs/decisions/own-thread.md). There is
 * at most one. */
#ifndef HEARTH_RUNTIME_OWN_THREAD_H
#define HEARTH_RUNTIME_OWN_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* Begin it. `with_beats`: it marks the clock's epochs (clock.h). False: there is no memory, or the system refuses. */
bool hearth_own_thread_begin(void (*run)(void), bool with_beats);

/* It was begun, in this process, to run this; NULL: anything. */
bool hearth_own_thread_runs(void (*run)(void));

/* In that thread: take a lap of the counters, if one is due; then wait, and mark the clock's epochs meanwhile.
 * False: the program, or its recording, has ended, and so must the thread. */
bool hearth_own_thread_wait(uint64_t ns);

/* The runtime's own thread reads all counters of the heap again and again, and notes in which half each is (shadow.h). A
 * lap begins 0.25 s after the last one, or later if laps take more than 1 % of the time, but not more than 2 s. So totals
 * are exact while no granule gets 2^31 counts between two laps: 8.6 billion accesses a second to the same 16 bytes, one
 * billion in heaps of several GB. */

/* At the start, and in a forked child that goes on recording: begin the thread (own_thread.h), if no other part of the
 * runtime has, and the program may have one (option own_thread). */
void hearth_counter_laps_begin(void);

/* In that thread, before it waits: a lap, if one is due. */
void hearth_counter_laps_step(void);

#endif
