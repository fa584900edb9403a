/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Levels of numbers, sums of levels, and what follows for a class: its density and lifetime are moved by two
 * standard errors to either side, and each of the four corners is classified: is it cold as the context itself is? */
#include <math.h>
#include <string.h>

#include "cutoffs.h"
#include "hearth/classify.h"
#include "numbers.h"

/* The exponent and the highest four bits of the fraction stand together in a binary64 number. */
static uint64_t level_of(double number) {
  enum { BITS_BELOW = 48, OF_ONE = 0x3ff0 };
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  int64_t level = (int64_t)(bits >> BITS_BELOW) - OF_ONE + HEARTH_VARIANCE_ONE;
  return level < 0 ? 0 : level > HEARTH_VARIANCE_MOST ? HEARTH_VARIANCE_MOST : (uint64_t)level;
}

static double variance_density_of(const hearth_mib *mib) {
  const hearth_mib once = {{.AllocCount = mib->AllocCount,
                            .TotalSize = mib->TotalSize,
                            .TotalAccessCount = 1,
                            .TotalLifetime = mib->TotalLifetime}};
  return mib->TotalAccessCount > 0 ? hearth_mib_density(mib) : hearth_mib_density(&once) / 2;
}

void hearth_variance_of_run(const hearth_mib *mib, uint64_t duration_ns, hearth_variance *ret) {
  double allocs = (double)(mib->AllocCount ? mib->AllocCount : 1), duration = (double)(duration_ns ? duration_ns : 1);
  *ret = (hearth_variance){{.runs = 1,
                            .squares = 1,
                            .density = level_of(variance_density_of(mib)),
                            .lifetime = level_of((double)mib->TotalLifetime / allocs / duration),
                            .bytes = level_of((double)mib->TotalSize)}};
  ret->density_squares = ret->density * ret->density;
  ret->lifetime_squares = ret->lifetime * ret->lifetime;
  ret->bytes_squares = ret->bytes * ret->bytes;
}

void hearth_variance_add(hearth_variance *into, const hearth_variance *from, uint64_t weight) {
  for (size_t i = 0; i < HEARTH_VARIANCE_SUMS; i++)
    into->sums[i] = hearth_merge_SUM(into->sums[i], hearth_repeat_SUM(from->sums[i], weight));
}

/* The standard deviation by the root of the runs. */
static double error_of(double runs, double weights, uint64_t sum, uint64_t squares) {
  double mean = (double)sum / weights, variance = (double)squares / weights - mean * mean;
  return variance > 0 ? sqrt(variance / (runs - 1)) / HEARTH_VARIANCE_DOUBLING : 0;
}

hearth_variance_errors hearth_variance_get_errors(const hearth_variance *variance) {
  const double least_runs = 1.5, weights = (double)variance->runs;
  hearth_variance_errors errors = {.runs = variance->squares ? weights * weights / (double)variance->squares : 0};
  if (errors.runs < least_runs)
    return errors;
  errors.density = error_of(errors.runs, weights, variance->density, variance->density_squares);
  errors.lifetime = error_of(errors.runs, weights, variance->lifetime, variance->lifetime_squares);
  errors.bytes = error_of(errors.runs, weights, variance->bytes, variance->bytes_squares);
  return errors;
}

bool hearth_may_be_cold_or_not(const hearth_classifier *classifier, const hearth_mib *mib,
                               const hearth_variance *variance) {
  hearth_variance_errors errors = hearth_variance_get_errors(variance);
  double density = hearth_exp2(HEARTH_VARIANCE_ERRORS * errors.density),
         lifetime = hearth_exp2(HEARTH_VARIANCE_ERRORS * errors.lifetime);
  bool is_known = classifier->mode == HEARTH_CLASSIFY_LLVM || classifier->total_accesses > 0;
  if (!is_known || mib->AllocCount == 0 || (errors.density == 0 && errors.lifetime == 0))
    return false;
  bool is_cold = hearth_classify(classifier, mib) == HEARTH_CLASS_COLD;
  class_facts own = class_facts_of(classifier, mib);
  for (unsigned corner = 0; corner < 4; corner++) {
    double factor = corner & 1 ? density : 1 / density;
    class_facts moved = {.density = (mib->TotalAccessCount ? own.density : variance_density_of(mib)) * factor,
                         .lifetime_ns = corner & 2 ? own.lifetime_ns * lifetime : own.lifetime_ns / lifetime,
                         .accesses = own.accesses * factor,
                         .first_accesses = own.first_accesses,
                         .pages_ns = own.pages_ns,
                         .rests_at_last = own.rests_at_last,
                         .counted_uses = own.counted_uses * factor,
                         .looked_uses = own.looked_uses * factor};
    if ((class_of(classifier, &moved) == HEARTH_CLASS_COLD) != is_cold)
      return true;
  }
  return false;
}
