/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The plan of a profile: the placement of each context (cold, or a pool), the call sites that tell contexts apart at run
 * time, and the placement that an allocation concludes from those that are being called (docs/decisions/context-word.md).
 * A bit in a word of the thread is set around the call of a decision site; HALO (Savage and Jones, CGO 2020) did so on
 * binaries.
 *
 * Only allocation calls whose contexts are of more than one placement have a table. Handles are not thread-safe. */
#ifndef HEARTH_PLAN_H
#define HEARTH_PLAN_H

#include "hearth/builder.h"
#include "hearth/classify.h"
#include "hearth/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HEARTH_PLAN_SITES_MAX 4096u

/* All zero means defaults. */
typedef struct hearth_plan_options {
  size_t size;                             /* sizeof(hearth_plan_options), or 0 */
  uint32_t max_sites;                      /* at most HEARTH_PLAN_SITES_MAX; 0: 256 */
  uint32_t min_gain_ppm;                   /* of the profile's bytes that a site has to put right, in weight; 0: 500 */
  const hearth_classify_options *classify; /* the compiler's, -memprof-classify; NULL: defaults; borrowed */
  uint32_t layout; /* 1 + the enum hearth_layout to take; 0: the one that is predicted to be cheapest */
} hearth_plan_options;

/* A plan, borrowed. `tables[table_count]` does not exist: use hearth_plan_entries. */
typedef struct hearth_plan {
  uint64_t id; /* 0: there is no plan */
  const hearth_plan_site *sites;
  const hearth_plan_table *tables;
  const hearth_plan_entry *entries;
  const hearth_plan_pool *pools;
  const hearth_plan_layout *layouts;
  const hearth_placement *placements; /* of each row of contexts */
  uint32_t site_count, table_count, entry_count, pool_count, layout_count, context_count;
  enum hearth_layout layout;
} hearth_plan;

/* The profile's plan; `id` is 0 if it has none. Lives as long as the handle. */
hearth_status hearth_profile_get_plan(hearth_profile *profile, hearth_plan *ret, hearth_error *err);

/* Of a row of contexts. 0: nothing is known of it, or it is light and decides nothing. */
static inline hearth_placement hearth_plan_placement_of(const hearth_plan *plan, uint32_t context_row) {
  return context_row < plan->context_count ? plan->placements[context_row] : HEARTH_CLASS_UNKNOWN;
}
/* "cold", "pool 7", ...; those of classes are as hearth_class_name has them. */
const char *hearth_placement_name(hearth_placement placement);
/* "none", "cold", "warm", "calls", "groups". */
const char *hearth_layout_name(enum hearth_layout layout);

/* The site, or the table, of a stack id; NULL if there is none. */
const hearth_plan_site *hearth_plan_find_site(const hearth_plan *plan, uint64_t stack_id);
const hearth_plan_table *hearth_plan_find_table(const hearth_plan *plan, uint64_t stack_id);
const hearth_plan_entry *hearth_plan_entries(const hearth_plan *plan, const hearth_plan_table *table,
                                             uint32_t *ret_count);

/* The bytes of the profile (malloc'd) with a new plan in place of the one it has; without one where no context has a
 * placement. Equal profiles get equal plans. `options` may be NULL. */
hearth_status hearth_plan_make(hearth_profile *profile, const hearth_plan_options *options, void **ret_data,
                               size_t *ret_size, hearth_error *err);

/* As hearth_builder_write_memory, and with a plan. */
hearth_status hearth_builder_write_planned(hearth_builder *builder, const hearth_plan_options *options, void **ret_data,
                                           size_t *ret_size, hearth_error *err);

/* The output of `hearth show --plan`, and with `--json` (docs/tools.md): the most valuable choice first. */
hearth_status hearth_plan_print_text(hearth_profile *profile, FILE *stream, hearth_error *err);
hearth_status hearth_plan_print_json(hearth_profile *profile, FILE *stream, hearth_error *err);

#ifdef __cplusplus
}
#endif
#endif
