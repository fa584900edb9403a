/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The time of allocations and deallocations: for each thread it never runs back. Reading the system's clock costs as
 * much as the rest of malloc: between two readings of it, at most some milliseconds apart, a thread counts the
 * processor's ticks. Reading these takes half of a malloc's time, too. Words:
 *
 *   epoch   the time between two beats of a thread that wakes every few milliseconds (own_thread.c)
 *   event   a malloc or free that takes a time: a birth, or an end
 *
 * A thread reads the ticks at its first event of an epoch, at one of 1 to 64 births, drawn at random, and at the
 * ends of the blocks that these begin. The other events take the time of the last reading, and 4 ns for each event
 * since, so that their order is kept. So an event's time is never late, and early by an epoch at most, however long
 * the program waits. A block both of whose events read the ticks has an exact lifetime, and stands for others of its
 * context: without that, pauses of the program before a block begins would count as a part of its life. Without
 * beats, each event reads the ticks; so it does in the first 25 milliseconds. */
#ifndef HEARTH_RUNTIME_CLOCK_H
#define HEARTH_RUNTIME_CLOCK_H

#include "os.h"
#include "thread_state.h"

#include <stdatomic.h>

#define HEARTH_CLOCK_SHIFT 32

/* At the start of the run. */
void hearth_clock_begin(void);

/* Written by the thread that beats, on a page of its own: the system zeroes it in forked children, which have no
 * such thread. */
typedef union hearth_clock_page {
  struct {
    _Atomic uint64_t epoch;      /* its number; 0: there are no beats */
    _Atomic uint64_t began_ns;   /* the current one; 0: there is none */
    _Atomic uint64_t longest_ns; /* of those that have ended */
  };
  char bytes[HEARTH_PAGE_BYTES];
} hearth_clock_page;
extern hearth_clock_page hearth_clock_beats __attribute__((visibility("hidden"), aligned(HEARTH_PAGE_BYTES)));

/* Before the first beat. False: there can be none, as there are no ticks, or as forked children would see them. */
bool hearth_clock_prepare_beats(void);

/* For the thread that beats: a new epoch begins, which is to last as many ns as this returns. 0: the run is short so
 * far, or there were few events lately, and the epoch has ended instead; ask again after some milliseconds. */
uint64_t hearth_clock_beat(void);
void hearth_clock_end_beats(void);

/* The length of the longest epoch so far, in ns: no event's time is wrong by more. 0: each event has read the ticks. */
uint64_t hearth_clock_error_ns(void);

/* Read the system's clock. */
uint64_t hearth_clock_read(void);

/* As hearth_os_now_ns, but for some ten nanoseconds; half a microsecond while the system changes its clock's speed.
 * Behind it by more, for a millisecond, where the thread was interrupted each time that it read the clock. In a
 * critical section. */
static inline uint64_t hearth_clock_now_ns(void) {
  uint64_t passed = hearth_os_ticks() - hearth_this_thread.clock.ticks;

  if (__builtin_expect(passed >= hearth_this_thread.clock.window, false))
    return hearth_clock_read();
  return hearth_this_thread.clock.ns + (passed * hearth_this_thread.clock.rate >> HEARTH_CLOCK_SHIFT);
}

/* Two bits of an event's time. KNOWN, of a birth: it was drawn to read the ticks, and its end does so; of an end:
 * the lifetime is the difference of the two times, to the error of the birth's. SAMPLE, of an end: it is exact, and
 * stands for those that end in the epoch of their birth. */
#define HEARTH_CLOCK_KNOWN  UINT64_C(1)
#define HEARTH_CLOCK_SAMPLE UINT64_C(2)
#define HEARTH_CLOCK_STEP   UINT64_C(4)

/* Read the ticks for a birth, or the end of a block with that birth. In a critical section. */
uint64_t hearth_clock_read_for_birth(void);
uint64_t hearth_clock_read_for_end(uint64_t birth_ns);

/* The time of an event of a thread that is in no other critical section than this. */
static inline uint64_t hearth_clock_birth_ns(void) {
  hearth_thread_clock *clock = &hearth_this_thread.clock;
  uint64_t epoch = atomic_load_explicit(&hearth_clock_beats.epoch, memory_order_relaxed);

  if (__builtin_expect(epoch != clock->epoch || clock->shown >= clock->shown_most, false))
    return hearth_clock_read_for_birth();
  return clock->shown += HEARTH_CLOCK_STEP;
}

static inline uint64_t hearth_clock_end_ns(uint64_t birth_ns) {
  hearth_thread_clock *clock = &hearth_this_thread.clock;
  uint64_t epoch = atomic_load_explicit(&hearth_clock_beats.epoch, memory_order_relaxed);

  if (__builtin_expect(epoch != clock->epoch || birth_ns & HEARTH_CLOCK_KNOWN || birth_ns < clock->began, false))
    return hearth_clock_read_for_end(birth_ns);
  return clock->shown += HEARTH_CLOCK_STEP;
}

#endif
