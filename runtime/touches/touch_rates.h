/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From looks at pages to touches per second, and to accesses. A look at a page tells whether it was touched in the interval
 * before. Touches are taken to come at random moments: then with rate r a page is untouched in an interval t with
 * probability exp(-r t). */
#ifndef HEARTH_RUNTIME_TOUCH_RATES_H
#define HEARTH_RUNTIME_TOUCH_RATES_H

#include "hearth/mib.h"

#include <stdbool.h>

/* Intervals of two lengths: short ones tell much touched pages apart, long ones little touched ones. */
typedef enum hearth_touch_interval {
  HEARTH_TOUCH_SHORT,
  HEARTH_TOUCH_LONG,
  HEARTH_TOUCH_INTERVALS
} hearth_touch_interval;

typedef struct hearth_touch_sums {
  struct {
    uint64_t looks;   /* pages looked at */
    uint64_t touched; /* of these */
    uint64_t ns;      /* sum of their intervals */
  } of[HEARTH_TOUCH_INTERVALS];
} hearth_touch_sums;

/* Enough looks to tell a rate? */
bool hearth_touch_rate_is_known(const hearth_touch_sums *sums);

/* Touches of a page per second; at least one look of each length. */
double hearth_touch_rate(const hearth_touch_sums *sums);

/* Bytes and seconds of life of a context's blocks. */
double hearth_touch_byte_seconds(const hearth_mib *mib);

/* Set a record's access fields: so many accesses for the first writes to each block, and so many for each touch. */
void hearth_touch_set_accesses(hearth_mib *mib, double rate);

#endif
