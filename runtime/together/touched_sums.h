/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums over windows, by context. One thread adds to them; a dump reads them under the lock (windows.h). Sums are numbers
 * with a fraction, as what was found in a sample is scaled to the whole heap. */
#ifndef HEARTH_RUNTIME_TOUCHED_SUMS_H
#define HEARTH_RUNTIME_TOUCHED_SUMS_H

#include "hearth/raw.h"

#include <stdbool.h>
#include <stdint.h>

#define HEARTH_SUMS_FRACTION 16 /* bits behind the point */

/* A number found in `sampled` of `pages` pages, with a fraction, for all of them. */
static inline uint64_t hearth_sums_scale(uint64_t number, uint64_t pages, uint64_t sampled) {
  uint64_t fraction = number << HEARTH_SUMS_FRACTION;

  return fraction / sampled * pages + fraction % sampled * pages / sampled;
}

/* Of picks (picks.h): their number, and their weights, summed up. */
typedef struct hearth_pick_sums {
  uint64_t picks, weight, late_weight; /* the last: of those that were not accessed any more */
} hearth_pick_sums;

typedef struct hearth_touched_row {
  uint64_t sums[HEARTH_RAW_TOUCHED_COLUMNS]; /* with a fraction, but for the windows */
  uint64_t window;                           /* the last one that saw a block of it */
  uint64_t page;                             /* the last one, of all windows, in which a block of it was touched */
  uint64_t page_lines;                       /* a bit for each line of that page that was */
  hearth_pick_sums picked;                   /* those that ended or were accessed */
  /* Pieces that have told whether a page was used (picks.h): their bytes; the same by chance; of these, the used ones. */
  uint64_t told_bytes;
  double told_weight, used_weight;
  uint64_t claimed; /* bytes of used pages, for which pieces are still wanted */
  /* Of the look that goes on: all pieces, and of those that have told nothing yet the accessed and the waiting ones. */
  uint64_t looked_bytes, accessed, new_accessed, new_bytes, waiting_bytes;
  /* Of the last window's sample: */
  uint32_t lines, pages;
  uint32_t blocks, live; /* in parts of HEARTH_SHARE */
  /* For a dump: */
  uint64_t dump;            /* the last one that has a record of it */
  uint32_t record;          /* its number there */
  uint64_t waiting_dump;    /* the last one that was shown picks of it that wait */
  hearth_pick_sums waiting; /* these */
} hearth_touched_row;

#define HEARTH_SHARE 256u /* parts of a block */

typedef struct hearth_touched_sums {
  hearth_touched_row *rows; /* by context */
  uint32_t count;
  uint64_t window; /* the number of the current one, from 1 on */
  uint32_t *seen;  /* contexts of which the current window saw a block */
  uint32_t seen_count, seen_most;
} hearth_touched_sums;

/* For contexts below `count`, of which a window sees at most `seen_most`. False: no address space. */
bool hearth_touched_sums_create(hearth_touched_sums *sums, uint32_t count, uint32_t seen_most);
void hearth_touched_sums_forget(hearth_touched_sums *sums);

void hearth_touched_sums_begin_window(hearth_touched_sums *sums);
/* The row of a context in the current window; NULL: it is no context. */
hearth_touched_row *hearth_touched_sums_see(hearth_touched_sums *sums, uint32_t context);
/* The sample stood for `pages` pages where it had `sampled`, and the window counts as `weight` of them. */
void hearth_touched_sums_end_window(hearth_touched_sums *sums, uint64_t pages, uint64_t sampled, uint32_t weight);

#endif
