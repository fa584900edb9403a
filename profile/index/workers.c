/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Many inputs by several threads. Each takes the next batch that no other has taken: one input, or as many as one part has.
 * The result does not depend on how the inputs were distributed: sums do not depend on order or grouping. So a worker whose
 * partial result has outgrown its share of the memory adds it to the owner's at any time, and begins another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "builder_tables.h"
#include "indexer_state.h"
#include "parts.h"

typedef struct team {
  hearth_indexer *owner;
  const hearth_input **inputs; /* not known before */
  size_t count, batch;         /* inputs of a batch */
  unsigned jobs;
  pthread_mutex_t sum; /* held while the owner's contexts change, if workers may add to them */
  /* Guarded by `lock`: */
  pthread_mutex_t lock;
  size_t next;
  uint64_t result;      /* bytes that the owner's contexts took last; known if there is a limit */
  hearth_error failure; /* HEARTH_OK: none so far */
} team;

typedef struct worker {
  team *team;
  hearth_indexer *indexer;
  pthread_t thread;
} worker;

static bool take_batch(team *t, hearth_batch *ret) {
  pthread_mutex_lock(&t->lock);
  size_t first = t->next, rest = t->count - first;
  t->next += rest < t->batch ? rest : t->batch;
  *ret = (hearth_batch){t->inputs + first, t->next - first};
  if (ret->count > 0)
    hearth_indexer_tell_begun(t->owner, ret->inputs[0]->path, t->next, t->count);
  pthread_mutex_unlock(&t->lock);
  return ret->count > 0;
}

static void tell_failure(team *t, hearth_indexer *ix, const hearth_error *err) {
  hearth_indexer_tell(ix, HEARTH_NOTE_ERROR, err->message);
  pthread_mutex_lock(&t->lock);
  t->failure = *err;
  pthread_mutex_unlock(&t->lock);
}

/* Can the result do without the input? */
static bool can_skip(const hearth_indexer *ix, const hearth_error *err) {
  bool is_of_input = err->status != HEARTH_E_NOMEM && err->status != HEARTH_E_FULL && err->status != HEARTH_E_USAGE;
  return ix->owner->options.skip_failing && is_of_input && !ix->has_part;
}

/* False: one has failed that the result cannot do without. */
static bool add_inputs(team *t, hearth_indexer *ix, const hearth_batch *batch) {
  hearth_error err;
  bool good = true;
  for (size_t i = 0; i < batch->count; i++) {
    if (hearth_indexer_add_unknown(ix, batch->inputs[i], &err) == HEARTH_OK)
      continue;
    bool skipped = can_skip(ix, &err);
    if (!skipped || hearth_indexer_skip(ix, err.message, &err) != HEARTH_OK)
      tell_failure(t, ix, &err);
    good = good && skipped;
  }
  return good;
}

/* The part of the batch, if an earlier merge has left it; else made, and kept for a later one. */
static void add_part(team *t, hearth_indexer *ix, const hearth_batch *batch) {
  hearth_error err;
  hearth_part part;
  hearth_part_name(ix, batch, &part);
  if (hearth_part_add(ix, &part, batch))
    return;
  hearth_indexer *aside = hearth_indexer_create_worker(ix->owner);
  hearth_status status = hearth_check_memory(aside != NULL, &err);
  bool whole = status == HEARTH_OK && add_inputs(t, aside, batch);
  if (status == HEARTH_OK && whole)
    status = hearth_part_keep(aside, &part, &err);
  if (status == HEARTH_OK)
    status = hearth_indexer_collect(ix, aside, &err);
  if (status != HEARTH_OK)
    tell_failure(t, ix, &err);
  hearth_indexer_destroy(aside);
}

static size_t memory_of(const hearth_indexer *ix) {
  return hearth_builder_memory(ix->builder) + hearth_builder_memory(ix->llvm);
}

