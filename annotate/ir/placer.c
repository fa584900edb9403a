/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The plan has a placement for each row of contexts. Cold is concluded from evidence alone: a context with weight
 * that the plan does not place is not cold, and of several contexts, most bytes of which are cold, the sum has to be
 * cold, too. */
#include "module.h"

hearth_status hearth_placer_init(hearth_placer *placer, hearth_profile *profile, bool by_plan,
                                 const hearth_classify_options *classify, hearth_error *err) {
  HEARTH_TRY(hearth_classifier_init(&placer->classifier, profile, classify, err));
  HEARTH_TRY(hearth_profile_get_plan(profile, &placer->plan, err));
  placer->by_plan = by_plan && placer->plan.context_count > 0;
  return HEARTH_OK;
}

static hearth_place by_class(const hearth_placer *placer, const hearth_mib *mib) {
  return (hearth_place){.placement = (hearth_placement)hearth_classify(&placer->classifier, mib),
                        .is_light = !hearth_has_weight(&placer->classifier, mib)};
}

/* Without a placement: nothing, if it is light, else as without a profile. */
static hearth_place unplaced(const hearth_placer *placer, const hearth_mib *mib) {
  bool is_light = !hearth_has_weight(&placer->classifier, mib);
  return (hearth_place){.placement = is_light ? HEARTH_CLASS_UNKNOWN : HEARTH_CLASS_NOTCOLD, .is_light = is_light};
}

hearth_place hearth_place_context(const hearth_placer *placer, uint32_t row, const hearth_mib *mib) {
  if (!placer->by_plan)
    return by_class(placer, mib);
  hearth_placement placement = hearth_plan_placement_of(&placer->plan, row);
  if (placement == HEARTH_PLACEMENT_DORMANT)
    return (hearth_place){.placement = HEARTH_CLASS_COLD, .is_dormant = true};
  return placement ? (hearth_place){.placement = placement} : unplaced(placer, mib);
}

static bool lies_apart(const hearth_placer *placer, const hearth_mib *sum) {
  return hearth_classify(&placer->classifier, sum) == HEARTH_CLASS_COLD || hearth_is_dormant(&placer->classifier, sum);
}

hearth_place hearth_place_sum(const hearth_placer *placer, const hearth_mib *sum,
                              const uint64_t bytes[HEARTH_PLACEMENTS]) {
  hearth_placement most = HEARTH_CLASS_UNKNOWN;
  if (!placer->by_plan)
    return by_class(placer, sum);
  for (hearth_placement i = HEARTH_CLASS_NOTCOLD; i < HEARTH_PLACEMENTS; i++)
    if (bytes[i] > 0 && (!most || bytes[i] > bytes[most]))
      most = i;
  bool is_cold = bytes[HEARTH_CLASS_COLD] > (most ? bytes[most] : 0) && (!most || lies_apart(placer, sum));
  if (is_cold)
    most = HEARTH_CLASS_COLD;
  return most ? (hearth_place){.placement = most} : unplaced(placer, sum);
}

hearth_class hearth_placer_class(const hearth_placer *placer, hearth_placement placement) {
  if (placement < HEARTH_PLACEMENT_POOL)
    return (hearth_class)placement;
  if (placement == HEARTH_PLACEMENT_DORMANT)
    return HEARTH_CLASS_COLD;
  uint32_t pool = placement - (uint32_t)HEARTH_PLACEMENT_POOL;
  bool is_hot = pool < placer->plan.call_count && placer->plan.calls[pool].hotness == HEARTH_CLASS_HOT;
  return is_hot ? HEARTH_CLASS_HOT : HEARTH_CLASS_NOTCOLD;
}

hearth_placement hearth_placer_of_plan(const hearth_placer *placer, uint32_t placement) {
  hearth_placement placed = (hearth_placement)placement;
  return placer->by_plan ? placed : (hearth_placement)hearth_placer_class(placer, placed);
}
