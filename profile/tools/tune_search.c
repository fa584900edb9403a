/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A layout is better if its runs are less than those with one pool by the rank test of Mann and Whitney: it asks how
 * often a run of one is less than a run of the other, and not by how much. Now and then a run takes half as long
 * again, as the system does other work: that moves a mean and its confidence interval by more than a layout gains,
 * but is one rank among many. */
#include "tune_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/expect.h"

/* -------------------------------------------------- verdicts ------------------------------------------------ */

typedef enum tune_quantity { TIME, MEMORY } tune_quantity;

static double tune_search_value_of(const tune_measurement *run, tune_quantity quantity) {
  return quantity == TIME ? run->cpu_s : (double)run->peak_bytes;
}

static int compare_values(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_of(const tune_measurement *runs, uint32_t count, tune_quantity quantity) {
  double values[TUNE_ROUNDS_MAX];
  hearth_expect(count > 0 && count <= TUNE_ROUNDS_MAX);
  for (uint32_t i = 0; i < count; i++)
    values[i] = tune_search_value_of(&runs[i], quantity);
  qsort(values, count, sizeof *values, compare_values);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* A time below the clock's resolution, or a peak that is not known, tells nothing. */
static double ratio_of(double of, double to) { return of > 0 && to > 0 ? of / to : 1; }

/* Of the medians; 1 before any round. */
static double gain_ratio(const tune_layout *layout, tune_quantity quantity) {
  return layout->rounds ? ratio_of(median_of(layout->own, layout->rounds, quantity),
                                   median_of(layout->one_pool, layout->rounds, quantity))
                        : 1;
}

/* By the number of runs of each side: the most pairs in which the run that is to be less is greater, if chance has
 * this or fewer in one of 40 cases (the table of Mann and Whitney, 1947, as extended by later ones; ties are half a
 * pair). */
static const int8_t most_reversed[] = {-1, -1, -1, -1, 0, 2, 5, 8, 13, 17, 23, 30, 37, 45, 55, 64, 75};
_Static_assert(sizeof most_reversed == TUNE_ROUNDS_MAX + 1 && TUNE_ROUNDS_LEAST == 4, "one for each number of rounds");

/* The runs, times the factor. */
static bool is_less(const tune_measurement *runs, double factor, const tune_measurement *than, uint32_t count,
                    tune_quantity quantity) {
  uint32_t reversed = 0; /* in halves of a pair */
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < count; k++) {
      double x = factor * tune_search_value_of(&runs[i], quantity), y = tune_search_value_of(&than[k], quantity);
      reversed += x > y ? 2 : x == y;
    }
  return (int)reversed <= 2 * most_reversed[count];
}

static uint32_t millionths(double ratio) { return ratio < 4000 ? (uint32_t)(ratio * 1e6 + 0.5) : UINT32_MAX; }

static uint32_t spread_ppm(const tune_layout *layout, tune_quantity quantity) {
  double least = INFINITY, greatest = 0;
  for (uint32_t i = 0; i < layout->rounds; i++) {
    double ratio =
        ratio_of(tune_search_value_of(&layout->own[i], quantity), tune_search_value_of(&layout->one_pool[i], quantity));
    least = fmin(least, ratio);
    greatest = fmax(greatest, ratio);
  }
  return layout->rounds ? millionths(greatest - least) : 0;
}

static bool gains(const tune_layout *layout, tune_quantity quantity) {
  return is_less(layout->own, 1, layout->one_pool, layout->rounds, quantity);
}

bool hearth_tune_loses(const tune_layout *layout) {
  return is_less(layout->one_pool, 1, layout->own, layout->rounds, TIME);
}

hearth_plan_tuning hearth_tune_judge(const tune_layout *layout) {
  double time = gain_ratio(layout, TIME), memory = gain_ratio(layout, MEMORY);
  bool saves_time = gains(layout, TIME) && time * memory < 1;
  bool loses_less =
      is_less(layout->own, memory, layout->one_pool, layout->rounds, TIME); /* of time than it saves of memory */
  bool saves_memory = gains(layout, MEMORY) && loses_less && !hearth_tune_loses(layout);
  enum hearth_tuning kind = saves_time && !(saves_memory && memory < time) ? HEARTH_TUNING_TIME
                            : saves_memory                                 ? HEARTH_TUNING_MEMORY
                                                                           : HEARTH_TUNING_NONE;
  return (hearth_plan_tuning){.kind = kind,
                              .rounds = layout->rounds,
                              .time_ppm = millionths(time),
                              .memory_ppm = millionths(memory),
                              .time_spread_ppm = spread_ppm(layout, TIME),
                              .memory_spread_ppm = spread_ppm(layout, MEMORY)};
}

/* One round says little. */
static bool can_be_chosen(const tune_layout *layout) {
  return layout->rounds < 2 || gain_ratio(layout, TIME) < 1 || gain_ratio(layout, MEMORY) < 1;
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

static void add_round(tune_layout *layout, const tune_measurement *own, const tune_measurement *one_pool) {
  layout->own[layout->rounds] = *own;
  layout->one_pool[layout->rounds] = *one_pool;
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
  double greatest = 0;
  for (uint32_t i = 0; i < count; i++) {
    double ratio = gain_ratio(&layouts[i], TIME);
    if (layouts[i].is_dropped || ratio < greatest)
      continue;
    worst = &layouts[i];
    greatest = ratio;
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
  if (used >> (HEARTH_POOL_OF_DORMANT + 1) & 1)
    apart[HEARTH_POOL_OF_DORMANT] = dense[HEARTH_POOL_OF_DORMANT] = known[HEARTH_POOL_OF_DORMANT] =
        plan->pools[HEARTH_POOL_OF_DORMANT];
  count = add_idea(ret, count, apart, "all calls apart");
  if (all_dense != used) /* else it is one pool, too */
    count = add_idea(ret, count, dense, "calls with many accesses for each byte");
  return add_idea(ret, count, known, "the plan's");
}

/* ---------------------------------------------------- search ------------------------------------------------ */

static tune_quantity quantity_of(enum hearth_tuning kind) { return kind == HEARTH_TUNING_TIME ? TIME : MEMORY; }

/* The one with the greatest gain, be it of time or of memory. */
static const tune_layout *best_of(const tune_layout *layouts, uint32_t count) {
  const tune_layout *best = NULL;
  double least = 1;
  for (uint32_t i = 0; i < count; i++) {
    enum hearth_tuning kind = hearth_tune_judge(&layouts[i]).kind;
    double ratio = gain_ratio(&layouts[i], quantity_of(kind));
    if (layouts[i].is_dropped || kind == HEARTH_TUNING_NONE || ratio >= least)
      continue;
    best = &layouts[i];
    least = ratio;
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

/* Beyond noise, in rounds that they have in common: a search compares often, and is to go on where chance alone
 * tells two apart. */
static bool is_worse(const tune_layout *layout, const tune_layout *than, enum hearth_tuning kind) {
  uint32_t rounds = layout->rounds < than->rounds ? layout->rounds : than->rounds;
  return is_less(than->own, 1, layout->own, rounds, quantity_of(kind));
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
