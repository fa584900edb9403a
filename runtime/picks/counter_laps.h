/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runtime's own thread reads all counters of the heap again and again, and notes in which half each is (shadow.h). A
 * lap begins 0.25 s after the last one, or later if laps take more than 1 % of the time, but not more than 2 s. So totals
 * are exact while no granule gets 2^31 counts between two laps: 8.6 billion accesses a second to the same 16 bytes, one
 * billion in heaps of several GB. */
#ifndef HEARTH_RUNTIME_COUNTER_LAPS_H
#define HEARTH_RUNTIME_COUNTER_LAPS_H

/* At the start, and in a forked child that goes on recording: begin the thread (own_thread.h), if no other part of the
 * runtime has, and the program may have one (option own_thread). */
void hearth_counter_laps_begin(void);

/* In that thread, before it waits: a lap, if one is due. */
void hearth_counter_laps_step(void);

#endif
