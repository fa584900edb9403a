/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The thread of the runtime's own, which looks at memory while the program runs (docs/decisions/own-thread.md).
 * There is at most one. */
#ifndef HEARTH_RUNTIME_OWN_THREAD_H
#define HEARTH_RUNTIME_OWN_THREAD_H

#include "block.h"
#include "mib_table.h"

#include "hearth/mib.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part of its work. Returns after how many ns it is to be called again; it may come earlier. */
typedef uint64_t hearth_own_thread_step(void);

/* Have it do this, too: at most two such steps. NULL: only what it does anyway. Begins it, if it does not run;
 * `with_beats`: then it marks the clock's epochs (clock.h). False: there is no memory, or the system refuses. */
bool hearth_own_thread_begin(hearth_own_thread_step *step, bool with_beats);

/* It was begun, in this process, and does this. */
bool hearth_own_thread_does(hearth_own_thread_step *step);

/* Is there something to look at: counters that count, and a heap of some MiB? */
bool hearth_own_thread_is_worth_it(void);

#define HEARTH_OWN_THREAD_IDLE UINT64_C(4000000) /* ns between questions whether there is something to look at */

/* It also reads all counters of the heap again and again, and notes in which half each is
 * (shadow.h). A lap begins 0.25 s after the last one, or later if laps take more than 1 % of the time, but not more
 * than 2 s. So totals are exact while no granule gets 2^31 counts between two laps: 8.6 billion accesses a second to
 * the same 16 bytes, one billion in heaps of several GB. */

/* At the start, and in a forked child that goes on recording: begin the thread, if no other part of the
 * runtime has, and the program may have one (option own_thread). */
void hearth_counter_laps_begin(void);

/* Looks at the accessed bits of watched blocks' pages (heap/heap.h), by a thread of the runtime's own, summed up
 * by context. With the option accesses=pages, accesses are estimated from these sums where profiles are written
 * (profile/builder/estimates.c). In programs that count their accesses, they are the second witness of what memory
 * is idle (hearth/classify.h): code without counters touches pages, too. */

/* Is this wanted, as far as the way of recording allows it? A message says why not. May set the option sample. */
bool hearth_touches_are_wanted(void);

/* Begin to look, once; the process has one thread. Where the system does not allow it, a message says so, unless it
 * is a second witness that is missing. */
void hearth_touches_begin(void);

/* Forget all sums: of a profile that is reset, with signals blocked. */
void hearth_touches_forget(void);
/* In a forked child, which has no such thread, and no looks. */
void hearth_touches_end_in_child(void);

/* While all threads are stopped: set the fields about looks of all records in the view. `is_part`: others of the run
 * are elsewhere. False: accesses are not to be estimated. */
bool hearth_touches_show(hearth_mib_view *mibs, bool is_part);

/* The same, before the records in the table are forgotten: what the view shows is kept elsewhere. Looks at contexts
 * without a record stay. */
void hearth_touches_forget_shown(const hearth_mib_view *mibs);

/* How many pages of each mapping were accessed: from the text of /proc/self/smaps. */

typedef struct hearth_page_counts {
  uintptr_t start; /* of the mapping */
  uint32_t accessed;
  bool shared; /* some page with a forked process */
} hearth_page_counts;

/* The text is given in pieces that may end anywhere. All zero at first. */
typedef struct hearth_page_counts_reader {
  hearth_page_counts counts; /* of the mapping that is being read */
  char line[64];             /* the beginning of the line that is being read */
  uint32_t length;           /* of the line so far, at most sizeof line */
} hearth_page_counts_reader;

typedef void hearth_page_counts_visit(const hearth_page_counts *counts);

/* Read a piece; `visit` is called for each mapping within [begin, end). False: a mapping from `end` on is reached,
 * and what follows does not matter. */
bool hearth_page_counts_read(hearth_page_counts_reader *reader, const char *text, size_t size, uintptr_t begin,
                             uintptr_t end, hearth_page_counts_visit *visit);

/* -- picks ------------------------------------------------------------------------------------------------------------- */

/* Picks. A pick is the piece of a live block in one page, drawn at a random moment. All are looked at from time to
 * time. They tell of a context
 *
 *   how much of its memory is not accessed in the last half of its life. Each piece is followed until its block ends; then it is
 *   known whether it was picked in the first half and accessed in the last one. It counts by what the heap had: the more it had,
 *   the smaller was a piece's chance. Accesses between the last look and the end are not seen: they belong to the end;
 *
 *   at how many moments a page full of its blocks is soon used again: within HEARTH_IDLE_S, or an eighth of the run so far if that is
 *   less. Each piece tells it of its own bytes, once: used if it was accessed, or if an accessed one claims it for its page; else idle
 *   after that time. A page is used if any of its pieces is, so an accessed piece claims what else a page has, by lot among the pieces
 *   of its context that wait and have told nothing yet: they could lie beside it. If blocks are accessed independently, a piece is
 *   used with the chance of a page of B pieces, 1 - (1 - q)^B, where q is that of one. Of a walk over all of them, the first accesses
 *   claim all that waits: they are used with the chance that a walk follows, whether one look sees it or ten. Where less waits
 *   than a page has, later pieces are claimed for the rest, unless so many were accessed at once that it is a walk. */

