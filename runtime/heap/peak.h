/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The peak: when most bytes of malloc's blocks are live, so that a heap dump can show it. */
#ifndef HEARTH_RUNTIME_PEAK_H
#define HEARTH_RUNTIME_PEAK_H

#include "thread_state.h"

#include <stdbool.h>
#include <stdint.h>

/* Live bytes that this thread has not told of yet are at most this; atomic. */
extern uint64_t hearth_live_step __attribute__((visibility("hidden")));

void hearth_live_tell(void);

/* Have the next call that ends outside of all critical sections look for what is due (hearth_heap_hooks). */
void hearth_live_ask(void);

/* Blocks of `bytes`, negative for those that end, are live now. */
static inline void hearth_live_change(int64_t bytes) {
  int64_t change = hearth_this_thread.live_change += bytes;

  if (__builtin_expect((uint64_t)(change < 0 ? -change : change) >= hearth_live_step, false))
    hearth_live_tell();
}

/* Would the end of a block of so many bytes be told of? Then hearth_live_tell_before comes first, outside of critical
 * sections: if the live bytes are at a peak now, a dump becomes due that is to have the block. */
static inline bool hearth_live_falls(int64_t bytes) {
  return __builtin_expect(hearth_this_thread.live_change - bytes <= -(int64_t)hearth_live_step, false);
}
void hearth_live_tell_before(void);

/* A dump of the peak is about to be made: a thread that is to free a block lets the dump come first. Atomic. */
extern bool hearth_live_gate __attribute__((visibility("hidden")));

/* Wait until a dump that another thread is at is made, but not for ever; outside of critical sections. */
void hearth_live_wait(void);
void hearth_live_let_go(void);

/* When the run ends: was the most that was ever live not dumped yet? */
bool hearth_live_is_at_peak(void);

/* Is a dump of the peak due? The second: then it is not any more. */
bool hearth_live_peak_is_due(void);
bool hearth_live_take_peak(void);

/* Bytes that were live when threads were stopped for a dump, and the most that ever were; threads may have gone on since. */
typedef struct hearth_live_stop {
  uint64_t bytes, most_bytes;
} hearth_live_stop;
hearth_live_stop hearth_live_note_stop(void);

/* A dump that began then has a peak of so many bytes. */
void hearth_live_note_peak(uint64_t begin_ns, uint64_t most);

/* In a forked child. */
void hearth_live_forget_peak(void);

#endif
