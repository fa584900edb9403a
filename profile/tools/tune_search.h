/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The search of `hearth tune`: layouts are measured in rounds, and the one that is chosen is better than one pool
 * beyond noise.
 *
 *   round    a run with one pool, and one of each layout that is still in the race, in turn; its ratios are those of a run to
 *            the run with one pool of the same round
 *   spread   from the least to the greatest ratio of a layout's rounds
 *   gain     less than one, by the ratio of the medians */
#ifndef HEARTH_TUNE_SEARCH_H
#define HEARTH_TUNE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "hearth/plan.h"

/* Figures of the command and all processes that it waited for. */
typedef struct tune_measurement {
  double cpu_s, elapsed_s; /* user and system; from start to end */
  uint64_t peak_bytes;     /* resident, of the largest process */
  int status;              /* exit status; 128 + the number of the signal that ended it */
} tune_measurement;

enum {
  TUNE_ROUNDS_LEAST = 4,   /* for a verdict: of three pairs of runs chance has each order in one of 20 cases */
  TUNE_ROUNDS_RACED = 7,   /* a layout that is not better by then is dropped */
  TUNE_ROUNDS_MAX = 16,    /* that a layout can have */
  TUNE_ROUNDS_CONFIRM = 2, /* of the winner alone, in the end */
  TUNE_RUNS_LEAST = 10     /* the first run, four pairs, and something left */
};

typedef struct tune_layout {
  uint8_t pools[HEARTH_POOLS_MAX + 1];
  const char *idea;                                                 /* where it comes from, for messages */
  tune_measurement own[TUNE_ROUNDS_MAX], one_pool[TUNE_ROUNDS_MAX]; /* of each round */
  uint32_t rounds;
  bool is_dropped;
} tune_layout;

/* Runs the command with the layout. False: the search is to end. */
typedef bool tune_measure(void *state, const uint8_t *pools, tune_measurement *ret);

typedef struct tune_search {
  tune_measure *measure;
  void *state;
  uint32_t runs_left;
  uint32_t rounds; /* of races so far: every other one runs backwards */
  bool has_failed; /* `measure` returned false */
} tune_search;

/* The layouts to begin with, from facts of the profile: all calls apart; those with more accesses for each byte than
 * on average; that of the plan. `used`: a bit for each id whose blocks the program places; others stay in the main
 * pool. Returns their number, at most TUNE_IDEAS. */
enum { TUNE_IDEAS = 3 };
uint32_t hearth_tune_ideas(const hearth_plan *plan, uint32_t used, tune_layout ret[TUNE_IDEAS]);

/* The verdict of the rounds so far. TIME: its runs take less time than those with one pool by the rank test at 2.5 %
 * (one-sided), and the gain is more than what is lost of memory, if any. MEMORY: the same of memory; time is not
 * lost beyond noise, and by the same test by less than memory gains. Of both, the greater gain counts. Else NONE;
 * the figures are there in any case. */
hearth_plan_tuning hearth_tune_judge(const tune_layout *layout);

/* Time, beyond noise. */
bool hearth_tune_loses(const tune_layout *layout);

/* Rounds of these until each is better or dropped, or runs are used up. A layout is dropped when two rounds or more
 * show no gain by the medians, and the slowest ones where runs would not do for a verdict on all. */
void hearth_tune_race(tune_search *search, tune_layout *layouts, uint32_t count, uint32_t most_rounds);

/* Rounds of this one alone until it is better, or loses. */
void hearth_tune_compare(tune_search *search, tune_layout *layout, uint32_t most_rounds);

/* The best of the ideas, then which of its ids it needs, by halves, then rounds of that alone. True, and *ret with
 * its rounds, if it is better than one pool. */
bool hearth_tune_find(tune_search *search, tune_layout *ideas, uint32_t count, tune_layout *ret);

#endif
