/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which class one context would have if its numbers were others, and all other contexts as they are. A cutoff is the density
 * of some context, often of the one that is asked about; what counts is how far it is from the next one. */
#ifndef HEARTH_DENSITY_ORDER_H
#define HEARTH_DENSITY_ORDER_H

#include "class_of.h"
#include "cutoffs.h"
#include "hearth/spread.h"

typedef struct density_step {
  double density;
  uint64_t accesses; /* of all contexts before this one */
} density_step;

struct hearth_density_order {
  density_step *steps; /* ascending; one more with the sums of all */
  size_t count;
};

/* Of sorted points; NULL: out of memory. */
hearth_density_order *hearth_density_order_of_points(const hearth_density_point *points, size_t n);
/* The class of a context with the facts `own` in the profile, if they were `moved`. */
hearth_class hearth_density_order_classify(const hearth_density_order *order, const hearth_classifier *classifier,
                                           const class_facts *own, const class_facts *moved);

#endif
