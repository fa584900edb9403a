/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Picks. A pick is the piece of a live block in one page, drawn at a random moment. It is looked at until it is accessed, or its
 * block ends. Of a context's picks, those that were not accessed any more are the share of its memory's time that comes after the
 * last access, if each counts by what the heap had: the more it had, the smaller was a piece's chance. Accesses between the last
 * look and the end are not seen, so two looks at least must have found none. */
#ifndef HEARTH_RUNTIME_PICKS_H
#define HEARTH_RUNTIME_PICKS_H

#include "sample.h"
#include "touched_sums.h"

#include <stddef.h>

#define HEARTH_PICKS_MOST 512u

typedef struct hearth_pick {
  const char *begin;
  size_t size;       /* bytes, in one page */
  uint64_t accesses; /* to them, when it was picked */
  uint64_t alloc_ns; /* of the block */
  uint64_t pages;    /* that the heap used, when it was picked */
  uint32_t context;
  uint32_t looks; /* at it since it was picked; no more are counted than matter */
} hearth_pick;

typedef struct hearth_picks {
  hearth_pick rows[HEARTH_PICKS_MOST]; /* neither accessed nor ended, as far as is known */
  uint32_t count, next;                /* rows; the one to look at next */
  uint32_t halvings;                   /* each stands for 1 << halvings */
} hearth_picks;

/* Pick the piece that has this byte, drawn from `pages` pages, if it is of a live block. Where there is no room, half of all picks
 * are left out, and from then on each counts for two. */
void hearth_picks_take(hearth_picks *picks, const char *byte, uint64_t pages, hearth_sampler *random);

/* Look at `most` picks, or all there are. Those that were accessed or have ended go to the sums of their contexts. A pick that
 * ended before the second look tells nothing, and is left out. */
void hearth_picks_look(hearth_picks *picks, uint32_t most, hearth_touched_sums *sums);

/* Show a dump, by its number, those that were looked at: as late, unless an access comes later. */
void hearth_picks_show(const hearth_picks *picks, uint64_t dump, hearth_touched_sums *sums);

/* A context's picks, and how many of them are late; at a dump, with those that it was shown. */
void hearth_picks_count(const hearth_touched_row *row, uint64_t dump, uint64_t *ret_picks, uint64_t *ret_late);

#endif
