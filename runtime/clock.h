/* The time of allocations and deallocations, monotonic. Reading the system's clock costs as much as the rest of malloc:
 * between two readings of it, at most some milliseconds apart, a thread counts the processor's ticks. */
#ifndef HEARTH_RUNTIME_CLOCK_H
#define HEARTH_RUNTIME_CLOCK_H

#include "os.h"
#include "section.h"

#define HEARTH_CLOCK_SHIFT 32

/* Nanoseconds per tick, times 2^HEARTH_CLOCK_SHIFT; 0: not known (yet). Atomic. */
extern uint64_t hearth_clock_rate __attribute__((visibility("hidden")));
/* Ticks after which the system's clock is read again. */
extern uint64_t hearth_clock_window __attribute__((visibility("hidden")));

/* At the start of the run. */
void hearth_clock_begin(void);

uint64_t hearth_clock_read(void);

/* As hearth_os_now_ns, to a few ten nanoseconds; in a section that interrupted no other. */
static inline uint64_t hearth_clock_now_first_ns(void) {
  uint64_t rate = __atomic_load_n(&hearth_clock_rate, __ATOMIC_ACQUIRE);

  if (__builtin_expect(rate == 0, false))
    return hearth_clock_read();
  uint64_t passed = hearth_os_ticks() - hearth_this_thread.clock_ticks;
  if (__builtin_expect(passed >= hearth_clock_window, false))
    return hearth_clock_read();
  return hearth_this_thread.clock_ns + (passed * rate >> HEARTH_CLOCK_SHIFT);
}

/* The same in any section. */
static inline uint64_t hearth_clock_now_ns(void) {
  return hearth_section_interrupted() ? hearth_clock_read() : hearth_clock_now_first_ns();
}

#endif