#define HEARTH_PICKS_MOST 2048u

typedef struct hearth_pick {
  const char *begin;
  size_t size;       /* bytes, in one page */
  uint64_t accesses; /* to them, when it was picked; of one that is followed, at the last look */
  uint64_t alloc_ns; /* of the block */
  uint64_t begin_ns; /* when it was picked */
  uint64_t last_ns;  /* of one that is followed: the last look that saw an access, or begin_ns */
  uint64_t before_last_ns;
  uint64_t weight;
  uint32_t context;
  uint16_t looks;       /* at it since it was picked; no more are counted than matter */
  bool lives, accessed; /* as the look that goes on has found it */
  bool told;            /* whether its page was used */
} hearth_pick;

typedef struct hearth_pick_table {
  hearth_pick rows[HEARTH_PICKS_MOST];
  uint32_t count;
  uint32_t halvings; /* each stands for 1 << halvings */
} hearth_pick_table;

typedef struct hearth_picks {
  hearth_pick_table waiting;  /* neither accessed nor ended, as far as is known: for moments */
  hearth_pick_table followed; /* not ended, as far as is known: for the last half of lives */
  uint64_t looked_ns, now_ns; /* the last two looks; the one that goes on */
} hearth_picks;

/* Their number, and their weights, summed up: of those that were picked in the first half of their block's life. */
typedef struct hearth_pick_sums {
  uint64_t picks, weight, late_weight; /* the last: of those that were not accessed in the last half */
} hearth_pick_sums;

typedef struct hearth_pick_row {
  hearth_pick_sums picked; /* of blocks that ended */
  /* Pieces that have told whether a page was used: their bytes; the same by chance; of these, the used ones. */
  uint64_t told_bytes;
  double told_weight, used_weight;
  uint64_t claimed; /* bytes of used pages, for which pieces are still wanted */
  /* Of the look that goes on: all pieces, and of those that have told nothing yet the accessed and the waiting ones. */
  uint64_t looked_bytes, accessed, new_accessed, new_bytes, waiting_bytes;
  /* For a dump: */
  uint64_t live_dump;    /* the last one that was shown picks of its live blocks */
  hearth_pick_sums live; /* these */
} hearth_pick_row;

/* Sums by context. One thread adds to them; a dump reads them under the lock. */
typedef struct hearth_pick_rows {
  hearth_pick_row *rows;
  uint32_t count;
} hearth_pick_rows;

/* For contexts below `count`, in memory that is taken as rows are touched. False: no address space. */
bool hearth_pick_rows_create(hearth_pick_rows *rows, uint32_t count);
void hearth_pick_rows_forget(hearth_pick_rows *rows);

/* Pick the piece that has this byte, if it is of a live block; now. `weight`: the pages that it was drawn from, and
 * how long a time the moment stands for. Where there is no room, half of all picks are left out, and from then on
 * each counts for two. */
void hearth_picks_take(hearth_picks *picks, const char *byte, uint64_t weight, uint64_t now_ns, hearth_sampler *random);

/* Look at all picks, `run_ns` after the program's start. What they tell goes to the sums of their contexts. A pick
 * that ended before the second look tells nothing of its block's life, and is left out. */
void hearth_picks_look(hearth_picks *picks, uint64_t now_ns, uint64_t run_ns, hearth_sampler *random,
                       hearth_pick_rows *sums);

/* Show a dump, by its number, those of live blocks that were looked at: as if the blocks ended `run_ns` after the
 * program's start. */
void hearth_picks_show(const hearth_picks *picks, uint64_t run_ns, uint64_t dump, hearth_pick_rows *sums);

/* The fields of a context that picks make; at a dump, with those that it was shown. */
void hearth_picks_set(const hearth_pick_row *row, uint64_t dump, hearth_mib *mib);

/* Picks of the memory that the program has: drawn and looked at by a thread of the runtime's own, summed
 * up by context, and read by dumps. */

/* Begin to draw picks, if the options and the way of recording allow it. At the start, once: the process has one
 * thread. Where the system refuses a thread, there are no picks. A forked child has no such thread, and no picks. */
void hearth_pick_thread_begin(void);
bool hearth_pick_thread_runs(void);

/* Forget all sums: of a profile that is reset, with signals blocked. */
void hearth_pick_thread_forget(void);

/* For a dump: hold the sums still. False: there are none. With signals blocked. */
bool hearth_pick_thread_hold(void);
void hearth_pick_thread_let_go(void);

/* While they are held: the fields of a context's record that picks make. */
void hearth_pick_thread_set(uint32_t context, hearth_mib *mib);

#endif
