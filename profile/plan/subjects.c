/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The subjects of the cost model from a profile's rows: how much lives, and how much of it a window touches, both estimated
 * from accesses and lifetimes.
 *
 * Bits tell contexts apart by the set of decision sites that they go through. So contexts of one allocation call that go
 * through the same calls, in whatever order, are one subject. Calls that may not become sites do not count. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "numbers.h"
#include "planner.h"

enum { LINE = 64, PAGE = 4096 };
/* A window is guessed: of a millisecond. */
static const double guessed_window_ns = 1e6;
/* That follow each other. */
static const double accesses_per_use = 4;
/* A run that counts all accesses takes so many times the plain time, about (docs/measurements.md, "What does profiling cost?"). */
static const double slowdown = 2;
/* Touched places beyond this share count as all: a logarithm has to be finite. */
static const double most_touched = 0.999999;

/* Sums over the rows of a subject. */
typedef struct facts {
  double allocs, bytes, lifetime, accesses, live_at_exit;
} facts;

typedef struct subject_key {
  uint64_t calls; /* hash of the set of those that may become sites */
  uint32_t leaf;
  bool is_cold;
} subject_key;

typedef struct collecting {
  planner *p;
  facts *facts;      /* of each subject */
  subject_key *keys; /* of each subject */
  id_table table;    /* of subjects, by key */
  uint64_t *calls;   /* of each stack node */
  double runs, duration_ns;
  double window_ns; /* length of one */
} collecting;

/* ------------------------------------------------- subjects ------------------------------------------------- */

static bool goes_through(const planner *p, uint32_t node, uint64_t stack_id) {
  for (; node != HEARTH_NONE; node = p->w->parents[node])
    if (p->stack_ids[p->w->node_frames[node]] == stack_id)
      return true;
  return false;
}

/* Callers have lower numbers. */
static hearth_status hash_calls(collecting *c) {
  const planner *p = c->p;
  HEARTH_TRY(hearth_array_create(&c->calls, p->w->nodes.count, sizeof *c->calls, p->err));
  for (uint32_t i = 0; i < p->w->nodes.count; i++) {
    uint32_t frame = p->w->node_frames[i], caller = p->w->parents[i];
    uint64_t id = p->stack_ids[frame];
    c->calls[i] = caller == HEARTH_NONE ? 0 : c->calls[caller];
    if (p->may_be_site[frame] && !goes_through(p, caller, id))
      c->calls[i] += id_table_mix(id);
  }
  return HEARTH_OK;
}

static bool is_subject(const void *owner, uint32_t item, const void *key) {
  const subject_key *keys = owner, *k = key;
  return keys[item].calls == k->calls && keys[item].leaf == k->leaf && keys[item].is_cold == k->is_cold;
}

/* A new one, unless it is there. */
static hearth_status find_subject(collecting *c, uint32_t row, uint32_t leaf, uint32_t *ret) {
  planner *p = c->p;
  uint32_t caller = p->w->parents[p->w->leaves[p->w->contexts.order[row]]];
  subject_key key = {.calls = caller == HEARTH_NONE ? 0 : c->calls[caller],
                     .leaf = leaf,
                     .is_cold = p->rows[row].hotness == HEARTH_CLASS_COLD};
  uint64_t hash = id_table_mix(key.calls ^ ((uint64_t)leaf << 1 | key.is_cold));
  *ret = id_table_find(&c->table, hash, is_subject, c->keys, &key);
  if (*ret != HEARTH_NONE)
    return HEARTH_OK;
  if (!id_table_reserve(&c->table))
    return hearth_error_nomem(p->err);
  *ret = p->subject_count++;
  c->keys[*ret] = key;
  p->subjects[*ret] = (plan_subject){.leaf = leaf, .hotness = p->rows[row].hotness};
  id_table_insert(&c->table, hash, *ret);
  return HEARTH_OK;
}

static void add_row(collecting *c, uint32_t row) {
  const planner *p = c->p;
  uint32_t context = p->w->contexts.order[row];
  const mib_rows *mibs = &p->w->builder->mibs;
  facts *f = &c->facts[p->subject_of_row[row]];
  f->allocs += (double)p->rows[row].allocs;
  f->bytes += (double)p->rows[row].bytes;
  f->lifetime += (double)mib_rows_number(mibs, context, HEARTH_COL_TotalLifetime);
  f->accesses += (double)mib_rows_number(mibs, context, HEARTH_COL_TotalAccessCount);
  f->live_at_exit += (double)mib_rows_number(mibs, context, HEARTH_COL_LiveAtExit);
}

static hearth_status add_rows(collecting *c) {
  planner *p = c->p;
  uint32_t leaf = 0;
  for (size_t i = 0, end; i < p->leaf_frame_count; i = end, leaf++) {
    end = hearth_plan_end_of_leaf(p, i);
    for (size_t k = i; k < end; k++)
      for (uint32_t row = plan_first_row(p, p->leaf_frames[k].frame); row < p->w->context_ends[p->leaf_frames[k].frame];
           row++) {
        if (p->rows[row].is_light || p->rows[row].hotness == HEARTH_CLASS_UNKNOWN)
          continue;
        HEARTH_TRY(find_subject(c, row, leaf, &p->subject_of_row[row]));
        add_row(c, row);
      }
  }
  return HEARTH_OK;
}

/* --------------------------------------------------- facts -------------------------------------------------- */

/* Nothing is known of the peak but what lived then at least. Blocks whose number grows to the end are twice as many there
 * as on average. */
