/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Origins: which builds, hosts and days the runs of a profile are from, and how much of each is in its sums. And
 * facts of runs that are no sums.
 *
 * There are at most HEARTH_ORIGINS_MOST rows. If a merge would have more, its rows are made coarser, and rows that
 * become equal are added, until they fit. Each granularity keeps less than the one before and follows from it alone, and
 * fewer rows never need a coarser granularity than more of them. So the granularity is the least at which the rows of all inputs
 * fit, but not below that of any input, whatever the order and grouping. */
#ifndef HEARTH_ORIGIN_H
#define HEARTH_ORIGIN_H

#include "hearth/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HEARTH_ORIGINS_MOST 256u

enum hearth_origin_granularity {
  HEARTH_ORIGINS_BY_DAY = 0,  /* by build, host and day */
  HEARTH_ORIGINS_BY_WEEK = 1, /* a day stands for the week that it begins */
  HEARTH_ORIGINS_NO_HOST = 2, /* and hosts are unknown */
  HEARTH_ORIGINS_BUILDS = 3,  /* by build alone */
  HEARTH_ORIGINS_ONE = 4,     /* all in one row */
  HEARTH_ORIGIN_GRANULARITIES = 5
};

typedef struct hearth_origin {
  const char *host; /* "": unknown */
  uint32_t day;     /* on which runs began: since 1970-01-01, UTC; 0: unknown */
  uint32_t build_id_size;
  uint8_t build_id[32];       /* of the program; unused bytes are 0 */
  uint64_t runs, total_bytes; /* shares of the profile's; not both 0 */
} hearth_origin;

typedef struct hearth_origins {
  uint32_t granularity; /* enum hearth_origin_granularity */
  uint32_t count;
  hearth_origin rows[HEARTH_ORIGINS_MOST]; /* by (build id, its size, host, day), each once */
} hearth_origins;

/* The Monday of a day's week. The first days of 1970 are in no week: unknown. */
static inline uint32_t hearth_origin_week(uint32_t day) { return day < 4 ? 0 : day - (day + 3) % 7; }

/* The origins of a profile; none if it does not know any. Runs of unknown origin have no row. Strings live as long as the
 * profile. E_CORRUPT. */
hearth_status hearth_profile_get_origins(hearth_profile *profile, hearth_origins *ret, hearth_error *err);

/* Merging keeps the greatest peak, and the command if all runs with a known command share it. */
typedef struct hearth_run_facts {
  uint64_t peak_bytes; /* the most bytes that were live at a time; 0: unknown */
  const char *command; /* the program's arguments, with blanks between; "": unknown, or they differ */
  bool commands_differ;
} hearth_run_facts;

/* All zero and "" if the profile does not know any. The string lives as long as the profile. E_CORRUPT. */
hearth_status hearth_profile_get_run_facts(hearth_profile *profile, hearth_run_facts *ret, hearth_error *err);

/* `hearth show --runs`: sums by build, host and day, at most `most` of each, or all rows as JSON. E_IO, E_CORRUPT. */
hearth_status hearth_origins_print_text(hearth_profile *profile, size_t most, FILE *stream, hearth_error *err);
hearth_status hearth_origins_print_json(hearth_profile *profile, FILE *stream, hearth_error *err);

#ifdef __cplusplus
}
#endif
#endif
