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

/* In that thread: take a lap of the counters (counter_laps.h), if one is due; then wait, and mark the clock's epochs meanwhile.
 * False: the program, or its recording, has ended, and so must the thread. */
bool hearth_own_thread_wait(uint64_t ns);

#endif
