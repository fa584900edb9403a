/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a class is made from, and the densities from which contexts are hot. */
#ifndef HEARTH_CUTOFFS_H
#define HEARTH_CUTOFFS_H

#include <stdbool.h>

#include "hearth/classify.h"

/* A class by the numbers that it is made from. */

#define HEARTH_USES_UNKNOWN (-1.0)

typedef struct class_facts {
  double density, lifetime_ns, accesses;
  double first_accesses,
      pages_ns;       /* of the first use of all blocks; their lives, one of part of a page for that part */
  bool rests_at_last; /* its blocks are not accessed in the last half of their lives, as far as is known */
  /* Uses of a page full of the context's blocks, in the time for which cold memory is left alone: as the counters of
   * picked blocks show them, and as looks at pages do. */
  double counted_uses, looked_uses;
} class_facts;

/* The facts of a context that has blocks. */
class_facts class_facts_of(const hearth_classifier *classifier, const hearth_mib *mib);
/* By the classifier's rule. */
hearth_class class_of(const hearth_classifier *classifier, const class_facts *facts);

/* Cutoffs: computed by the writer, so that a reader classifies a context without looking at the others. */

enum { HEARTH_HOT_SHARE_PPM = 900000 }; /* by default */

/* The share that options ask for. */
static inline uint32_t hearth_hot_share_ppm(const hearth_classify_options *options) {
  return options->hot_share_ppm ? options->hot_share_ppm : (uint32_t)HEARTH_HOT_SHARE_PPM;
}

/* Resolve options against a profile's summary. True if the cutoff of the profile is to be filled in: until then
 * nothing is hot. */
bool hearth_classifier_begin(hearth_classifier *classifier, const hearth_profile_summary *summary,
                             const hearth_classify_options *options);

/* The values of one context that the cutoffs need. */
typedef struct hearth_density_point {
  double density;    /* hearth_mib_density() */
  uint64_t accesses; /* TotalAccessCount */
} hearth_density_point;

hearth_density_point hearth_density_point_of(const hearth_mib *mib);
/* Sort by density: the function below expects its points in this order. */
void hearth_density_points_sort(hearth_density_point *points, size_t n);

/* Greatest density such that the points from it upwards hold together at least `share_ppm` of `total` accesses;
 * infinity if `total` is 0. Points of one density are taken or left together, so that order does not matter. */
double hearth_hot_cutoff(const hearth_density_point *points, size_t n, uint64_t total, uint32_t share_ppm);

#endif
