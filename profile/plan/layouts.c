/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The search of layouts. Of all the cheapest is taken, by the cost model; a simpler one unless more pools gain enough. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "planner.h"

/* Of the time of a program: what pools have to gain at all, */
static const double worth_it = 0.01;
/* a layout over simpler ones, and each pool more. Pools part blocks that were allocated one after the other, and were neighbours: the
 * model does not know what that loses. Groups need sites, too, and part what one call allocates. */
static const double least_gain[HEARTH_LAYOUTS] = {[HEARTH_LAYOUT_CALLS] = 0.005, [HEARTH_LAYOUT_GROUPS] = 0.05};
static const double pool_price = 0.005;

typedef struct option {
  hearth_placement *placements; /* of each subject */
  hearth_plan_pool pools[HEARTH_POOLS_MAX];
  uint32_t pool_count;
  plan_prediction prediction;
} option;

typedef struct searching {
  planner *p;
  option options[HEARTH_LAYOUTS];
  plan_heap *heaps;    /* scratch: own, cold, pools */
  double time;         /* cycles of a window without hints */
  double work;         /* those that no layout changes */
  double steady_bytes; /* then */
  plan_prices prices;
  bool huge;
} searching;

/* ------------------------------------------------ prediction ------------------------------------------------ */

static plan_heaps fill_heaps(searching *s, const option *o) {
  const planner *p = s->p;
  plan_heap *own = s->heaps, *cold = own + 1, *pools = own + 2;
  memset(s->heaps, 0, (2 + HEARTH_POOLS_MAX) * sizeof *s->heaps);
  for (uint32_t i = 0; i < p->subject_count; i++) {
    hearth_placement placement = o->placements[i];
    plan_heap *heap = placement >= HEARTH_PLACEMENT_POOL ? &pools[placement - HEARTH_PLACEMENT_POOL]
                      : placement == HEARTH_CLASS_COLD   ? cold
                                                         : own;
    hearth_plan_heap_add(heap, &p->subjects[i], heap == own ? PLAN_GLIBC : PLAN_POOLS);
  }
  return (plan_heaps){.own = own, .cold = cold, .pools = pools, .pool_count = o->pool_count};
}

static uint64_t thousandths(double number) { return (uint64_t)(number * 1000 + 0.5); }

static void predict(searching *s, option *o) {
  plan_heaps heaps = fill_heaps(s, o);
  o->prediction = hearth_plan_predict(&heaps, &s->p->time);
  for (uint32_t i = 0; i < o->pool_count; i++) {
    plan_prediction p = hearth_plan_predict_heap(&heaps.pools[i], &s->p->time);
    hearth_plan_pool *pool = &o->pools[i];
    pool->live_bytes = (uint64_t)heaps.pools[i].peak_bytes;
    pool->memory = (uint64_t)p.peak_bytes;
    pool->lines = thousandths(p.lines);
    pool->pages = thousandths(p.pages);
    pool->huge_pages = thousandths(p.huge_pages);
  }
}

/* Cycles of a window, and what the memory is worth. */
static double cost_of(const searching *s, const option *o) {
  return o->prediction.cycles + hearth_plan_memory_price(s->time, s->steady_bytes) * o->prediction.steady_bytes;
}

/* ------------------------------------------------- layouts -------------------------------------------------- */

/* Layouts without clusters. Where accesses were not counted, classes are all that is known. */
static void place_by_class(searching *s, enum hearth_layout kind) {
  option *o = &s->options[kind];
  bool counted = hearth_writer_accesses_counted(s->p->w);
  for (uint32_t i = 0; i < s->p->subject_count; i++) {
    hearth_class hotness = s->p->subjects[i].hotness;
    if (kind == HEARTH_LAYOUT_NONE || (hotness != HEARTH_CLASS_COLD && kind == HEARTH_LAYOUT_COLD && counted))
      o->placements[i] = HEARTH_CLASS_NOTCOLD;
    else if (hotness == HEARTH_CLASS_COLD || kind == HEARTH_LAYOUT_COLD)
      o->placements[i] = (hearth_placement)hotness;
    else
      o->placements[i] = HEARTH_PLACEMENT_POOL;
    o->pool_count |= o->placements[i] == HEARTH_PLACEMENT_POOL;
  }
}

static hearth_status place_in_clusters(searching *s, enum hearth_layout kind) {
  option *o = &s->options[kind];
  const plan_clustering clustering = {.by_call = kind == HEARTH_LAYOUT_CALLS,
                                      .prices = s->prices,
                                      .has_huge_pages = s->huge,
                                      .least_price = pool_price * s->time};
  HEARTH_TRY(hearth_plan_make_clusters(s->p, &clustering, o->placements, &o->pool_count));
  for (uint32_t i = 0; i < s->p->subject_count; i++)
    o->placements[i] = plan_is_cold(&s->p->subjects[i]) ? HEARTH_CLASS_COLD
                                                        : (hearth_placement)(HEARTH_PLACEMENT_POOL + o->placements[i]);
  return HEARTH_OK;
}

