/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
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
#ifndef HEARTH_RUNTIME_PICKS_H
#define HEARTH_RUNTIME_PICKS_H

#include "block.h"

#include "hearth/mib.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Picks (picks.h) of the memory that the program has: drawn and looked at by a thread of the runtime's own, summed
 * up by context, and read by dumps. */

/* Begin to draw picks, if the options and the way of recording allow it. At the start, once: the process has one
 * thread. Where the system refuses a thread, there are no picks. A forked child has no such thread, and no picks. */
void hearth_pick_thread_begin(void);
bool hearth_pick_thread_runs(void);

/* The thread also does this again and again, some milliseconds apart: the process has one such thread. It is told
 * whether there is something to look at: counters that count, and a heap of some MiB. */
void hearth_pick_thread_run_beside(void (*step)(bool is_worth_it));

/* Forget all sums: of a profile that is reset, with signals blocked. */
void hearth_pick_thread_forget(void);

/* For a dump: hold the sums still. False: there are none. With signals blocked. */
bool hearth_pick_thread_hold(void);
void hearth_pick_thread_let_go(void);

/* While they are held: the fields of a context's record that picks make. */
void hearth_pick_thread_set(uint32_t context, hearth_mib *mib);

#endif
