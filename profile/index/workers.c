/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Many inputs by several threads. Each takes the next batch that no other has taken: one input, or as many as one part has.
 * The result does not depend on how the inputs were distributed: sums do not depend on order or grouping. So a worker whose
 * partial result has outgrown its share of the memory adds it to the owner's at any time, and begins another. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "builder_tables.h"
#include "indexer_state.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* A part is up to three files in the folder: KEY.heap, KEY.llvm.heap with the contexts that have LLVM's function ids, and
 * KEY.left-out with a line for each input that could not be used. KEY.heap is written last, so its presence says that all are
 * there; each appears whole. */

enum { HEARTH_PART_INPUTS = 256 };

typedef struct hearth_batch {
  const hearth_input **inputs;
  size_t count;
} hearth_batch;

typedef struct hearth_part {
  uint64_t key; /* 0: it cannot be kept, as an input is no regular file */
} hearth_part;

enum { ROOM_FOR_NAME = 64 };

static void hash_number(XXH3_state_t *state, uint64_t number) { XXH3_64bits_update(state, &number, sizeof number); }

static void worker_hash_text(XXH3_state_t *state, const char *text) {
  XXH3_64bits_update(state, text, strlen(text) + 1);
}

/* Whatever changes the contexts that come out of an input. */
static void hash_options(XXH3_state_t *state, const hearth_indexer *owner) {
  const hearth_known_binary *given;
  const char *directory;
  hash_number(state, HEARTH_INDEXED_VERSION);
  hash_number(state, owner->options.full_recursion);
  hash_number(state, owner->options.symbols);
  hash_number(state, owner->options.unrecorded);
  for (size_t i = 0; (given = hearth_binaries_given(owner->binaries, i)); i++)
    XXH3_64bits_update(state, given->build_id, given->build_id_size);
  for (size_t i = 0; (directory = hearth_binaries_directory(owner->binaries, i)); i++)
    worker_hash_text(state, directory);
}

static bool hash_input(XXH3_state_t *state, const hearth_input *input) {
  struct stat info;
  if (stat(input->path, &info) == 0 && !S_ISREG(info.st_mode))
    return false;
  bool is_there = stat(input->path, &info) == 0;
  worker_hash_text(state, input->path);
  hash_number(state, input->weight);
  hash_number(state, input->scale);
  hash_number(state, is_there ? (uint64_t)info.st_size : UINT64_MAX);
  hash_number(state, is_there ? (uint64_t)info.st_mtim.tv_sec * 1000000000u + (uint64_t)info.st_mtim.tv_nsec : 0);
  return true;
}

static void hearth_part_name(const hearth_indexer *ix, const hearth_batch *batch, hearth_part *ret) {
  XXH3_state_t *state = XXH3_createState();
  ret->key = 0;
  if (!state)
    return;
  XXH3_64bits_reset(state);
  hash_options(state, ix->owner);
  bool good = true;
  for (size_t i = 0; good && i < batch->count; i++)
    good = hash_input(state, batch->inputs[i]);
  if (good)
    ret->key = XXH3_64bits_digest(state);
  XXH3_freeState(state);
}

/* The caller frees it; NULL: out of memory. */
static char *path_of(const hearth_indexer *ix, const hearth_part *part, const char *suffix) {
  const char *folder = ix->owner->options.parts;
  size_t size = strlen(folder) + ROOM_FOR_NAME;
  char *path = malloc(size);
  if (path)
    snprintf(path, size, "%s/%016llx%s", folder, (unsigned long long)part->key, suffix);
  return path;
}

/* Name the inputs again that were left out when the part was made. */
static void tell_left_out(hearth_indexer *ix, const char *path) {
  hearth_file file;
  hearth_error err;
  if (hearth_file_map(path, &file, NULL) != HEARTH_OK)
    return;
  for (size_t at = 0, end; at < file.size; at = end + 1) {
    const uint8_t *newline = memchr(file.data + at, '\n', file.size - at);
    end = newline ? (size_t)(newline - file.data) : file.size;
    char *line = strndup((const char *)file.data + at, end - at);
    if (line)
      hearth_indexer_skip(ix, line, &err);
    free(line);
  }
  hearth_file_close(&file);
}

static bool worker_add_file(hearth_indexer *ix, const char *path) {
  const hearth_input input = {path, 1, 1};
  return hearth_indexer_add_unknown(ix, &input, NULL) == HEARTH_OK;
}

/* Add a part from an earlier run, and tell what was left out of it. False: there is none, or it cannot be used. */
static bool hearth_part_add(hearth_indexer *ix, const hearth_part *part, const hearth_batch *batch) {
  if (part->key == 0)
    return false;
  char *main = path_of(ix, part, ".heap"), *llvm = path_of(ix, part, ".llvm.heap");
  char *left_out = path_of(ix, part, ".left-out");
  size_t added = ix->added, skipped = ix->skipped;
  bool good = main && llvm && left_out && access(main, R_OK) == 0 &&
              (access(llvm, F_OK) != 0 || worker_add_file(ix, llvm)) && worker_add_file(ix, main);
  if (good) {
    tell_left_out(ix, left_out);
    ix->added = added + batch->count - (ix->skipped - skipped);
  }
  free(main);
  free(llvm);
  free(left_out);
  return good;
}

static hearth_status write_builder(hearth_indexer *ix, const hearth_part *part, hearth_builder *builder,
                                   const char *suffix, hearth_error *err) {
  char *path = path_of(ix, part, suffix);
  hearth_status status = path ? hearth_builder_write(builder, path, err) : hearth_error_nomem(err);
  free(path);
  return status;
}

static hearth_status write_left_out(hearth_indexer *ix, const hearth_part *part, hearth_error *err) {
  char *path = path_of(ix, part, ".left-out");
  hearth_status status =
      path ? hearth_file_write(path, ix->left_out, strlen(ix->left_out), err) : hearth_error_nomem(err);
  free(path);
  return status;
}

/* Keep all that an indexer holds, and was left out of it, as a part; nothing, if it cannot be one. Errors: E_IO, E_NOMEM,
 * E_FULL. */
static hearth_status hearth_part_keep(hearth_indexer *ix, const hearth_part *part, hearth_error *err) {
  if (part->key == 0 || ix->has_code)
    return HEARTH_OK;
  if (mkdir(ix->owner->options.parts, 0777) != 0 && errno != EEXIST)
    return hearth_error_set(err, HEARTH_E_IO, "%s: cannot make the folder of parts: %s", ix->owner->options.parts,
                            strerror(errno));
  if (ix->left_out)
    HEARTH_TRY(write_left_out(ix, part, err));
  if (hearth_builder_context_count(ix->llvm) > 0)
    HEARTH_TRY(write_builder(ix, part, ix->llvm, ".llvm.heap", err));
  return write_builder(ix, part, ix->builder, ".heap", err);
}

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
static bool worker_is_full(team *t, const hearth_indexer *ix) {
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
    if (limited && worker_is_full(t, w->indexer))
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
