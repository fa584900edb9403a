/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A layout is better if the confidence interval of its mean ratio lies below 1: the least gain that counts follows from how far the
 * rounds differ. That every round has to agree would drop a layout that gains half the noise of a run in most searches; that the
 * gain exceeds the spread, in nearly all, and the more rounds, the sooner, as spreads grow with them. */
#include "tune.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* -------------------------------------------------- verdicts ------------------------------------------------ */

/* Student's t by degrees of freedom, from 1 on: 95 % of means lie within this number of standard errors of the
 * truth. */
static const double student_95[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                    2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131};
static_assert(sizeof student_95 / sizeof *student_95 == TUNE_ROUNDS_MAX - 1, "one for each number of rounds");

typedef struct tune_sum {
  double mean, least, greatest; /* logarithms */
  double error; /* half of the 95 % confidence interval of the mean; INFINITY with less than two values */
} tune_sum;

static tune_sum tune_search_sum_up(const double *values, uint32_t count) {
  tune_sum sum = {.least = count ? values[0] : 0, .greatest = count ? values[0] : 0, .error = INFINITY};
  double squares = 0;
  for (uint32_t i = 0; i < count; i++) {
    sum.mean += values[i] / count;
    sum.least = fmin(sum.least, values[i]);
    sum.greatest = fmax(sum.greatest, values[i]);
  }
  for (uint32_t i = 0; i < count; i++)
    squares += (values[i] - sum.mean) * (values[i] - sum.mean);
  if (count > 1)
    sum.error = student_95[count - 2] * sqrt(squares / (count - 1) / count);
  return sum;
}

static uint32_t millionths(double ratio) { return ratio < 4000 ? (uint32_t)(ratio * 1e6 + 0.5) : UINT32_MAX; }

static bool gains(const tune_sum *sum) { return -sum->mean > sum->error; }

static bool loses(const tune_sum *sum) { return sum->mean > sum->error; }

hearth_plan_tuning hearth_tune_judge(const tune_layout *layout) {
  tune_sum time = tune_search_sum_up(layout->time, layout->rounds),
           memory = tune_search_sum_up(layout->memory, layout->rounds);
  bool saves_time = gains(&time) && time.mean + memory.mean < 0;
  bool saves_memory = gains(&memory) && time.mean + time.error < -memory.mean && !loses(&time);
  enum hearth_tuning kind = layout->rounds < TUNE_ROUNDS_LEAST                         ? HEARTH_TUNING_NONE
                            : saves_time && !(saves_memory && memory.mean < time.mean) ? HEARTH_TUNING_TIME
                            : saves_memory                                             ? HEARTH_TUNING_MEMORY
                                                                                       : HEARTH_TUNING_NONE;
  return (hearth_plan_tuning){.kind = kind,
                              .rounds = layout->rounds,
                              .time_ppm = millionths(exp(time.mean)),
                              .memory_ppm = millionths(exp(memory.mean)),
                              .time_spread_ppm = millionths(exp(time.greatest) - exp(time.least)),
                              .memory_spread_ppm = millionths(exp(memory.greatest) - exp(memory.least))};
}

bool hearth_tune_loses(const tune_layout *layout) {
  tune_sum time = tune_search_sum_up(layout->time, layout->rounds);
  return layout->rounds >= TUNE_ROUNDS_LEAST && loses(&time);
}

/* One round says little. */
static bool can_be_chosen(const tune_layout *layout) {
  tune_sum time = tune_search_sum_up(layout->time, layout->rounds),
           memory = tune_search_sum_up(layout->memory, layout->rounds);
  return layout->rounds < 2 || time.mean < 0 || memory.mean < 0;
}

/* ---------------------------------------------------- races ------------------------------------------------- */

static bool is_decided(const tune_layout *layout) {
  return layout->is_dropped || hearth_tune_judge(layout).kind != HEARTH_TUNING_NONE || hearth_tune_loses(layout);
}

static uint32_t tune_search_count_live(const tune_layout *layouts, uint32_t count) {
  uint32_t live = 0;
  for (uint32_t i = 0; i < count; i++)
    live += !layouts[i].is_dropped;
  return live;
}

static bool all_are_decided(const tune_layout *layouts, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!is_decided(&layouts[i]))
      return false;
  return true;
}

static bool run_one(tune_search *search, const uint8_t *pools, tune_measurement *ret) {
  search->runs_left--;
  search->has_failed |= !search->measure(search->state, pools, ret);
  return !search->has_failed;
}

/* A time below the clock's resolution, or a peak that is not known, tells nothing. */
static double log_ratio(double of, double to) { return of > 0 && to > 0 ? log(of / to) : 0; }

