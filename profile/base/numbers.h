/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Exponential and logarithm for all that decides a stored number. Those of the C library may differ in the last bit
 * from machine to machine, and so would profiles and plans. frexp, ldexp, floor, sqrt and lrint are exact
 * everywhere. */
#ifndef HEARTH_NUMBERS_H
#define HEARTH_NUMBERS_H

#include <math.h>
#include <stdbool.h>

#include "hearth/mib.h"

/* ln x, x > 0: of the mantissa by the series of atanh. */
static inline double hearth_ln(double x) {
  int exponent;
  double m = frexp(x, &exponent); /* in [1/2, 1) */
  if (m < 0.70710678118654752) {
    m *= 2;
    exponent--;
  }
  double z = (m - 1) / (m + 1), z2 = z * z, sum = 0;
  for (int i = 13; i > 0; i -= 2)
    sum = sum * z2 + 1.0 / i;
  return 2 * z * sum + exponent * 0.69314718055994531;
}

/* 2 to the power x: the whole part is exact, the rest a Taylor series of exp. */
static inline double hearth_exp2(double x) {
  double bounded = x > 2000 ? 2000 : x < -2000 ? -2000 : x; /* beyond what a double holds */
  double whole = floor(bounded + 0.5), y = (bounded - whole) * 0.69314718055994531, sum = 1;
  for (int i = 13; i > 0; i--)
    sum = 1 + y * sum / i;
  return ldexp(sum, (int)whole);
}

/* ------------------------------------------------ first use ------------------------------------------------ */

/* A block's first use: its header and all words written, and read once. Counting finds 0.3 to 3.5 times that in jq,
 * lua, gawk and sqlite (docs/decisions/touched-pages.md). */

/* Accesses by the first uses of `blocks` blocks of `size` bytes on average. */
static inline double hearth_first_accesses(double blocks, double size) { return blocks * (8 + size / 4); }

/* ------------------------------------------------ live bytes ------------------------------------------------ */

/* Bytes that were live when the profile was written. Of blocks of LLVM's profiles, and of those made before there
 * was the field LiveBytes, the number is known only. Views estimate these; profiles hold what is known. */

/* Else LiveBytes, or TotalSize if all blocks are live, is exact. */
static inline bool hearth_live_bytes_estimated(const hearth_mib *mib) {
  return mib->SizedAtExit < mib->LiveAtExit && mib->LiveAtExit < mib->AllocCount;
}

/* Blocks of unknown size have the average size of all. */
static inline uint64_t hearth_live_bytes(const hearth_mib *mib) {
  if (mib->SizedAtExit >= mib->LiveAtExit)
    return mib->LiveBytes;
  if (mib->LiveAtExit >= mib->AllocCount)
    return mib->TotalSize;
  double average = (double)mib->TotalSize / (double)mib->AllocCount;
  double bytes = average * (double)(mib->LiveAtExit - mib->SizedAtExit);
  return bytes >= 0x1p64 ? UINT64_MAX : hearth_merge_SUM(mib->LiveBytes, (uint64_t)(bytes + 0.5));
}

/* For sums over contexts of all kinds: the estimate in the place of what is unknown. Not to be stored. */
static inline void hearth_fill_live_bytes(hearth_mib *mib) {
  mib->LiveBytes = hearth_live_bytes(mib);
  mib->SizedAtExit = mib->LiveAtExit;
}

#endif
