/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the blocks of a profile's contexts are to lie: as its plan says, or if it has none, or the user asked for
 * classes (-memprof-classify), by their classes. */
#ifndef HEARTH_PLACER_H
#define HEARTH_PLACER_H

#include "hearth/plan.h"

typedef struct hearth_placer {
  hearth_classifier classifier;
  hearth_plan plan; /* `id` 0: there is none */
  bool by_plan;
} hearth_placer;

/* `by_plan`: unless the profile's plan has no placements. `classify` borrowed, for classes. Errors: those of reading a
 * profile. */
hearth_status hearth_placer_init(hearth_placer *placer, hearth_profile *profile, bool by_plan,
                                 const hearth_classify_options *classify, hearth_error *err);

/* Of the context in this row of the profile. */
typedef struct hearth_place {
  hearth_placement placement;
  bool is_light;   /* its bytes and accesses do not matter: it decides nothing */
  bool is_dormant; /* the placement is cold, in memory that stays */
} hearth_place;
hearth_place hearth_place_context(const hearth_placer *placer, uint32_t row, const hearth_mib *mib);

/* Of several contexts that are one to the compiler: `sum` of their numbers, `bytes` of each placement. */
hearth_place hearth_place_sum(const hearth_placer *placer, const hearth_mib *sum,
                              const uint64_t bytes[HEARTH_PLACEMENTS]);

/* The class of blocks that lie there, for allocators without pools. */
hearth_class hearth_placer_class(const hearth_placer *placer, hearth_placement placement);
/* A placement of the plan, or its class if not by plan. */
hearth_placement hearth_placer_of_plan(const hearth_placer *placer, uint32_t placement);

/* A set of placements has the bit 1 << placement for each. */
static inline uint64_t hearth_placement_bit(hearth_placement placement) { return UINT64_C(1) << placement; }
HEARTH_CHECK_LAYOUT(HEARTH_PLACEMENTS <= 64);

#endif
