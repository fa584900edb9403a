/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The plan of a profile: the placement of each context (cold, or the pool id of its allocation call), the call sites
 * that tell cold contexts from others at run time, and the placement that an allocation concludes from the sites in
 * progress (docs/decisions/context-word.md). A bit in a word of the thread is set around the call of a decision
 * site; HALO (Savage and Jones, CGO 2020) did so on binaries.
 *
 * The layout says which pool each id means. As a text, that is a character for each id, from id 1 on: 0, the main
 * pool; 1 to 9, then a to v, for pools 0 to 30. Missing ones are 0. "one" is 0 for all calls, "calls" a pool for each;
 * dormant blocks, id 31, have theirs in both.
 *
 * Only allocation calls with cold contexts and others have a table. Handles are not thread-safe. */
#ifndef HEARTH_PLAN_H
#define HEARTH_PLAN_H

#include "hearth/builder.h"
#include "hearth/classify.h"
#include "hearth/profile.h"

HEARTH_C_BEGIN

/* All zero means defaults. */
typedef struct hearth_plan_options {
  size_t size;                             /* sizeof(hearth_plan_options), or 0 */
  const hearth_classify_options *classify; /* the compiler's, -memprof-classify; NULL: defaults; borrowed */
  const char *layout;                      /* NULL: "one"; borrowed */
} hearth_plan_options;

/* How the layout was found. Ratios to one pool, in millionths: of the medians, and the distance from the least to
 * the greatest one. */
typedef struct hearth_plan_tuning {
  enum hearth_tuning kind; /* HEARTH_TUNING_NONE: all others are 0 */
  uint32_t rounds, time_ppm, memory_ppm, time_spread_ppm, memory_spread_ppm;
} hearth_plan_tuning;

/* A plan, borrowed. */
typedef struct hearth_plan {
  uint64_t id; /* 0: there is no plan */
  const hearth_plan_site *sites;
  const hearth_plan_table *tables;
  const hearth_plan_call *calls;      /* by pool id, from 1 on */
  const hearth_placement *placements; /* of each row of contexts */
  uint32_t site_count, table_count, call_count, context_count;
  bool has_dormant;                    /* some placement is HEARTH_PLACEMENT_DORMANT */
  uint8_t pools[HEARTH_POOLS_MAX + 1]; /* the layout: of each call, and of dormant blocks. 0: the main pool */
  hearth_plan_tuning tuning;
} hearth_plan;

/* The profile's plan; `id` is 0 if it has none. Lives as long as the handle. */
hearth_status hearth_profile_get_plan(hearth_profile *profile, hearth_plan *ret, hearth_error *err);

/* The placement of a row of CONTEXTS. 0: nothing is known of the context, or it is light and decides nothing. */
static inline hearth_placement hearth_plan_placement_of(const hearth_plan *plan, uint32_t context_row) {
  return context_row < plan->context_count ? plan->placements[context_row] : HEARTH_CLASS_UNKNOWN;
}
/* "cold", "id 7", ...; classes have the names of hearth_class_name. */
const char *hearth_placement_name(hearth_placement placement);

/* The pools that a text names for the ids of `call_count` calls, at most HEARTH_PLAN_CALLS_MAX, and of dormant
 * blocks; the rest of `ret` is 0. E_USAGE: the text is no layout, or has a pool for an id that there is not. */
hearth_status hearth_layout_parse(const char *text, uint32_t call_count, bool has_dormant,
                                  uint8_t ret[HEARTH_POOLS_MAX + 1], hearth_error *err);
/* The text of a layout, without zeros at the end; "0" if all pools are 0. */
void hearth_layout_print(const uint8_t pools[HEARTH_POOLS_MAX + 1], char ret[HEARTH_POOLS_MAX + 1]);
/* "none", "time", "memory". */
const char *hearth_tuning_name(enum hearth_tuning tuning);

/* The site, or the table, of a stack id; NULL if there is none. */
const hearth_plan_site *hearth_plan_find_site(const hearth_plan *plan, uint64_t stack_id);
const hearth_plan_table *hearth_plan_find_table(const hearth_plan *plan, uint64_t stack_id);

/* The bytes of the profile (malloc'd) with this layout in place of its own; all else, the plan's id included, stays.
 * `tuning` NULL: it was not measured. E_EMPTY: the profile has no plan; E_USAGE: as hearth_layout_parse. */
hearth_status hearth_plan_set_layout(hearth_profile *profile, const char *layout, const hearth_plan_tuning *tuning,
                                     void **ret_data, size_t *ret_size, hearth_error *err);

/* As hearth_builder_write_memory, and with a plan. */
hearth_status hearth_builder_write_planned(hearth_builder *builder, const hearth_plan_options *options, void **ret_data,
                                           size_t *ret_size, hearth_error *err);

/* The output of `hearth show --plan`: the most valuable choice first. */
hearth_status hearth_plan_print(hearth_profile *profile, FILE *stream, hearth_error *err);

HEARTH_C_END
#endif