static hearth_status make_options(searching *s) {
  for (enum hearth_layout kind = HEARTH_LAYOUT_NONE; kind < HEARTH_LAYOUTS; kind++) {
    option *o = &s->options[kind];
    HEARTH_TRY(hearth_array_create(&o->placements, s->p->subject_count, 1, s->p->err));
    if (kind <= HEARTH_LAYOUT_WARM)
      place_by_class(s, kind);
    else
      HEARTH_TRY(place_in_clusters(s, kind));
    predict(s, o);
    if (kind == HEARTH_LAYOUT_NONE) {
      s->work = hearth_plan_work(&s->p->time, o->prediction.cycles);
      s->time = s->work + o->prediction.cycles;
      s->steady_bytes = o->prediction.steady_bytes;
    }
    if (kind == HEARTH_LAYOUT_WARM) {
      plan_heaps heaps = fill_heaps(s, o);
      s->prices = hearth_plan_prices(&heaps, &s->p->time);
      s->prices.steady_byte = hearth_plan_memory_price(s->time, s->steady_bytes);
      s->huge = hearth_plan_has_huge_pages(heaps.pools[0].bytes);
    }
  }
  return HEARTH_OK;
}

static bool gains(const searching *s, enum hearth_layout kind, enum hearth_layout over, double share) {
  return cost_of(s, &s->options[kind]) < cost_of(s, &s->options[over]) - share * s->time;
}

/* Cold blocks lie apart in any case. Where accesses were not counted, no others have a place. */
static enum hearth_layout choose(const searching *s) {
  enum hearth_layout best = HEARTH_LAYOUT_COLD;
  if (!hearth_writer_accesses_counted(s->p->w))
    return best;
  for (enum hearth_layout kind = HEARTH_LAYOUT_WARM; kind < HEARTH_LAYOUTS; kind++)
    if (gains(s, kind, HEARTH_LAYOUT_COLD, worth_it) && gains(s, kind, best, least_gain[kind]))
      best = kind;
  return best;
}

static uint64_t time_ppm(double time, double of) { return of > 0 ? (uint64_t)(time / of * 1e6 + 0.5) : 1000000; }

static void keep_predictions(searching *s) {
  plan_layout *layout = &s->p->layout;
  for (uint32_t i = 0; i < HEARTH_LAYOUTS; i++) {
    const plan_prediction *p = &s->options[i].prediction;
    layout->predicted[i] = (hearth_plan_layout){.layout = i,
                                                .pool_count = s->options[i].pool_count,
                                                .lines = thousandths(p->lines),
                                                .pages = thousandths(p->pages),
                                                .huge_pages = thousandths(p->huge_pages),
                                                .peak_bytes = (uint64_t)p->peak_bytes,
                                                .steady_bytes = (uint64_t)p->steady_bytes,
                                                .cycles = thousandths(p->cycles),
                                                .time_ppm = time_ppm(s->work + p->cycles, s->time)};
  }
  layout->predicted_count = HEARTH_LAYOUTS;
}

static void keep_layout(searching *s, enum hearth_layout kind) {
  planner *p = s->p;
  plan_layout *layout = &p->layout;
  const option *o = &s->options[kind];
  uint64_t hot[HEARTH_POOLS_MAX] = {0}; /* accesses of each pool's hot contexts */
  layout->kind = kind;
  layout->pool_count = o->pool_count;
  memcpy(layout->pools, o->pools, sizeof layout->pools);
  for (uint32_t i = 0; i < p->w->contexts.count; i++) {
    if (p->subject_of_row[i] == HEARTH_NONE)
      continue;
    hearth_placement placement = o->placements[p->subject_of_row[i]];
    layout->placements[i] = placement;
    if (placement < HEARTH_PLACEMENT_POOL)
      continue;
    hearth_plan_pool *pool = &layout->pools[placement - HEARTH_PLACEMENT_POOL];
    pool->allocs += p->rows[i].allocs;
    pool->bytes += p->rows[i].bytes;
    pool->accesses += p->rows[i].accesses;
    pool->contexts++;
    if (p->rows[i].hotness == HEARTH_CLASS_HOT)
      hot[placement - HEARTH_PLACEMENT_POOL] += p->rows[i].accesses;
  }
  for (uint32_t i = 0; i < layout->pool_count; i++)
    layout->pools[i].hotness = hot[i] >= layout->pools[i].accesses / 2 ? HEARTH_CLASS_HOT : HEARTH_CLASS_NOTCOLD;
}

static hearth_status search(searching *s) {
  planner *p = s->p;
  HEARTH_TRY(hearth_array_create(&s->heaps, 2 + HEARTH_POOLS_MAX, sizeof *s->heaps, p->err));
  HEARTH_TRY(make_options(s));
  keep_predictions(s);
  keep_layout(s, p->options.layout ? (enum hearth_layout)(p->options.layout - 1) : choose(s));
  return HEARTH_OK;
}

hearth_status hearth_plan_find_layout(planner *p) {
  searching s = {.p = p};
  hearth_status status = search(&s);
  for (uint32_t i = 0; i < HEARTH_LAYOUTS; i++)
    free(s.options[i].placements);
  free(s.heaps);
  return status;
}
