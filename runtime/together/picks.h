/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Picks. A pick is the piece of a live block in one page, drawn at a random moment. All are looked at from time to time, each until it
 * is accessed or its block ends. They tell of a context
 *
 *   how much of its memory is not accessed any more: of its picks, those that were not are the share of its memory's time that comes
 *   after the last access, if each counts by what the heap had: the more it had, the smaller was a piece's chance. Accesses between
 *   the last look and the end are not seen, so two looks at least must have found none;
 *
 *   how often a page full of its blocks is soon used again: within HEARTH_IDLE_S, or an eighth of the run so far if that is
 *   less. A pick that is accessed within this time stands for a page, as pages are used if any of their pieces is; one that is not
 *   stands for its own bytes. A program may walk over all of its memory at once, which uses each page once: so of the pieces that
 *   were accessed between the same two looks, no more count than the looked-at pieces of their context make pages. */
#ifndef HEARTH_RUNTIME_PICKS_H
#define HEARTH_RUNTIME_PICKS_H

#include "sample.h"
#include "touched_sums.h"

#include "hearth/mib.h"

#include <stddef.h>

#define HEARTH_PICKS_MOST 2048u

typedef struct hearth_pick {
  const char *begin;
  size_t size;       /* bytes, in one page */
  uint64_t accesses; /* to them, when it was picked */
  uint64_t alloc_ns; /* of the block */
  uint64_t begin_ns; /* when it was picked */
  uint64_t pages;    /* that the heap used, when it was picked */
  uint32_t context;
  uint16_t looks;       /* at it since it was picked; no more are counted than matter */
  bool accessed, waits; /* as the look that goes on has found it */
  bool idle;            /* it has waited long enough */
} hearth_pick;

typedef struct hearth_picks {
  hearth_pick rows[HEARTH_PICKS_MOST]; /* neither accessed nor ended, as far as is known */
  uint32_t count;
  uint32_t halvings; /* each stands for 1 << halvings */
} hearth_picks;

/* Pick the piece that has this byte, drawn from `pages` pages, if it is of a live block; now. Where there is no room, half of all picks
 * are left out, and from then on each counts for two. */
void hearth_picks_take(hearth_picks *picks, const char *byte, uint64_t pages, uint64_t now_ns, hearth_sampler *random);

/* Look at all picks, `run_ns` after the program's start. Those that were accessed or have ended go to the sums of their contexts. A pick that
 * ended before the second look tells nothing, and is left out. */
void hearth_picks_look(hearth_picks *picks, uint64_t now_ns, uint64_t run_ns, hearth_touched_sums *sums);

/* Show a dump, by its number, those that were looked at: as late, unless an access comes later. */
void hearth_picks_show(const hearth_picks *picks, uint64_t dump, hearth_touched_sums *sums);

/* The fields of a context that picks make; at a dump, with those that it was shown. */
void hearth_picks_set(const hearth_touched_row *row, uint64_t dump, hearth_mib *mib);

#endif
