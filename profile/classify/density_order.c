/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Densities in ascending order, with the accesses of all contexts up to each: what a cutoff would be if one context moved. */
#include "cutoffs.h"

#include <math.h>
#include <stdlib.h>

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
  if (status == HEARTH_OK &&
      (!hearth_density_points_sort(points, n) || !(*ret = hearth_density_order_of_points(points, n))))
    status = hearth_error_nomem(err);
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
