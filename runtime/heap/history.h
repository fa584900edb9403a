/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which contexts held the heap: at its peak, and over time. Words:
 *
 *   mark    the peak, or a point of time on a grid whose width doubles as the run goes on
 *
 * A block counts when it ends, and costs nothing before: its header says when it began, so it was live at each mark
 * between the two. Most blocks end before the next mark, which one comparison tells. Blocks that are live when a
 * profile is written are added to a view then. So both are exact: by the times of births and ends, which of one
 * thread are in their order. */
#ifndef HEARTH_RUNTIME_HISTORY_H
#define HEARTH_RUNTIME_HISTORY_H

#include "block.h"
#include "thread_state.h"

#include "hearth/raw.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Just behind the latest mark so far, and the next point of the grid, since the start of the run; atomic. Blocks
 * that lie between count nowhere. */
typedef struct hearth_history_marks {
  uint64_t behind_ns, next_ns;
} hearth_history_marks;
extern hearth_history_marks hearth_history __attribute__((visibility("hidden"), aligned(64)));

/* Before any block has a context. Without memory there is no history. */
void hearth_history_begin(void);

/* What a thread keeps of some contexts until it adds it to what threads share; all zero at first. */
#define HEARTH_HISTORY_MEMOS 64

typedef struct hearth_history_memo {
  uint32_t context;
  uint32_t number; /* of the peak that peak_bytes and peak_blocks are of */
  uint64_t first_ns,
      last_ns; /* points: `begun` bytes are live more from the first on, and `ended` less from the last on */
  uint64_t begun, ended;
  uint64_t peak_bytes, peak_blocks;
} hearth_history_memo;

void hearth_history_note(hearth_history_memo *memos, const hearth_block *block, uint64_t end_ns);

/* A block of malloc's that is recorded ends. In a critical section.
 *   memos  the thread's; NULL: it has none at hand */
static inline void hearth_history_end(hearth_history_memo *memos, const hearth_block *block, uint64_t end_ns) {
  if (__builtin_expect(block->alloc_ns < __atomic_load_n(&hearth_history.behind_ns, __ATOMIC_RELAXED), false) ||
      __builtin_expect(end_ns >= __atomic_load_n(&hearth_history.next_ns, __ATOMIC_RELAXED), false))
    hearth_history_note(memos, block, end_ns);
}

/* Add what they keep, and empty them. */
void hearth_history_flush(hearth_history_memo *memos);

/* Before a live block goes on with `more` bytes, as of the last event of this thread. */
void hearth_history_grow(const hearth_block *block, uint64_t more);

/* Is the table to become larger, or the grid wider? By one thread, with the others stopped. */
bool hearth_history_is_due(void);
void hearth_history_make_room(void);

/* A copy, for a profile; all threads are stopped, from its making to its end. */
typedef struct hearth_history_entry {
  uint64_t key;  /* (context + 1) << 32 | point; 0: none */
  int64_t bytes; /* that are live more from the point on */
} hearth_history_entry;

typedef struct hearth_history_sum {
  uint64_t total, most;
} hearth_history_sum;

typedef struct hearth_history_view {
  hearth_history_entry *entries; /* NULL: there is none */
  size_t room, used;
  uint64_t peak_ns;
  uint64_t middles[HEARTH_RAW_POINTS]; /* the point in whose time the middle of each part of the run lies */
  hearth_history_sum all;
  uint64_t levels[HEARTH_RAW_POINTS]; /* live bytes of all contexts, in the middle of each part of the run */
} hearth_history_view;

/* After the threads' memos were flushed. Without entries: there is no history, or no memory. */
void hearth_history_view_create(hearth_history_view *view);
/* A block that is live. Returns how many it stands for if it was at the peak, else 0. */
uint64_t hearth_history_view_add(hearth_history_view *view, const hearth_block *block);
/* After the last one. */
void hearth_history_view_end(hearth_history_view *view, uint64_t duration_ns);
/* The same of one context, if it is one of those that hold most: a 256th of all, on average or at their most. */
bool hearth_history_view_levels(const hearth_history_view *view, uint32_t context, uint64_t ret[HEARTH_RAW_POINTS]);
void hearth_history_view_destroy(hearth_history_view *view);

/* What blocks of a context that have ended held at the peak. */
typedef struct hearth_history_share {
  uint64_t bytes, blocks;
} hearth_history_share;
hearth_history_share hearth_history_at_peak(uint32_t context);

/* The peak: when most bytes of malloc's blocks are live, so that a heap dump can show it. */

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

/* Bytes that were live when threads were stopped for a dump, and the most that ever were; threads may have gone on
 * since. */
typedef struct hearth_live_stop {
  uint64_t bytes, most_bytes;
} hearth_live_stop;
hearth_live_stop hearth_live_note_stop(void);

/* A dump that began then has a peak of so many bytes. */
void hearth_live_note_peak(uint64_t begin_ns, uint64_t most);

/* In a forked child. */
void hearth_live_forget_peak(void);

#endif
