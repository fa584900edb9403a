/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Facts of the runs that are no sums, and their live bytes over time. */
#ifndef HEARTH_HISTORY_H
#define HEARTH_HISTORY_H

#include "hearth/profile.h"
#include "hearth/raw.h"

HEARTH_C_BEGIN

/* Merging keeps the greatest peak, the first and the last day, and the command if all runs with a known command
 * share it. */
typedef struct hearth_run_facts {
  uint64_t peak_bytes;          /* the most bytes that were live at a time; 0: unknown */
  uint32_t first_day, last_day; /* on which runs began: since 1970-01-01, UTC; both 0: unknown */
  const char *command;          /* the program's arguments, with blanks between; "": unknown, or they differ */
  bool commands_differ;
} hearth_run_facts;

/* All zero and "" if the profile does not know any. The string lives as long as the profile. E_CORRUPT. */
hearth_status hearth_profile_get_run_facts(hearth_profile *profile, hearth_run_facts *ret, hearth_error *err);

/* How many bytes were live in each part of the run, in all and in the contexts that held most. Of several runs, sums. */
typedef struct hearth_history_row {
  uint32_t context;
  uint64_t levels[HEARTH_RAW_POINTS];
} hearth_history_row;

typedef struct hearth_heap_history {
  uint64_t runs;     /* whose history is known; 0: there is none */
  uint64_t peak_ppm; /* when most was live, in millionths of the run: the sum over these runs */
  uint64_t levels[HEARTH_RAW_POINTS];
  size_t count; /* rows, by ascending context */
  hearth_history_row *rows;
} hearth_heap_history;

/* E_CORRUPT, E_NOMEM; nothing is to be freed then. */
hearth_status hearth_profile_get_history(hearth_profile *profile, hearth_heap_history *ret, hearth_error *err);
void hearth_heap_history_free(hearth_heap_history *history);

/* When most was live, since the start of a run, on average; of a history that has runs. */
static inline uint64_t hearth_history_peak_ns(const hearth_heap_history *history,
                                              const hearth_profile_summary *summary) {
  double run_ns = (double)summary->duration_ns / (double)(summary->runs ? summary->runs : 1);
  return (uint64_t)(run_ns * (double)history->peak_ppm / (double)history->runs / 1e6);
}

HEARTH_C_END
#endif
