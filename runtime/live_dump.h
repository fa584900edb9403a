/* Heap dumps: what is live at one moment, each in a file of its own. In live mode they take the place of profiles. */
#ifndef HEARTH_RUNTIME_LIVE_DUMP_H
#define HEARTH_RUNTIME_LIVE_DUMP_H

#include "snapshot.h"

#include "hearth/raw.h"

/* Write one to the next file: NAME.1, NAME.2 ...; those of peaks replace NAME.peak. A message says what went wrong. For who
 * has the lock of dumps, with signals blocked. Returns whether it was written. */
bool hearth_live_dump(enum hearth_raw_occasion occasion);

/* At the start of the run: whatever has to be known until the first dump. */
void hearth_live_begin(void);

/* A forked child's dumps have names of their own. */
void hearth_live_forget_files(void);

/* -- the peak; bytes of malloc's blocks ------------------------------------------------------------------------------ */

/* Live bytes that this thread has not told of yet are at most this; atomic. */
extern uint64_t hearth_live_step __attribute__((visibility("hidden")));

void hearth_live_tell(void);

/* Blocks of `bytes`, negative for those that end, are live now. */
static inline void hearth_live_change(int64_t bytes) {
  int64_t change = hearth_this_thread.live_change += bytes;

  if (__builtin_expect((uint64_t)(change < 0 ? -change : change) >= hearth_live_step, false))
    hearth_live_tell();
}

/* Would the end of a block of so many bytes be told of? Then hearth_live_tell_before comes first, outside of sections: if what
 * is live now is a peak, a dump becomes due that is to have the block. */
static inline bool hearth_live_falls(int64_t bytes) {
  return __builtin_expect(hearth_this_thread.live_change - bytes <= -(int64_t)hearth_live_step, false);
}
void hearth_live_tell_before(void);

/* A dump of the peak is about to be made: who is to free a block lets it. Atomic. */
extern bool hearth_live_gate __attribute__((visibility("hidden")));

/* Wait until a dump that another thread is at is made, but not for ever; outside of sections. */
void hearth_live_wait(void);
void hearth_live_let_go(void);

/* When the run ends: was the most that was ever live not dumped yet? */
bool hearth_live_is_at_peak(void);

/* Is a dump of the peak due? The second: then it is not any more. */
bool hearth_live_peak_is_due(void);
bool hearth_live_take_peak(void);

#endif
