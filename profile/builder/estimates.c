/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A look at a page tells whether it was touched in the interval before. Touches are taken to come at random moments: then with
 * rate r a page is untouched in an interval t with probability exp(-r t). Why, and how good this is:
 * docs/decisions/touched-pages.md. */

#include <math.h>

#include "builder_tables.h"
#include "numbers.h"

/* Counting finds 12 to 2500 accesses for each touch of a page. */
#define ACCESSES_OF_TOUCH  24  /* of a block within a page */
#define ACCESSES_OF_A_PAGE 128 /* of a larger one */
#define PAGE_BYTES         4096.0
#define LEAST_LOOKS        4   /* long ones */
#define SATURATED          0.9 /* share of touched pages from which long intervals do not tell rates apart */
#define NS_PER_S           1e9

/* If all looks found a touched page, 1/2 is added as a pseudo-count of untouched ones. The error is the binomial one
 * of the share, propagated. */
static hearth_touch_rate rate_of(double looks, double touched, double ns) {
  double seconds = ns / looks / NS_PER_S;
  double untouched = touched < looks ? (looks - touched) / looks : 0.5 / (looks + 0.5);
  double share = touched > 0 ? 1 - untouched : 0.5 / (looks + 0.5);
  if (seconds <= 0)
    return (hearth_touch_rate){0, 0};
  return (hearth_touch_rate){(0 - hearth_ln(untouched)) / seconds, sqrt(share / (looks * untouched)) / seconds};
}

hearth_touch_rate hearth_touch_rate_of(const hearth_mib *mib) {
  if (mib->Looks < LEAST_LOOKS || mib->ShortLooks == 0)
    return (hearth_touch_rate){-1, 0};
  hearth_touch_rate by_long = rate_of((double)mib->Looks, (double)mib->TouchedLooks, (double)mib->LookTime);
  hearth_touch_rate by_short =
      rate_of((double)mib->ShortLooks, (double)mib->TouchedShortLooks, (double)mib->ShortLookTime);
  double share = (double)mib->TouchedLooks / (double)mib->Looks;
  return share <= SATURATED || by_long.per_second > by_short.per_second ? by_long : by_short;
}

/* Accesses that one touch of a block of this size stands for. */
static double accesses_per_touch(double size) {
  return size <= PAGE_BYTES ? ACCESSES_OF_TOUCH : ACCESSES_OF_A_PAGE * size / PAGE_BYTES;
}

static double average_size(const hearth_mib *mib) { return (double)mib->TotalSize / (double)mib->AllocCount; }

/* The mean rate of contexts with looks, by bytes and time; it is assumed for contexts without. */
static double mean_rate(const hearth_builder *builder) {
  double touches = 0, weights = 0;
  for (size_t i = 0; i < builder->context_count; i++) {
    hearth_mib mib;
    hearth_mib_rows_get(&builder->mibs, i, &mib);
    hearth_touch_rate rate = mib.AllocCount ? hearth_touch_rate_of(&mib) : (hearth_touch_rate){-1, 0};
    double weight = rate.per_second < 0 ? 0 : average_size(&mib) * (double)mib.LookedLifetime;
    touches += weight * rate.per_second;
    weights += weight;
  }
  return weights > 0 ? touches / weights : 0;
}

static uint64_t whole(double value) { return value >= 0x1p63 ? UINT64_C(1) << 63 : (uint64_t)(value + 0.5); }

/* Set least, greatest and density fields of a context that only runs with looks had. */
static void set_figures(hearth_mib *mib) {
  double blocks = (double)mib->AllocCount, accesses = (double)mib->TotalAccessCount, size = average_size(mib);
  double lifetime_ms = (double)mib->TotalLifetime / blocks / 1e6;
  double density = accesses * 100 / (size > 0 ? size : 1); /* sums over blocks, as in the runtime */
  double lifetime_density = density * 1000 / (lifetime_ms < 1 ? 1 : lifetime_ms);
  mib->MinAccessCount = mib->MaxAccessCount = whole(accesses / blocks);
  mib->TotalAccessDensity = whole(density);
  mib->MinAccessDensity = mib->MaxAccessDensity = whole(density / blocks);
  mib->TotalLifetimeAccessDensity = whole(lifetime_density);
  mib->MinLifetimeAccessDensity = mib->MaxLifetimeAccessDensity = whole(lifetime_density / blocks);
}

/* Both parts of a context's life, counted and looked at, are evidence of one density: its mean, by weighted time. */
void hearth_mib_estimate(hearth_mib *mib, double rate) {
  hearth_mib_forget_estimate(mib);
  if (mib->AllocCount == 0 || mib->LookedLifetime == 0)
    return;
  double share =
      mib->LookedLifetime < mib->TotalLifetime ? (double)mib->LookedLifetime / (double)mib->TotalLifetime : 1;
  double blocks = share * (double)mib->AllocCount, size = average_size(mib), counted = (double)mib->TotalAccessCount;
  double first = hearth_first_accesses(blocks, size);
  double estimate = first + rate * ((double)mib->LookedLifetime / NS_PER_S) * accesses_per_touch(size);
  double accesses = (HEARTH_COUNTED_WEIGHT * counted + estimate) / (HEARTH_COUNTED_WEIGHT * (1 - share) + share);
  mib->EstimatedAccessCount = whole(accesses - counted);
  mib->TotalAccessCount = hearth_merge_SUM(mib->TotalAccessCount, mib->EstimatedAccessCount);
  if (share == 1)
    set_figures(mib);
}

void hearth_mib_forget_estimate(hearth_mib *mib) {
  if (mib->EstimatedAccessCount == 0)
    return;
  mib->TotalAccessCount -=
      mib->EstimatedAccessCount < mib->TotalAccessCount ? mib->EstimatedAccessCount : mib->TotalAccessCount;
  mib->EstimatedAccessCount = 0;
  if (mib->LookedLifetime < mib->TotalLifetime)
    return;
  mib->MinAccessCount = mib->MaxAccessCount = 0;
  mib->TotalAccessDensity = mib->MinAccessDensity = mib->MaxAccessDensity = 0;
  mib->TotalLifetimeAccessDensity = mib->MinLifetimeAccessDensity = mib->MaxLifetimeAccessDensity = 0;
}

hearth_status hearth_builder_estimate(hearth_builder *builder, hearth_error *err) {
  if (!builder->runs.accesses_estimated)
    return HEARTH_OK;
  double mean = mean_rate(builder);
  for (size_t i = 0; i < builder->context_count; i++) {
    hearth_mib mib;
    hearth_mib_rows_get(&builder->mibs, i, &mib);
    hearth_touch_rate rate = hearth_touch_rate_of(&mib);
    hearth_mib_estimate(&mib, rate.per_second < 0 ? mean : rate.per_second);
    hearth_builder_drop_unrecorded(builder, &mib);
    if (!hearth_mib_rows_set(&builder->mibs, i, &mib))
      return hearth_error_nomem(err);
  }
  return HEARTH_OK;
}
