/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Picks. A pick is the part of a live block in one page, drawn at a random moment, so that all memory of all moments has the same
 * chance. It is looked at until it is accessed, or its block ends. Of a context's picks, those that were not accessed any more are
 * the part of its memory's time that comes after the last access. Accesses between the last look and the end are not seen. */
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
  uint32_t context;
  bool looked_at; /* since it was picked */
} hearth_pick;

typedef struct hearth_picks {
  hearth_pick rows[HEARTH_PICKS_MOST]; /* neither accessed nor ended, as far as is known */
  uint32_t count, next;                /* rows; the one to look at next */
  uint32_t halvings;                   /* each stands for 1 << halvings */
} hearth_picks;

/* Pick the part that has this byte, if it is of a live block. Where there is no room, half of all picks are dropped, and
 * from then on each counts for two. */
void hearth_picks_take(hearth_picks *picks, const char *byte, hearth_sampler *random);

/* Look at `most` picks, or all there are. Those that were accessed or have ended go to the sums of their contexts. A pick that
 * ended before the first look tells nothing, and is dropped. */
void hearth_picks_look(hearth_picks *picks, uint32_t most, hearth_touched_sums *sums);

/* Add those that were looked at to `late_now` of their contexts, for dump number `dump`. */
void hearth_picks_show(const hearth_picks *picks, uint64_t dump, hearth_touched_sums *sums);

#endif
