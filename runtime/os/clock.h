/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The time of allocations and deallocations: for each thread it never runs back. Reading the system's clock costs as much as
 * the rest of malloc: between two readings of it, at most some milliseconds apart, a thread counts the processor's ticks. */
#ifndef HEARTH_RUNTIME_CLOCK_H
#define HEARTH_RUNTIME_CLOCK_H

#include "os.h"
#include "reentry.h"

#define HEARTH_CLOCK_SHIFT 32

/* At the start of the run. */
void hearth_clock_begin(void);

/* Read the system's clock. */
uint64_t hearth_clock_read(void);

/* As hearth_os_now_ns, but for some ten nanoseconds; half a microsecond while the system changes its clock's speed. Behind it
 * by more, for a millisecond, where the thread was interrupted each time that it read the clock. In a critical section. */
static inline uint64_t hearth_clock_now_ns(void) {
  uint64_t passed = hearth_os_ticks() - hearth_this_thread.clock.ticks;

  if (__builtin_expect(passed >= hearth_this_thread.clock.window, false))
    return hearth_clock_read();
  return hearth_this_thread.clock.ns + (passed * hearth_this_thread.clock.rate >> HEARTH_CLOCK_SHIFT);
}

#endif