static void find_blocks(const collecting *c, plan_subject *s, const facts *f) {
  double all = f->allocs / c->runs;
  s->size = f->bytes / f->allocs;
  s->pairs = f->allocs / c->duration_ns * c->window_ns;
  s->blocks = f->lifetime / c->duration_ns;
  s->blocks = s->blocks < all ? s->blocks : all;
  s->peak_blocks = 2 * s->blocks > f->live_at_exit / c->runs ? 2 * s->blocks : f->live_at_exit / c->runs;
  s->peak_blocks = s->peak_blocks < all ? s->peak_blocks : all;
}

/* What a window touches, on average. */
typedef struct average {
  double blocks, lines, pages, share; /* of the windows, in which anything is */
} average;

static average average_of(const plan_subject *s, double places) {
  double lines = s->blocks * (s->size > LINE ? s->size / LINE : 1);
  return (average){s->blocks > 0 ? s->blocks * hearth_covered(s->uses / s->blocks) : 0,
                   lines > 0 ? lines * hearth_covered(s->uses / lines) : 0,
                   places > 0 ? places * hearth_covered(s->uses / places) : 0, 1};
}

static double load_of(double places, double touched) {
  double share = places > 0 ? touched / places : 0;
  return share > 0 ? -places * hearth_ln(1 - (share < most_touched ? share : most_touched)) : 0;
}

/* The pages that a walk covers before it passes a block over, if so many lie on a page and this share of them is touched where
 * any is. */
static double length_of_walk(double blocks_of_page, double share, double pages) {
  double length = share < 1 ? 1 / ((1 - share) * blocks_of_page) : pages;
  length = length < pages ? length : pages;
  return length > 1 ? length : 1; /* also where fewer pages than one are touched, on average */
}

/* What a scene touches where the subject is in so many of the windows. */
static void find_loads(const collecting *c, plan_subject *s, const facts *f, double heap_pages) {
  double own = s->blocks * s->size / PAGE, spread = heap_pages * hearth_covered(s->blocks / heap_pages);
  double places = own > spread ? own : spread;
  s->uses = f->accesses / accesses_per_use * c->window_ns / c->duration_ns;
  average a = average_of(s, places);
  s->slots = s->blocks * (s->size > LINE ? s->size / LINE : 1);
  s->share = a.share < 1 ? a.share : 1;
  s->window_lines = a.lines;
  if (s->share <= 0 || places <= 0 || a.pages <= 0)
    return;
  double pages = a.pages / s->share, part = pages < places ? pages / places : 1;
  s->touched = (s->size < LINE ? a.blocks : a.lines) / s->share;
  double walk = length_of_walk(s->slots / places, s->touched / (s->slots * part), pages);
  s->walk = (1 - 1 / walk) * part;
  s->pages = load_of(places, pages / walk);
  s->fill = s->touched * LINE / (pages * PAGE); /* no line of the profiled run has two blocks */
}

static double live_bytes(const collecting *c, uint32_t subject) {
  return c->p->subjects[subject].blocks * c->p->subjects[subject].size;
}

static void find_time(planner *p, const collecting *c) {
  double all = 0;
  for (uint32_t i = 0; i < p->w->contexts.count; i++)
    all += (double)mib_rows_number(&p->w->builder->mibs, p->w->contexts.order[i], HEARTH_COL_TotalAccessCount);
  p->time.accesses = all / c->duration_ns * c->window_ns;
  p->time.windows = c->duration_ns / c->runs / c->window_ns;
  if (hearth_writer_accesses_counted(p->w))
    p->time.plain_ns = c->window_ns / (p->w->builder->runs.accesses_estimated ? 1 : slowdown);
}

static void finish(collecting *c) {
  planner *p = c->p;
  double bytes = 0;
  for (uint32_t i = 0; i < p->subject_count; i++) {
    find_blocks(c, &p->subjects[i], &c->facts[i]);
    bytes += live_bytes(c, i);
  }
  double pages = bytes / PAGE;
  for (uint32_t i = 0; i < p->subject_count; i++)
    find_loads(c, &p->subjects[i], &c->facts[i], pages > 1 ? pages : 1);
  find_time(p, c);
}

static hearth_status collect(collecting *c) {
  planner *p = c->p;
  size_t rows = p->w->contexts.count;
  HEARTH_TRY(hearth_array_create(&p->subjects, rows, sizeof *p->subjects, p->err));
  HEARTH_TRY(hearth_array_create(&p->subject_of_row, rows, sizeof *p->subject_of_row, p->err));
  memset(p->subject_of_row, 0xff, rows * sizeof *p->subject_of_row);
  HEARTH_TRY(hearth_array_create(&c->facts, rows, sizeof *c->facts, p->err));
  HEARTH_TRY(hearth_array_create(&c->keys, rows, sizeof *c->keys, p->err));
  HEARTH_TRY(hash_calls(c));
  HEARTH_TRY(add_rows(c));
  finish(c);
  return hearth_plan_make_scenes(p);
}

hearth_status hearth_plan_make_subjects(planner *p) {
  const hearth_profile_summary *runs = &p->w->builder->runs;
  collecting c = {.p = p,
                  .runs = runs->runs ? (double)runs->runs : 1,
                  .duration_ns = runs->duration_ns ? (double)runs->duration_ns : 1,
                  .window_ns = guessed_window_ns};
  hearth_status status = collect(&c);
  free(c.facts);
  free(c.keys);
  free(c.table.slots);
  free(c.calls);
  return status;
}