static void add_round(tune_layout *layout, const tune_measurement *own, const tune_measurement *one_pool) {
  layout->time[layout->rounds] = log_ratio(own->cpu_s, one_pool->cpu_s);
  layout->memory[layout->rounds] = log_ratio((double)own->peak_bytes, (double)one_pool->peak_bytes);
  layout->rounds++;
}

/* One pool comes first, or last: what drifts with time is on either side. */
static bool run_round(tune_search *search, tune_layout *layouts, uint32_t count) {
  static const uint8_t one[HEARTH_POOLS_MAX + 1];
  tune_measurement one_pool, own[TUNE_IDEAS];
  bool backwards = search->rounds++ % 2;
  if (!backwards && !run_one(search, one, &one_pool))
    return false;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t k = backwards ? count - 1 - i : i;
    if (!layouts[k].is_dropped && !run_one(search, layouts[k].pools, &own[k]))
      return false;
  }
  if (backwards && !run_one(search, one, &one_pool))
    return false;
  for (uint32_t i = 0; i < count; i++)
    if (!layouts[i].is_dropped)
      add_round(&layouts[i], &own[i], &one_pool);
  return true;
}

/* By time; before any round, the last one. */
static tune_layout *worst_of(tune_layout *layouts, uint32_t count) {
  tune_layout *worst = NULL;
  double greatest = -INFINITY;
  for (uint32_t i = 0; i < count; i++) {
    double mean = tune_search_sum_up(layouts[i].time, layouts[i].rounds).mean;
    if (layouts[i].is_dropped || mean < greatest)
      continue;
    worst = &layouts[i];
    greatest = mean;
  }
  return worst;
}

/* Drop the worst layouts until the runs that are left suffice for a verdict on the others. */
static void drop_for_lack_of_runs(const tune_search *search, tune_layout *layouts, uint32_t count,
                                  uint32_t rounds_left) {
  for (uint32_t live = tune_search_count_live(layouts, count); live > 1 && search->runs_left < rounds_left * (live + 1);
       live--)
    worst_of(layouts, count)->is_dropped = true;
}

void hearth_tune_race(tune_search *search, tune_layout *layouts, uint32_t count, uint32_t most_rounds) {
  for (uint32_t round = 0; round < most_rounds && !all_are_decided(layouts, count); round++) {
    drop_for_lack_of_runs(search, layouts, count, round < TUNE_ROUNDS_LEAST ? TUNE_ROUNDS_LEAST - round : 1);
    if (search->runs_left < tune_search_count_live(layouts, count) + 1 || !run_round(search, layouts, count))
      return;
    for (uint32_t i = 0; i < count; i++)
      layouts[i].is_dropped |= !can_be_chosen(&layouts[i]);
  }
}

void hearth_tune_compare(tune_search *search, tune_layout *layout, uint32_t most_rounds) {
  while (layout->rounds < most_rounds && search->runs_left >= 2 && !is_decided(layout))
    if (!run_round(search, layout, 1))
      return;
}

/* ---------------------------------------------------- ideas ------------------------------------------------- */

static bool tune_search_equals(const tune_layout *a, const uint8_t *pools) {
  return memcmp(a->pools, pools, sizeof a->pools) == 0;
}

static uint32_t add_idea(tune_layout *ideas, uint32_t count, const uint8_t *pools, const char *idea) {
  static const uint8_t one[HEARTH_POOLS_MAX + 1];
  bool is_known = memcmp(pools, one, sizeof one) == 0;
  for (uint32_t i = 0; i < count; i++)
    is_known |= tune_search_equals(&ideas[i], pools);
  if (is_known)
    return count;
  ideas[count] = (tune_layout){.idea = idea};
  memcpy(ideas[count].pools, pools, sizeof ideas[count].pools);
  return count + 1;
}

uint32_t hearth_tune_ideas(const hearth_plan *plan, uint32_t used, tune_layout ret[TUNE_IDEAS]) {
  uint8_t apart[HEARTH_POOLS_MAX + 1] = {0}, dense[HEARTH_POOLS_MAX + 1] = {0}, known[HEARTH_POOLS_MAX + 1] = {0};
  double accesses = 0, bytes = 0;
  uint32_t count = 0, all_dense = used;
  for (uint32_t i = 0; i < plan->call_count; i++) {
    accesses += used >> (i + 1) & 1 ? (double)plan->calls[i].accesses : 0;
    bytes += used >> (i + 1) & 1 ? (double)plan->calls[i].bytes : 0;
  }
  for (uint32_t i = 0; i < plan->call_count; i++) {
    const hearth_plan_call *call = &plan->calls[i];
    if (!(used >> (i + 1) & 1))
      continue;
    apart[i] = (uint8_t)(i + 1);
    dense[i] = (double)call->accesses * bytes > (double)call->bytes * accesses;
    known[i] = plan->pools[i];
    all_dense &= ~((uint32_t)!dense[i] << (i + 1));
  }
  count = add_idea(ret, count, apart, "all calls apart");
  if (all_dense != used) /* else it is one pool, too */
    count = add_idea(ret, count, dense, "calls with many accesses for each byte");
  return add_idea(ret, count, known, "the plan's");
}

