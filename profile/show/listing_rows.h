/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A listing before it is printed: listing.c collects, and prints the summary; listing_text.c and listing_json.c print. */
#ifndef HEARTH_LISTING_ROWS_H
#define HEARTH_LISTING_ROWS_H

#include "groups.h"
#include "hearth/profile.h"

#define HEARTH_LISTING_CLASSES (HEARTH_CLASS_HOT + 1)

typedef struct hearth_listing_row {
  uint32_t context;
  uint32_t group;
  hearth_class hotness;
  bool is_uncertain; /* may be cold or not */
  double key;        /* greatest first */
  hearth_listing_totals sum;
} hearth_listing_row;

/* Rows [first, first + flat.contexts of the group) are the group's. */
typedef struct hearth_listing_group {
  uint32_t group;
  size_t first;
  double key;
} hearth_listing_group;

typedef struct hearth_listing {
  hearth_profile *profile;
  const char *name;
  hearth_listing_options options;
  hearth_view_options view;
  FILE *stream;
  hearth_profile_summary summary;
  hearth_run_facts facts;
  hearth_selection selection;
  hearth_names names;
  hearth_groups all_groups, callers; /* callers: of the function that is printed */
  hearth_listing_row *rows;          /* contexts that pass the filters; by group, then sorted */
  hearth_listing_group *groups;      /* sorted; groups with contexts come before groups with cumulative sums only */
  size_t row_count, group_count;
  size_t detailed;     /* groups whose contexts text prints */
  uint64_t recorded;   /* fields that some context has, 1 << enum hearth_mib_column: others are not known, not 0 */
  bool live_estimated; /* of some context */
  hearth_listing_totals classes[HEARTH_LISTING_CLASSES], uncertain, all, shown;
} hearth_listing;

/* Destroy also after an error. */
hearth_status hearth_listing_init(hearth_listing *listing, hearth_profile *profile, const char *name,
                                  const hearth_listing_options *options, FILE *stream, hearth_error *err);
void hearth_listing_destroy(hearth_listing *listing);
const hearth_group *hearth_listing_group_of(const hearth_listing *listing, size_t number);
bool hearth_listing_knows(const hearth_listing *listing, enum hearth_mib_column field);
bool hearth_listing_knows_untouched(const hearth_listing *listing);

hearth_status hearth_listing_print_summary(const hearth_listing *listing, hearth_error *err);

#endif
