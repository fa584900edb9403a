/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cutoffs: computed by the writer, so that a reader classifies a context without looking at the others. */
#ifndef HEARTH_CLASSIFY_INTERNAL_H
#define HEARTH_CLASSIFY_INTERNAL_H

#include <stdbool.h>

#include "hearth/classify.h"

enum { HEARTH_COLD_SHARE_PPM = 10000, HEARTH_HOT_SHARE_PPM = 900000 }; /* by default */

/* The shares that options ask for. */
static inline uint32_t hearth_cold_share_ppm(const hearth_classify_options *options) {
  return options->cold_share_ppm ? options->cold_share_ppm : (uint32_t)HEARTH_COLD_SHARE_PPM;
}

static inline uint32_t hearth_hot_share_ppm(const hearth_classify_options *options) {
  return options->hot_share_ppm ? options->hot_share_ppm : (uint32_t)HEARTH_HOT_SHARE_PPM;
}

/* Resolve options against a profile's summary. True if the cutoffs of the profile are to be filled in:
 * until then nothing is cold or hot. */
bool hearth_classifier_begin(hearth_classifier *classifier, const hearth_profile_summary *summary,
                             const hearth_classify_options *options);

/* The densities are all set: keep the cold one away from the hot one. */
void hearth_classifier_keep_distance(hearth_classifier *classifier);

/* The values of one context that the cutoffs need. */
typedef struct hearth_density_point {
  double density; /* hearth_mib_density() */
  double byte_seconds;
  uint64_t accesses; /* TotalAccessCount */
  bool lasting;      /* average lifetime of at least hearth_lasting_lifetime_ns() */
} hearth_density_point;

/* Average lifetime in ns from which a context may be called cold: 1/8 of the average run. */
double hearth_lasting_lifetime_ns(uint64_t duration_ns, uint64_t runs);

hearth_density_point hearth_density_point_of(const hearth_mib *mib, double lasting_lifetime_ns);
/* Sort by density: both functions below expect their points in this order. False when out of memory. */
bool hearth_density_points_sort(hearth_density_point *points, size_t n);

/* Greatest density, up to the mean one / HEARTH_COLD_BELOW_MEAN, such that the lasting points up to it hold together at most
 * `share_ppm` of `total` accesses; -1 if even the least dense hold more. Points of one density are taken or left together,
 * so that order does not matter. */
double hearth_cold_cutoff(const hearth_density_point *points, size_t n, uint64_t total, uint32_t share_ppm);
/* Greatest density such that the points from it upwards hold together at least `share_ppm` of `total` accesses;
 * infinity if `total` is 0. */
double hearth_hot_cutoff(const hearth_density_point *points, size_t n, uint64_t total, uint32_t share_ppm);

#endif
