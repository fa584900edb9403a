/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The search of layouts. Pools by call and by co-use come from clusters, of calls or of single subjects, of which the two are
 * joined, again and again, that are touched together most, so that joining them costs least (as HALO's grouping does), until
 * a further step would cost more than the noise. Of all layouts the cheapest is taken; one with fewer pools unless more gain
 * enough. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "planner.h"

enum { CLUSTERS_MAX = 64, REST = CLUSTERS_MAX - 1 };

/* Of the time of a program: a layout has to gain the first over simpler ones; clusters are joined if that costs less than the
 * second. */
static const double least_gain = 0.01, noise = 0.001;

typedef struct clusters {
  plan_heap *heaps; /* CLUSTERS_MAX */
  double *joined;   /* of each pair, the price of both in one */
  double prices[CLUSTERS_MAX];
  uint8_t into[CLUSTERS_MAX]; /* the cluster that it was joined to, or itself */
  bool is_used[CLUSTERS_MAX];
  uint32_t count;
} clusters;

typedef struct option {
  hearth_placement *placements; /* of each subject */
  hearth_plan_pool pools[HEARTH_POOLS_MAX];
  uint32_t pool_count;
  plan_prediction prediction;
} option;

typedef struct searching {
  planner *p;
  option options[HEARTH_LAYOUTS];
  plan_heap *heaps; /* scratch: own, cold, pools */
  clusters clusters;
  uint8_t *cluster_of; /* of each subject */
  double time;         /* cycles of a window without hints */
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

/* ------------------------------------------------- clusters ------------------------------------------------- */

typedef struct weighed {
  double weight;
  uint32_t number;
} weighed;

static int compare_weighed(const void *a, const void *b) {
  const weighed *x = a, *y = b;
  return x->weight != y->weight ? (x->weight < y->weight) - (x->weight > y->weight)
                                : (x->number > y->number) - (x->number < y->number);
}

/* A subject's part of lines and bytes. */
static double weight_of(const plan_subject *s, double lines, double bytes) {
  return (lines > 0 ? s->window_lines / lines : 0) + (bytes > 0 ? s->blocks * s->size / bytes : 0);
}

static uint32_t key_of(const searching *s, enum hearth_layout kind, uint32_t subject) {
  return kind == HEARTH_LAYOUT_CALLS ? s->p->subjects[subject].leaf : subject;
}

static uint32_t key_count(const searching *s, enum hearth_layout kind) {
  uint32_t count = s->p->subject_count;
  if (kind == HEARTH_LAYOUT_CALLS)
    count = s->p->subject_count ? s->p->subjects[s->p->subject_count - 1].leaf + 1 : 0; /* they ascend */
  return count;
}

static bool is_cold(const searching *s, uint32_t subject) {
  return s->p->subjects[subject].hotness == HEARTH_CLASS_COLD;
}

/* A key is an allocation call, or a subject. */
typedef struct keys {
  weighed *weights;
  uint8_t *clusters; /* of each key */
  uint8_t *calls;    /* of each allocation call, its heaviest cluster */
} keys;

static void weigh_keys(const searching *s, enum hearth_layout kind, keys *k, uint32_t count) {
  const planner *p = s->p;
  double lines = 0, bytes = 0;
  for (uint32_t i = 0; i < p->subject_count; i++) {
    lines += p->subjects[i].window_lines;
    bytes += p->subjects[i].blocks * p->subjects[i].size;
  }
  for (uint32_t i = 0; i < count; i++)
    k->weights[i].number = i;
  for (uint32_t i = 0; i < p->subject_count; i++)
    if (!is_cold(s, i))
      k->weights[key_of(s, kind, i)].weight += weight_of(&p->subjects[i], lines, bytes);
  qsort(k->weights, count, sizeof *k->weights, compare_weighed);
}

/* The heaviest keys have clusters of their own. Other subjects are with their call's heaviest, or in one cluster. */
static void fill_clusters(searching *s, enum hearth_layout kind, const keys *k, uint32_t count) {
  const planner *p = s->p;
  memset(k->clusters, REST, count);
  memset(k->calls, REST, key_count(s, HEARTH_LAYOUT_CALLS));
  for (uint32_t i = 0; i < count && i < REST && k->weights[i].weight > 0; i++)
    k->clusters[k->weights[i].number] = (uint8_t)i;
  for (uint32_t i = 0; i < p->subject_count; i++) {
    uint8_t own = k->clusters[key_of(s, kind, i)], *call = &k->calls[p->subjects[i].leaf];
    *call = !is_cold(s, i) && own < *call ? own : *call;
  }
  memset(s->clusters.heaps, 0, CLUSTERS_MAX * sizeof *s->clusters.heaps);
  memset(s->clusters.is_used, 0, sizeof s->clusters.is_used);
  for (uint32_t i = 0; i < p->subject_count; i++) {
    uint8_t own = k->clusters[key_of(s, kind, i)];
    s->cluster_of[i] = own == REST ? k->calls[p->subjects[i].leaf] : own;
    if (is_cold(s, i))
      continue;
    s->clusters.is_used[s->cluster_of[i]] = true;
    hearth_plan_heap_add(&s->clusters.heaps[s->cluster_of[i]], &p->subjects[i], PLAN_POOLS);
  }
}

static hearth_status start_clusters(searching *s, enum hearth_layout kind) {
  uint32_t count = key_count(s, kind);
  keys k = {0};
  hearth_status status = hearth_array_create(&k.weights, count, sizeof *k.weights, s->p->err);
  if (status == HEARTH_OK)
    status = hearth_array_create(&k.clusters, count, 1, s->p->err);
  if (status == HEARTH_OK)
    status = hearth_array_create(&k.calls, key_count(s, HEARTH_LAYOUT_CALLS), 1, s->p->err);
  if (status == HEARTH_OK) {
    weigh_keys(s, kind, &k, count);
    fill_clusters(s, kind, &k, count);
  }
  free(k.weights);
  free(k.clusters);
  free(k.calls);
  return status;
}

static double *joined_at(clusters *c, uint32_t a, uint32_t b) {
  return a < b ? &c->joined[a * CLUSTERS_MAX + b] : &c->joined[b * CLUSTERS_MAX + a];
}

static bool is_there(const clusters *c, uint32_t i) { return c->into[i] == i && c->is_used[i]; }

static void price_pair(searching *s, uint32_t a, uint32_t b) {
  clusters *c = &s->clusters;
  plan_heap both = c->heaps[a];
  hearth_plan_heap_join(&both, &c->heaps[b]);
  *joined_at(c, a, b) = hearth_plan_heap_price(&both, &s->p->time, &s->prices, s->huge) - c->prices[a] - c->prices[b];
}

static void price_all(searching *s) {
  clusters *c = &s->clusters;
  c->count = 0;
  for (uint32_t i = 0; i < CLUSTERS_MAX; i++) {
    c->into[i] = (uint8_t)i;
    c->count += is_there(c, i);
    c->prices[i] = hearth_plan_heap_price(&c->heaps[i], &s->p->time, &s->prices, s->huge);
  }
  for (uint32_t a = 0; a < CLUSTERS_MAX; a++)
    for (uint32_t b = a + 1; b < CLUSTERS_MAX; b++)
      if (is_there(c, a) && is_there(c, b))
        price_pair(s, a, b);
}

/* The two that cost least to join. False: there is one cluster, or none. */
static bool cheapest_pair(clusters *c, uint32_t *ret_a, uint32_t *ret_b) {
  double least = INFINITY;
  for (uint32_t a = 0; a < CLUSTERS_MAX; a++)
    for (uint32_t b = a + 1; b < CLUSTERS_MAX; b++)
      if (is_there(c, a) && is_there(c, b) && *joined_at(c, a, b) < least) {
        least = *joined_at(c, a, b);
        *ret_a = a;
        *ret_b = b;
      }
  return least < INFINITY;
}

static void join(searching *s, uint32_t a, uint32_t b) {
  clusters *c = &s->clusters;
  hearth_plan_heap_join(&c->heaps[a], &c->heaps[b]);
  c->prices[a] = hearth_plan_heap_price(&c->heaps[a], &s->p->time, &s->prices, s->huge);
  for (uint32_t i = 0; i < CLUSTERS_MAX; i++)
    if (c->into[i] == b)
      c->into[i] = (uint8_t)a;
  c->count--;
  for (uint32_t i = 0; i < CLUSTERS_MAX; i++)
    if (i != a && is_there(c, i))
      price_pair(s, a, i);
}

static hearth_status place_in_clusters(searching *s, enum hearth_layout kind) {
  clusters *c = &s->clusters;
  option *o = &s->options[kind];
  uint32_t a, b;
  uint8_t numbers[CLUSTERS_MAX];
  HEARTH_TRY(start_clusters(s, kind));
  price_all(s);
  while (cheapest_pair(c, &a, &b) && (*joined_at(c, a, b) < noise * s->time || c->count > HEARTH_POOLS_MAX))
    join(s, a, b);
  for (uint32_t i = 0; i < CLUSTERS_MAX; i++) /* the heaviest has the lowest number */
    numbers[i] = is_there(c, i) ? (uint8_t)o->pool_count++ : 0;
  for (uint32_t i = 0; i < s->p->subject_count; i++)
    o->placements[i] = is_cold(s, i)
                           ? HEARTH_CLASS_COLD
                           : (hearth_placement)(HEARTH_PLACEMENT_POOL + numbers[c->into[s->cluster_of[i]]]);
  return HEARTH_OK;
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
      s->time = hearth_plan_work(&s->p->time) + o->prediction.cycles;
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

/* Cold blocks lie apart in any case. */
static enum hearth_layout choose(const searching *s) {
  enum hearth_layout best = HEARTH_LAYOUT_COLD;
  if (!hearth_writer_accesses_counted(s->p->w))
    return best;
  for (enum hearth_layout kind = HEARTH_LAYOUT_WARM; kind < HEARTH_LAYOUTS; kind++) {
    if (cost_of(s, &s->options[kind]) < cost_of(s, &s->options[best]) - least_gain * s->time)
      best = kind;
  }
  return best;
}

static uint64_t time_ppm(double time, double of) { return of > 0 ? (uint64_t)(time / of * 1e6 + 0.5) : 1000000; }

static void keep_predictions(searching *s) {
  plan_layout *layout = &s->p->layout;
  double work = hearth_plan_work(&s->p->time);
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
                                                .time_ppm = time_ppm(work + p->cycles, s->time)};
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
    layout->pools[i].hotness =
        hot[i] >= layout->pools[i].accesses / 2 ? HEARTH_CLASS_HOT : HEARTH_CLASS_NOTCOLD;
}

static hearth_status search(searching *s) {
  planner *p = s->p;
  HEARTH_TRY(hearth_array_create(&s->heaps, 2 + HEARTH_POOLS_MAX, sizeof *s->heaps, p->err));
  HEARTH_TRY(hearth_array_create(&s->clusters.heaps, CLUSTERS_MAX, sizeof *s->clusters.heaps, p->err));
  HEARTH_TRY(
      hearth_array_create(&s->clusters.joined, CLUSTERS_MAX * CLUSTERS_MAX, sizeof *s->clusters.joined, p->err));
  HEARTH_TRY(hearth_array_create(&s->cluster_of, p->subject_count, 1, p->err));
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
  free(s.clusters.heaps);
  free(s.clusters.joined);
  free(s.cluster_of);
  return status;
}
