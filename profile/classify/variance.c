/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Levels of numbers, sums of levels, and what follows for a class: its density and lifetime are moved by two standard errors
 * to either side, and each of the four corners is classified. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cutoffs.h"
#include "hearth/variance.h"
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

unsigned hearth_possible_classes(const hearth_classifier *classifier, const hearth_density_order *order,
                                 const hearth_mib *mib, const hearth_variance_errors *errors) {
  unsigned classes = 1u << hearth_classify(classifier, mib);
  double density = hearth_exp2(HEARTH_VARIANCE_ERRORS * errors->density),
         lifetime = hearth_exp2(HEARTH_VARIANCE_ERRORS * errors->lifetime);
  bool is_known = classifier->mode == HEARTH_CLASSIFY_LLVM || classifier->total_accesses > 0;
  if (!is_known || mib->AllocCount == 0 || (errors->density == 0 && errors->lifetime == 0))
    return classes;
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
    classes |= 1u << hearth_density_order_classify(order, classifier, &own, &moved);
  }
  return classes;
}

bool hearth_may_be_cold_or_not(const hearth_classifier *classifier, const hearth_density_order *order,
                               const hearth_mib *mib, const hearth_variance *variance) {
  hearth_variance_errors errors = hearth_variance_get_errors(variance);
  const unsigned cold = 1u << HEARTH_CLASS_COLD, classes = hearth_possible_classes(classifier, order, mib, &errors);
  return classes & cold && classes != cold;
}

/* Densities in ascending order, with the accesses of all contexts up to each: what a cutoff would be if one context moved. */

hearth_density_order *hearth_density_order_of_points(const hearth_density_point *points, size_t n) {
  hearth_density_order *order = calloc(1, sizeof *order);
  density_step *steps = order ? malloc((n + 1) * sizeof *steps) : NULL;
  if (!steps) {
    free(order);
    return NULL;
  }
  density_step sum = {0};
  for (size_t i = 0; i < n; i++) {
    sum.density = points[i].density;
    steps[i] = sum;
    sum.accesses = hearth_merge_SUM(sum.accesses, points[i].accesses);
  }
  steps[n] = sum;
  *order = (hearth_density_order){.steps = steps, .count = n};
  return order;
}

void hearth_density_order_destroy(hearth_density_order *order) {
  if (!order)
    return;
  free(order->steps);
  free(order);
}

static hearth_status read_points(hearth_profile *profile, hearth_density_point *points, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_context_count(profile); i++) {
    uint32_t node;
    hearth_mib mib;
    HEARTH_TRY(hearth_profile_get_context(profile, i, &node, &mib, err));
    points[i] = hearth_density_point_of(&mib);
  }
  return HEARTH_OK;
}

hearth_status hearth_density_order_create(hearth_profile *profile, hearth_density_order **ret, hearth_error *err) {
  size_t n = hearth_profile_context_count(profile);
  hearth_density_point *points = malloc((n + 1) * sizeof *points);
  *ret = NULL;
  hearth_status status = points ? HEARTH_OK : hearth_error_nomem(err);
  if (status == HEARTH_OK)
    status = read_points(profile, points, err);
  if (status == HEARTH_OK) {
    hearth_density_points_sort(points, n);
    *ret = hearth_density_order_of_points(points, n);
    status = *ret ? HEARTH_OK : hearth_error_nomem(err);
  }
  free(points);
  return status;
}

/* The number of densities up to this one. */
static size_t count_up_to(const hearth_density_order *order, double density) {
  size_t low = 0, high = order->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (order->steps[middle].density <= density)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Accesses are those of the others, and its own where it stands on that side. */
static bool is_hot(const hearth_density_order *order, const hearth_classifier *c, const class_facts *own,
                   const class_facts *moved) {
  double above =
      (double)(order->steps[order->count].accesses - order->steps[count_up_to(order, moved->density)].accesses);
  if (own->density > moved->density)
    above -= own->accesses;
  return above < c->hot_accesses;
}

hearth_class hearth_density_order_classify(const hearth_density_order *order, const hearth_classifier *classifier,
                                           const class_facts *own, const class_facts *moved) {
  return classifier->mode == HEARTH_CLASSIFY_LLVM
             ? class_of(classifier, moved)
             : class_of_heat(classifier, moved, is_hot(order, classifier, own, moved));
}
