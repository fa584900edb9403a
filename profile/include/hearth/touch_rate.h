/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Accesses that were not counted, but estimated from looks at pages. A *look* tells of one page of a block whether
 * it was touched in an interval. Profiles keep sums of looks (the fields of a MIB from LookedLifetime on), and
 * estimates are made of them anew whenever a profile is written, so that they do not depend on how inputs were
 * merged. docs/decisions/touched-pages.md. */
#ifndef HEARTH_TOUCH_RATE_H
#define HEARTH_TOUCH_RATE_H

#include "hearth/mib.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Weight of a counted second of life against one with looks, where a context has both: looks know the order of
 * magnitude only. */
enum { HEARTH_COUNTED_WEIGHT = 16 };

/* How often a page of the context's blocks is touched, per second, and the standard error of that, from the number
 * of looks alone. With too few looks, rate -1. Any thread. */
typedef struct hearth_touch_rate {
  double per_second, error;
} hearth_touch_rate;
hearth_touch_rate hearth_touch_rate_of(const hearth_mib *mib);

#ifdef __cplusplus
}
#endif

#endif
