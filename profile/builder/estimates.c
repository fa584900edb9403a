/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A look at a page tells whether it was touched in the interval before. Touches are taken to come at random moments:
 * then with rate r a page is untouched in an interval t with probability exp(-r t). Why, and how good this is:
 * docs/decisions/touched-pages.md. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "builder_tables.h"
#include "hearth/expect.h"
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
    const hearth_mib *mib = &builder->mibs[i];
    hearth_touch_rate rate = mib->AllocCount ? hearth_touch_rate_of(mib) : (hearth_touch_rate){-1, 0};
    double weight = rate.per_second < 0 ? 0 : average_size(mib) * (double)mib->LookedLifetime;
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

void hearth_builder_estimate(hearth_builder *builder) {
  if (!builder->runs.accesses_estimated)
    return;
  double mean = mean_rate(builder);
  for (size_t i = 0; i < builder->context_count; i++) {
    hearth_mib *mib = &builder->mibs[i];
    hearth_touch_rate rate = hearth_touch_rate_of(mib);
    hearth_mib_estimate(mib, rate.per_second < 0 ? mean : rate.per_second);
    hearth_builder_drop_unrecorded(builder, mib);
  }
}

/* ------------------------------------------------ variances ------------------------------------------------ */

/* Variances between runs: an array beside the contexts. While a run is added, its own sums are kept by context,
 * since several of its records may be of one; at its end each gives one observation. */

void hearth_builder_free_variances(builder_variances *variances) {
  HEARTH_FREE(variances->rows, variances->run, variances->run_rows);
}

static void forget_run(builder_variances *s) {
  for (size_t i = 0; i < s->run_count; i++)
    s->run_rows[s->run[i].context] = HEARTH_NONE;
  s->run_count = 0;
}

void hearth_builder_begin_run(hearth_builder *builder) {
  forget_run(&builder->variances);
  builder->variances.in_run = true;
}

static hearth_status run_row(hearth_builder *builder, size_t context, builder_run_sums **ret, hearth_error *err) {
  builder_variances *s = &builder->variances;
  size_t more = context < s->run_row_count ? 0 : context + 1 - s->run_row_count;
  HEARTH_TRY(hearth_rows_reserve(&s->run_rows, &s->run_row_room, s->run_row_count, more, sizeof *s->run_rows, err));
  for (; more > 0; more--)
    s->run_rows[s->run_row_count++] = HEARTH_NONE;
  if (s->run_rows[context] == HEARTH_NONE) {
    HEARTH_TRY(hearth_rows_reserve(&s->run, &s->run_room, s->run_count, 1, sizeof *s->run, err));
    s->run_rows[context] = (uint32_t)s->run_count;
    s->run[s->run_count++] = (builder_run_sums){.context = (uint32_t)context};
  }
  *ret = &s->run[s->run_rows[context]];
  return HEARTH_OK;
}

hearth_status hearth_builder_note_in_run(hearth_builder *builder, size_t context, const hearth_mib *mib,
                                         hearth_error *err) {
  builder_run_sums *sums;
  if (!builder->variances.in_run)
    return HEARTH_OK;
  HEARTH_TRY(run_row(builder, context, &sums, err));
  sums->allocs = hearth_merge_SUM(sums->allocs, mib->AllocCount);
  sums->bytes = hearth_merge_SUM(sums->bytes, mib->TotalSize);
  sums->accesses = hearth_merge_SUM(sums->accesses, mib->TotalAccessCount);
  sums->lifetime = hearth_merge_SUM(sums->lifetime, mib->TotalLifetime);
  return HEARTH_OK;
}

static bool are_unrecorded(const hearth_builder *builder) {
  return builder->unrecorded & UINT64_C(1) << HEARTH_COL_TotalAccessCount;
}

static hearth_status variance_add_row(hearth_builder *builder, size_t context, const hearth_variance *variance,
                                      hearth_error *err) {
  builder_variances *s = &builder->variances;
  hearth_expect(context < builder->context_count);
  HEARTH_TRY(hearth_rows_extend(&s->rows, &s->room, &s->count, context + 1, sizeof *s->rows, err));
  hearth_variance_add(&s->rows[context], variance, builder->weight);
  return HEARTH_OK;
}

static hearth_status observe_run(hearth_builder *builder, uint64_t duration_ns, hearth_error *err) {
  const builder_variances *s = &builder->variances;
  hearth_mib mib = {{0}};
  for (size_t i = 0; i < s->run_count; i++) {
    hearth_variance variance;
    mib.AllocCount = s->run[i].allocs;
    mib.TotalSize = s->run[i].bytes;
    mib.TotalAccessCount = s->run[i].accesses;
    mib.TotalLifetime = s->run[i].lifetime;
    hearth_variance_of_run(&mib, duration_ns, &variance);
    HEARTH_TRY(variance_add_row(builder, s->run[i].context, &variance, err));
  }
  return HEARTH_OK;
}

static bool is_observed(const hearth_builder *builder, const hearth_profile_summary *run) {
  return run->runs == 1 && run->accesses_counted && !run->accesses_estimated && !are_unrecorded(builder);
}

hearth_status hearth_builder_end_run(hearth_builder *builder, const hearth_profile_summary *run, hearth_error *err) {
  hearth_status status = is_observed(builder, run) ? observe_run(builder, run->duration_ns, err) : HEARTH_OK;
  forget_run(&builder->variances);
  builder->variances.in_run = false;
  return status;
}

hearth_status hearth_builder_add_variance(hearth_builder *builder, uint32_t node, const hearth_variance *variance,
                                          hearth_error *err) {
  hearth_expect(node < builder->node_count);
  uint32_t context = builder->nodes[node].context;
  if (context == HEARTH_NONE || variance->runs == 0 || are_unrecorded(builder))
    return HEARTH_OK;
  return variance_add_row(builder, context, variance, err);
}

hearth_variance hearth_builder_variance(const hearth_builder *builder, size_t context) {
  return context < builder->variances.count ? builder->variances.rows[context] : (hearth_variance){{0}};
}

bool hearth_builder_is_one_run(const hearth_builder *builder) {
  if (builder->variances.count == 0)
    return true;
  if (!is_observed(builder, &builder->runs))
    return false;
  for (size_t i = 0; i < builder->context_count; i++) {
    hearth_variance found = hearth_builder_variance(builder, i), expected;
    hearth_variance_of_run(&builder->mibs[i], builder->runs.duration_ns, &expected);
    if (memcmp(&found, &expected, sizeof found) != 0)
      return false;
  }
  return true;
}
