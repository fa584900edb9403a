/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Contexts summed by function, caller, site, file, library, type or size (hearth_group_kind): what each allocates
 * itself, and with all that it calls. Functions of one name and file are one, as instances of a template are. */
#ifndef HEARTH_GROUPS_H
#define HEARTH_GROUPS_H

#include "hearth/mib.h"
#include "hearth/status.h"
#include "hearth/view.h"
#include "id_table.h"
#include "selection.h"

typedef struct hearth_listing_totals {
  uint64_t contexts, allocs, bytes, live, accesses, lifetime_ns;
  uint64_t short_lived;                      /* of `allocs`: in contexts whose blocks are */
  uint64_t library_bytes;                    /* of `bytes`: allocated in libraries without debug information */
  uint64_t untouched;                        /* bytes, of those too (selection.h) */
  uint64_t used_page_bytes, idle_page_bytes; /* UsedPageBytes and IdlePageBytes */
  uint64_t byte_seconds;                     /* of lives */
  uint64_t sorted;                           /* of the quantity that is sorted by */
} hearth_listing_totals;

void hearth_listing_add_totals(hearth_listing_totals *to, const hearth_listing_totals *more);

/* What is shown of sums: bytes, where contexts are sorted by lifetime; of allocations the short-lived ones, where
 * they are sorted by these. */
static inline hearth_quantity hearth_listing_quantity(const hearth_listing_options *options) {
  return options->sort == HEARTH_SORT_LIFETIME      ? HEARTH_QUANTITY_BYTES
         : options->sort == HEARTH_SORT_SHORT_LIVED ? HEARTH_QUANTITY_ALLOCS
                                                    : (hearth_quantity)options->sort;
}

static inline const char *hearth_listing_quantity_name(const hearth_listing_options *options) {
  return options->sort == HEARTH_SORT_SHORT_LIVED ? "short-lived"
                                                  : hearth_quantities[hearth_listing_quantity(options)].name;
}

static inline uint64_t hearth_listing_value(const hearth_listing_options *options, const hearth_selected *context) {
  bool counts = options->sort != HEARTH_SORT_SHORT_LIVED || context->short_lived;
  return counts ? hearth_quantity_of(hearth_listing_quantity(options), &context->mib) : 0;
}

typedef struct hearth_group {
  char *name, *path; /* path: "" if the name is one, or none is known */
  const char *linkage_name;
  hearth_listing_totals flat, cumulative;
  uint32_t seen; /* the context that was added last, plus 1 */
} hearth_group;

/* All zero is an empty one. `names` is borrowed. */
typedef struct hearth_groups {
  hearth_names *names;
  hearth_group_kind kind;
  hearth_group *items;
  size_t count, room;
  id_table table;
  uint32_t *by_frame; /* the groups of frames */
  char *with_source;  /* the library of code whose library is not known */
} hearth_groups;

/* Types and sizes are properties of blocks, so their cumulative sums equal their own. */
static inline bool hearth_groups_lack_callees(hearth_group_kind kind) {
  return kind == HEARTH_BY_TYPE || kind == HEARTH_BY_SIZE;
}

/* Destroy also after an error. */
hearth_status hearth_groups_init(hearth_groups *groups, hearth_names *names, hearth_group_kind kind, hearth_error *err);
void hearth_groups_destroy(hearth_groups *groups);
/* Add a context; *ret is the group that it counts for. */
hearth_status hearth_groups_add(hearth_groups *groups, const hearth_selected *context, const hearth_listing_totals *sum,
                                uint32_t *ret, hearth_error *err);
/* The group of a frame; HEARTH_NONE: one of a wrapper, where those are looked through. */
hearth_status hearth_groups_of_frame(hearth_groups *groups, uint32_t frame, uint32_t *ret, hearth_error *err);
/* The group of a frame, also of a wrapper's. */
hearth_status hearth_groups_name_frame(hearth_groups *groups, uint32_t frame, uint32_t *ret, hearth_error *err);

/* ------------------------------------------------ pair set ------------------------------------------------ */

/* Numbers for pairs of numbers: equal pairs get equal ones, from 0 in order of first use. Chains of any kind are pairs
 * of (element, rest of the chain). */

typedef struct hearth_pair {
  uint32_t first, second;
} hearth_pair;

/* All zero is the empty set. */
typedef struct hearth_pair_set {
  hearth_pair *pairs;
  uint32_t count;
  size_t room;
  id_table table;
} hearth_pair_set;

void hearth_pair_set_destroy(hearth_pair_set *set);
/* E_NOMEM; E_FULL beyond 2^31 pairs. */
hearth_status hearth_pair_set_add(hearth_pair_set *set, hearth_pair pair, uint32_t *ret, hearth_error *err);

/* ------------------------------------------------ tallies ------------------------------------------------ */

/* Where the tallies of a trace lie in a record on its way through symbolising: in fields that traces leave at 0. */

#define HEARTH_TALLY_TEMPORARY    NumSameAllocCPU            /* freed before their thread allocated again */
#define HEARTH_TALLY_FOREIGN      NumMigration               /* freed by another thread */
#define HEARTH_TALLY_GREW         NumSameDeallocCPU          /* reallocations to more bytes */
#define HEARTH_TALLY_COPIED_BYTES TotalAccessDensity         /* that these may have copied */
#define HEARTH_TALLY_PEAK         TotalLifetimeAccessDensity /* bytes that are live at the heap's peak */

#endif
