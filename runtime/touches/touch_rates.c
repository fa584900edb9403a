/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* There is no libm: logarithms are computed by a series. */
#include "touch_rates.h"

/* What a block's first writes and a touch are taken for, in accesses: between what exact counting finds in lua, jq and
 * sqlite (docs/decisions/touched-pages.md). */
#define FIRST_ACCESSES     2 /* and one for each ... */
#define FIRST_BYTES        16
#define ACCESSES_OF_TOUCH  24  /* of a block within a page */
#define ACCESSES_OF_A_PAGE 128 /* of a larger one */
#define PAGE_BYTES         4096.0
#define LEAST_LOOKS        4   /* long ones */
#define SATURATED          0.9 /* share of touched pages from which long intervals do not tell rates apart */
#define NS_PER_S           1e9

/* -ln(x) for 0 < x <= 1: halvings of 1 up to x, then ln(y) = 2 artanh((y - 1) / (y + 1)) for y in (1/2, 1]. */
static double minus_log(double x) {
  double result = 0;

  for (; x <= 0.5; x *= 2)
    result += 0.693147180559945309;
  double z = (1 - x) / (1 + x), square = z * z, power = z;
  for (int odd = 1; odd < 40; odd += 2, power *= square)
    result += 2 * power / odd;
  return result;
}

bool hearth_touch_rate_is_known(const hearth_touch_sums *sums) {
  return sums->of[HEARTH_TOUCH_LONG].looks >= LEAST_LOOKS && sums->of[HEARTH_TOUCH_SHORT].looks > 0;
}

/* If all pages were touched, half of one more counts as untouched. */
static double rate_of(const hearth_touch_sums *sums, hearth_touch_interval length) {
  double looks = (double)sums->of[length].looks, touched = (double)sums->of[length].touched;
  double seconds = (double)sums->of[length].ns / looks / NS_PER_S;
  double untouched = touched < looks ? (looks - touched) / looks : 0.5 / (looks + 0.5);

  return seconds > 0 ? minus_log(untouched) / seconds : 0;
}

double hearth_touch_rate(const hearth_touch_sums *sums) {
  double by_long = rate_of(sums, HEARTH_TOUCH_LONG), by_short = rate_of(sums, HEARTH_TOUCH_SHORT);
  double share = (double)sums->of[HEARTH_TOUCH_LONG].touched / (double)sums->of[HEARTH_TOUCH_LONG].looks;

  return share <= SATURATED || by_long > by_short ? by_long : by_short;
}

/* Of one block of this size. */
static double accesses_per_touch(double size) {
  return size <= PAGE_BYTES ? ACCESSES_OF_TOUCH : ACCESSES_OF_A_PAGE * size / PAGE_BYTES;
}

double hearth_touch_byte_seconds(const hearth_mib *mib) {
  return (double)mib->TotalSize / (double)mib->AllocCount * ((double)mib->TotalLifetime / NS_PER_S);
}

static uint64_t whole(double value) { return value >= 0x1p63 ? UINT64_C(1) << 63 : (uint64_t)(value + 0.5); }

void hearth_touch_set_accesses(hearth_mib *mib, double rate) {
  double blocks = (double)mib->AllocCount, size = (double)mib->TotalSize / blocks;
  double lifetime_ms = (double)mib->TotalLifetime / blocks / 1e6;
  double first = blocks * FIRST_ACCESSES + (double)mib->TotalSize / FIRST_BYTES;
  double accesses = first + rate * ((double)mib->TotalLifetime / NS_PER_S) * accesses_per_touch(size);
  double density = accesses * 100 / (size > 0 ? size : 1); /* sums over blocks, as in mib_record.h */
  double lifetime_density = density * 1000 / (lifetime_ms < 1 ? 1 : lifetime_ms);

  mib->TotalAccessCount = whole(accesses);
  mib->MinAccessCount = mib->MaxAccessCount = whole(accesses / blocks);
  mib->TotalAccessDensity = whole(density);
  mib->MinAccessDensity = mib->MaxAccessDensity = whole(density / blocks);
  mib->TotalLifetimeAccessDensity = whole(lifetime_density);
  mib->MinLifetimeAccessDensity = mib->MaxLifetimeAccessDensity = whole(lifetime_density / blocks);
}