/* ---------------------------------------------------- search ------------------------------------------------ */

/* The logarithm of the ratio that it was chosen by. */
static double tune_search_score(const tune_layout *layout, enum hearth_tuning kind) {
  return tune_search_sum_up(kind == HEARTH_TUNING_TIME ? layout->time : layout->memory, layout->rounds).mean;
}

/* The one with the greatest gain, be it of time or of memory. */
static const tune_layout *best_of(const tune_layout *layouts, uint32_t count) {
  const tune_layout *best = NULL;
  double least = 0;
  for (uint32_t i = 0; i < count; i++) {
    enum hearth_tuning kind = hearth_tune_judge(&layouts[i]).kind;
    if (layouts[i].is_dropped || kind == HEARTH_TUNING_NONE || tune_search_score(&layouts[i], kind) >= least)
      continue;
    best = &layouts[i];
    least = tune_search_score(best, kind);
  }
  return best;
}

/* The layout with every id of one half back in the main pool. False: it has but one elsewhere. */
static bool tune_search_halve(const tune_layout *layout, tune_layout halves[2]) {
  uint32_t apart = 0, seen = 0;
  for (uint32_t i = 0; i < HEARTH_POOLS_MAX; i++)
    apart += layout->pools[i] != 0;
  for (uint32_t half = 0; half < 2; half++)
    halves[half] = (tune_layout){.idea = "a half of that"};
  for (uint32_t i = 0; i < HEARTH_POOLS_MAX; i++)
    if (layout->pools[i])
      halves[seen++ >= (apart + 1) / 2].pools[i] = layout->pools[i];
  return apart > 1;
}

/* Their confidence intervals do not meet: a search compares often, and is to go on where chance alone tells two apart. */
static bool is_worse(const tune_layout *layout, const tune_layout *than, enum hearth_tuning kind) {
  tune_sum a = tune_search_sum_up(kind == HEARTH_TUNING_TIME ? layout->time : layout->memory, layout->rounds);
  tune_sum b = tune_search_sum_up(kind == HEARTH_TUNING_TIME ? than->time : than->memory, than->rounds);
  return a.mean - a.error > b.mean + b.error;
}

/* As long as one half is not worse than the whole, which is in the race, too. Runs to confirm it are kept. */
static void tune_search_refine(tune_search *search, tune_layout *winner) {
  enum { HALVES = 2, RACED = HALVES + 1, NEEDED = (RACED + 1) * TUNE_ROUNDS_LEAST + 2 * TUNE_ROUNDS_CONFIRM };
  tune_layout raced[RACED], *whole = &raced[HALVES];
  while (search->runs_left >= NEEDED && tune_search_halve(winner, raced)) {
    enum hearth_tuning kind = hearth_tune_judge(winner).kind;
    *whole = (tune_layout){.idea = winner->idea};
    memcpy(whole->pools, winner->pools, sizeof whole->pools);
    hearth_tune_race(search, raced, RACED, TUNE_ROUNDS_LEAST);
    const tune_layout *better = best_of(raced, HALVES);
    if (search->has_failed || !better || hearth_tune_judge(better).kind != kind || is_worse(better, whole, kind))
      return;
    *winner = *better;
  }
}

static void confirm(tune_search *search, tune_layout *winner) {
  for (uint32_t i = 0; i < TUNE_ROUNDS_CONFIRM && search->runs_left >= 2 && winner->rounds < TUNE_ROUNDS_MAX; i++)
    if (!run_round(search, winner, 1))
      return;
}

bool hearth_tune_find(tune_search *search, tune_layout *ideas, uint32_t count, tune_layout *ret) {
  hearth_tune_race(search, ideas, count, TUNE_ROUNDS_RACED);
  const tune_layout *best = best_of(ideas, count);
  if (search->has_failed || !best)
    return false;
  *ret = *best;
  tune_search_refine(search, ret);
  if (!search->has_failed)
    confirm(search, ret);
  return !search->has_failed && hearth_tune_judge(ret).kind != HEARTH_TUNING_NONE;
}
