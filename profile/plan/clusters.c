/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Clusters of allocation calls, or of single subjects: again and again the two are joined for which that costs least, because
 * they are touched together (as HALO's grouping does), until a further step would cost too much. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "planner.h"

enum { CLUSTERS_MAX = 64, REST = CLUSTERS_MAX - 1 };

typedef struct clusters {
  planner *p;
  const plan_clustering *how;
  plan_heap *heaps; /* CLUSTERS_MAX */
  double *joined;   /* of each pair, the price of both in one */
  double prices[CLUSTERS_MAX];
  uint8_t into[CLUSTERS_MAX]; /* the cluster that it was joined to, or itself */
  bool is_used[CLUSTERS_MAX];
  uint32_t count;
  uint8_t *of; /* of each subject that is not cold */
} clusters;

/* ------------------------------------------------- starting ------------------------------------------------- */

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

static uint32_t key_of(const clusters *c, uint32_t subject) {
  return c->how->by_call ? c->p->subjects[subject].leaf : subject;
}

/* Their numbers ascend. */
static uint32_t count_calls(const planner *p) {
  return p->subject_count ? p->subjects[p->subject_count - 1].leaf + 1 : 0;
}

/* A key is an allocation call, or a subject. */
typedef struct keys {
  weighed *weights;
  uint8_t *clusters; /* of each key */
  uint8_t *calls;    /* of each allocation call, its heaviest cluster */
} keys;

static void weigh_keys(const clusters *c, keys *k, uint32_t count) {
  const planner *p = c->p;
  double lines = 0, bytes = 0;
  for (uint32_t i = 0; i < p->subject_count; i++) {
    lines += p->subjects[i].window_lines;
    bytes += p->subjects[i].blocks * p->subjects[i].size;
  }
  for (uint32_t i = 0; i < count; i++)
    k->weights[i].number = i;
  for (uint32_t i = 0; i < p->subject_count; i++)
    if (!plan_is_cold(&p->subjects[i]))
      k->weights[key_of(c, i)].weight += weight_of(&p->subjects[i], lines, bytes);
  qsort(k->weights, count, sizeof *k->weights, compare_weighed);
}

/* The heaviest keys have clusters of their own. Other subjects are with their call's heaviest, or in one cluster. */
static void fill_clusters(clusters *c, const keys *k, uint32_t count) {
  const planner *p = c->p;
  memset(k->clusters, REST, count);
  memset(k->calls, REST, count_calls(p));
  for (uint32_t i = 0; i < count && i < REST && k->weights[i].weight > 0; i++)
    k->clusters[k->weights[i].number] = (uint8_t)i;
  for (uint32_t i = 0; i < p->subject_count; i++) {
    uint8_t own = k->clusters[key_of(c, i)], *call = &k->calls[p->subjects[i].leaf];
    *call = !plan_is_cold(&p->subjects[i]) && own < *call ? own : *call;
  }
  for (uint32_t i = 0; i < p->subject_count; i++) {
    uint8_t own = k->clusters[key_of(c, i)];
    c->of[i] = own == REST ? k->calls[p->subjects[i].leaf] : own;
    if (plan_is_cold(&p->subjects[i]))
      continue;
    c->is_used[c->of[i]] = true;
    hearth_plan_heap_add(&c->heaps[c->of[i]], &p->subjects[i], PLAN_POOLS);
  }
}

static hearth_status start(clusters *c) {
  uint32_t count = c->how->by_call ? count_calls(c->p) : c->p->subject_count;
  keys k = {0};
  hearth_status status = hearth_array_create(&k.weights, count, sizeof *k.weights, c->p->err);
  if (status == HEARTH_OK)
    status = hearth_array_create(&k.clusters, count, 1, c->p->err);
  if (status == HEARTH_OK)
    status = hearth_array_create(&k.calls, count_calls(c->p), 1, c->p->err);
  if (status == HEARTH_OK) {
    weigh_keys(c, &k, count);
    fill_clusters(c, &k, count);
  }
  free(k.weights);
  free(k.clusters);
  free(k.calls);
  return status;
}

/* ------------------------------------------------- joining -------------------------------------------------- */

static double *joined_at(clusters *c, uint32_t a, uint32_t b) {
  return a < b ? &c->joined[a * CLUSTERS_MAX + b] : &c->joined[b * CLUSTERS_MAX + a];
}

static bool is_there(const clusters *c, uint32_t i) { return c->into[i] == i && c->is_used[i]; }

static double price(const clusters *c, const plan_heap *heap) {
  return hearth_plan_heap_price(heap, &c->p->time, &c->how->prices, c->how->has_huge_pages);
}

static void price_pair(clusters *c, uint32_t a, uint32_t b) {
  plan_heap both = c->heaps[a];
  hearth_plan_heap_join(&both, &c->heaps[b]);
  *joined_at(c, a, b) =
      price(c, &both) - c->prices[a] - c->prices[b] + hearth_plan_dilution(&c->heaps[a], &c->heaps[b]);
}

static void price_all(clusters *c) {
  for (uint32_t i = 0; i < CLUSTERS_MAX; i++) {
    c->into[i] = (uint8_t)i;
    c->count += is_there(c, i);
    c->prices[i] = price(c, &c->heaps[i]);
  }
  for (uint32_t a = 0; a < CLUSTERS_MAX; a++)
    for (uint32_t b = a + 1; b < CLUSTERS_MAX; b++)
      if (is_there(c, a) && is_there(c, b))
        price_pair(c, a, b);
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

static void join(clusters *c, uint32_t a, uint32_t b) {
  hearth_plan_heap_join(&c->heaps[a], &c->heaps[b]);
  c->prices[a] = price(c, &c->heaps[a]);
  for (uint32_t i = 0; i < CLUSTERS_MAX; i++)
    if (c->into[i] == b)
      c->into[i] = (uint8_t)a;
  c->count--;
  for (uint32_t i = 0; i < CLUSTERS_MAX; i++)
    if (i != a && is_there(c, i))
      price_pair(c, a, i);
}

/* The heaviest have the lowest numbers. */
static void number_clusters(clusters *c, uint8_t *ret, uint32_t *ret_count) {
  uint8_t numbers[CLUSTERS_MAX];
  *ret_count = 0;
  for (uint32_t i = 0; i < CLUSTERS_MAX; i++)
    numbers[i] = is_there(c, i) ? (uint8_t)(*ret_count)++ : 0;
  for (uint32_t i = 0; i < c->p->subject_count; i++)
    ret[i] = numbers[c->into[c->of[i]]];
}

static hearth_status cluster(clusters *c) {
  uint32_t a, b;
  HEARTH_TRY(hearth_array_create(&c->heaps, CLUSTERS_MAX, sizeof *c->heaps, c->p->err));
  HEARTH_TRY(hearth_array_create(&c->joined, CLUSTERS_MAX * CLUSTERS_MAX, sizeof *c->joined, c->p->err));
  HEARTH_TRY(hearth_array_create(&c->of, c->p->subject_count, 1, c->p->err));
  HEARTH_TRY(start(c));
  price_all(c);
  while (cheapest_pair(c, &a, &b) && (*joined_at(c, a, b) < c->how->least_price || c->count > HEARTH_POOLS_MAX))
    join(c, a, b);
  return HEARTH_OK;
}

hearth_status hearth_plan_make_clusters(planner *p, const plan_clustering *how, uint8_t *ret, uint32_t *ret_count) {
  clusters c = {.p = p, .how = how};
  hearth_status status = cluster(&c);
  if (status == HEARTH_OK)
    number_clusters(&c, ret, ret_count);
  free(c.heaps);
  free(c.joined);
  free(c.of);
  return status;
}
