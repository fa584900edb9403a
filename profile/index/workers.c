/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Many inputs by several threads. Each takes the next input that no other has taken. The result does not depend on how
 * the inputs were distributed: sums do not depend on order or grouping. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "indexer_state.h"

typedef struct team {
  hearth_indexer *owner;
  const hearth_input **inputs; /* not known before */
  size_t count;
  /* Guarded by `lock`: */
  pthread_mutex_t lock;
  size_t next;
  hearth_error failure; /* HEARTH_OK: none so far */
} team;

typedef struct worker {
  team *team;
  hearth_indexer *indexer;
  pthread_t thread;
} worker;

static const hearth_input *take_input(team *t) {
  const hearth_input *input = NULL;
  pthread_mutex_lock(&t->lock);
  if (t->next < t->count) {
    input = t->inputs[t->next++];
    hearth_indexer_tell_begun(t->owner, input->path, t->next, t->count);
  }
  pthread_mutex_unlock(&t->lock);
  return input;
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

static void tell_skipped(hearth_indexer *ix, const hearth_error *err) {
  char text[640];
  snprintf(text, sizeof text, "left out: %s", err->message);
  hearth_indexer_tell(ix, HEARTH_NOTE_WARNING, text);
  ix->skipped++;
}

static void *work(void *argument) {
  worker *w = argument;
  const hearth_input *input;
  hearth_error err;
  while ((input = take_input(w->team)))
    if (hearth_indexer_add_unknown(w->indexer, input, &err) != HEARTH_OK) {
      if (can_skip(w->indexer, &err))
        tell_skipped(w->indexer, &err);
      else
        tell_failure(w->team, w->indexer, &err);
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
  team t = {.owner = ix, .inputs = calloc(count + 1, sizeof *t.inputs), .lock = PTHREAD_MUTEX_INITIALIZER};
  for (size_t i = 0; t.inputs && i < count; i++) {
    bool known;
    if (hearth_indexer_is_known(ix, &inputs[i], &known, err) != HEARTH_OK)
      tell_failure(&t, ix, err);
    else if (!known)
      t.inputs[t.count++] = &inputs[i];
  }
  if (jobs > t.count)
    jobs = t.count ? (unsigned)t.count : 1;
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