/* Has the result, or else a worker's part of it, outgrown its share? */
static bool is_full(team *t, const hearth_indexer *ix) {
  const uint64_t limit = t->owner->options.memory_limit;
  pthread_mutex_lock(&t->lock);
  if (ix == t->owner)
    t->result = memory_of(ix);
  uint64_t rest = t->result < limit ? limit - t->result : 0;
  pthread_mutex_unlock(&t->lock);
  return ix != t->owner && memory_of(ix) > rest / t->jobs;
}

/* Add the partial result to the owner's, and begin another if there is memory for one. */
static void fold(worker *w) {
  hearth_error err;
  hearth_indexer *next = hearth_indexer_create_worker(w->team->owner);
  if (!next)
    return;
  pthread_mutex_lock(&w->team->sum);
  hearth_status status = hearth_indexer_collect(w->team->owner, w->indexer, &err);
  pthread_mutex_unlock(&w->team->sum);
  if (status != HEARTH_OK)
    tell_failure(w->team, w->indexer, &err);
  hearth_indexer_destroy(w->indexer);
  w->indexer = next;
}

static void add_batch(team *t, hearth_indexer *ix, const hearth_batch *batch) {
  if (t->owner->options.parts)
    add_part(t, ix, batch);
  else
    add_inputs(t, ix, batch);
}

static void *work(void *argument) {
  worker *w = argument;
  team *t = w->team;
  hearth_batch batch;
  const bool limited = t->owner->options.memory_limit > 0, is_shared = limited && w->indexer == t->owner;
  while (take_batch(t, &batch)) {
    if (is_shared)
      pthread_mutex_lock(&t->sum);
    add_batch(t, w->indexer, &batch);
    if (is_shared)
      pthread_mutex_unlock(&t->sum);
    if (limited && is_full(t, w->indexer))
      fold(w);
  }
  return NULL;
}

/* The owner itself is the first worker: alone, it needs no thread and no partial result. A thread that cannot be
 * started only makes it slower. */
static hearth_status work_together(team *t, worker *workers, unsigned jobs, hearth_error *err) {
  unsigned started = 1;
  hearth_status status = HEARTH_OK;
  workers[0] = (worker){.team = t, .indexer = t->owner};
  for (; started < jobs; started++) {
    worker *w = &workers[started];
    *w = (worker){.team = t, .indexer = hearth_indexer_create_worker(t->owner)};
    if (!w->indexer || pthread_create(&w->thread, NULL, work, w) != 0) {
      hearth_indexer_destroy(w->indexer);
      break;
    }
  }
  work(&workers[0]);
  for (unsigned i = 1; i < started; i++) {
    pthread_join(workers[i].thread, NULL);
    if (status == HEARTH_OK)
      status = hearth_indexer_collect(t->owner, workers[i].indexer, err);
    hearth_indexer_destroy(workers[i].indexer);
  }
  if (status != HEARTH_OK)
    tell_failure(t, t->owner, err);
  return status;
}

hearth_status hearth_indexer_add_inputs(hearth_indexer *ix, const hearth_input *inputs, size_t count, unsigned jobs,
                                        hearth_error *err) {
  team t = {.owner = ix,
            .inputs = calloc(count + 1, sizeof *t.inputs),
            .batch = ix->options.parts ? HEARTH_PART_INPUTS : 1,
            .sum = PTHREAD_MUTEX_INITIALIZER,
            .lock = PTHREAD_MUTEX_INITIALIZER};
  for (size_t i = 0; t.inputs && i < count; i++) {
    bool known;
    if (hearth_indexer_is_known(ix, &inputs[i], &known, err) != HEARTH_OK)
      tell_failure(&t, ix, err);
    else if (!known)
      t.inputs[t.count++] = &inputs[i];
  }
  size_t batches = (t.count + t.batch - 1) / t.batch;
  if (jobs > batches)
    jobs = batches ? (unsigned)batches : 1;
  t.jobs = jobs;
  worker *workers = calloc(jobs, sizeof *workers);
  hearth_status status = t.inputs && workers ? work_together(&t, workers, jobs, err) : hearth_error_nomem(err);
  if (status == HEARTH_OK && t.failure.status != HEARTH_OK) {
    *err = t.failure;
    status = err->status;
  }
  free(t.inputs);
  free(workers);
  return status;
}
