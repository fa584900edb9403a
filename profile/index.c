/* Inputs of all kinds into one builder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dump_contexts.h"
#include "index_internal.h"

/* -------------------------------------------------- what is told -------------------------------------------------- */

static void on_note(void *context, hearth_note_level level, const char *text) {
  hearth_indexer *ix = context;
  if (!ix->owner->options.note)
    return;
  pthread_mutex_lock(&ix->owner->lock);
  ix->owner->options.note(ix->owner->options.context, level, text);
  pthread_mutex_unlock(&ix->owner->lock);
}

static void on_progress(void *context, const char *name, uint64_t done, uint64_t total) {
  hearth_indexer *ix = context;
  if (!ix->owner->options.progress)
    return;
  pthread_mutex_lock(&ix->owner->lock);
  ix->owner->options.progress(ix->owner->options.context, name, done, total);
  pthread_mutex_unlock(&ix->owner->lock);
}

void hearth_indexer_tell_begun(hearth_indexer *owner, const char *path, size_t number, size_t count) {
  if (!owner->options.begun)
    return;
  pthread_mutex_lock(&owner->lock);
  owner->options.begun(owner->options.context, path, number, count);
  pthread_mutex_unlock(&owner->lock);
}

/* -------------------------------------------------- life -------------------------------------------------- */

static void set_up_builder(hearth_indexer *ix) {
  hearth_builder_fold_recursion(ix->builder, ix->owner->options.fold_recursion);
  hearth_builder_leave_out(ix->builder, ix->owner->options.left_out);
}

hearth_indexer *hearth_indexer_create_worker(hearth_indexer *owner) {
  hearth_indexer *ix = calloc(1, sizeof *ix);
  if (!ix)
    return NULL;
  ix->owner = owner ? owner : ix;
  ix->told = (hearth_indexer_options){.context = ix, .note = on_note, .progress = on_progress};
  pthread_mutex_init(&ix->lock, NULL);
  ix->builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  ix->modules = ix->builder ? hearth_modules_create(ix->builder, &ix->told) : NULL;
  if (!ix->modules) {
    hearth_indexer_destroy(ix);
    return NULL;
  }
  set_up_builder(ix);
  return ix;
}

hearth_indexer *hearth_indexer_create(const hearth_indexer_options *options) {
  hearth_indexer *ix = hearth_indexer_create_worker(NULL);
  if (!ix || !options)
    return ix;
  ix->options = *options;
  set_up_builder(ix);
  return ix;
}

void hearth_indexer_destroy(hearth_indexer *ix) {
  if (!ix)
    return;
  hearth_modules_destroy(ix->modules);
  hearth_builder_destroy(ix->builder);
  for (size_t i = 0; i < ix->binary_count; ++i)
    free(ix->binaries[i]);
  free(ix->binaries);
  free(ix->known);
  pthread_mutex_destroy(&ix->lock);
  free(ix);
}

hearth_status hearth_indexer_add_debug_directory(hearth_indexer *ix, const char *path, hearth_error *err) {
  return hearth_modules_add_directory(ix->modules, path, err);
}

hearth_status hearth_indexer_add_binary(hearth_indexer *ix, const char *path, hearth_error *err) {
  char *copy = strdup(path);
  char **binaries = realloc(ix->binaries, (ix->binary_count + 1) * sizeof *binaries);
  if (binaries)
    ix->binaries = binaries;
  if (!copy || !binaries) {
    free(copy);
    return hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", path);
  }
  ix->binaries[ix->binary_count++] = copy;
  return hearth_modules_give(ix->modules, path, err);
}

/* A worker reads the debug information when it meets its first raw profile. */
static hearth_status give_binaries(hearth_indexer *ix, hearth_error *err) {
  if (ix->owner == ix || ix->has_binaries)
    return HEARTH_OK;
  HEARTH_TRY(hearth_modules_share_directories(ix->modules, ix->owner->modules, err));
  for (size_t i = 0; i < ix->owner->binary_count; ++i)
    HEARTH_TRY(hearth_modules_give(ix->modules, ix->owner->binaries[i], err));
  ix->has_binaries = true;
  return HEARTH_OK;
}

/* -------------------------------------------------- inputs -------------------------------------------------- */

static hearth_status add_dump(hearth_indexer *ix, const char *name, hearth_raw_dump *dump, hearth_error *err) {
  hearth_lost_contexts lost;
  HEARTH_TRY(hearth_dump_add(ix->builder, ix->modules, &ix->told, name, dump, &ix->counts, &lost, err));
  if (hearth_builder_context_count(ix->builder) == 0) /* said when there is nothing to write */
    hearth_lost_everything(&lost, &ix->nothing);
  return HEARTH_OK;
}

static hearth_status add_raw(hearth_indexer *ix, const char *name, const hearth_file *file, hearth_error *err) {
  size_t offset = 0;
  HEARTH_TRY(give_binaries(ix, err));
  while (offset < file->size) {
    hearth_raw_dump dump;
    HEARTH_TRY(hearth_raw_read(name, file, &offset, &dump, err));
    hearth_status status = add_dump(ix, name, &dump, err);
    hearth_raw_free(&dump);
    if (status != HEARTH_OK)
      return status;
  }
  return HEARTH_OK;
}

static hearth_status add_indexed(hearth_indexer *ix, const char *name, const hearth_file *file, hearth_error *err) {
  hearth_profile *profile;
  HEARTH_TRY(hearth_profile_open_memory(file->data, file->size, name, &profile, err));
  hearth_status status = hearth_profile_verify(profile, err);
  if (status == HEARTH_OK)
    status = hearth_builder_add_profile(ix->builder, profile, err);
  hearth_profile_close(profile);
  return status;
}

/* Files that are easily taken for a profile of ours, and what to say about them. */
static hearth_status refuse_foreign(const char *name, const void *data, size_t size, hearth_error *err) {
  static const struct {
    uint8_t magic[8];
    const char *what;
  } known[] = {
      {{0xff, 'l', 'p', 'r', 'o', 'f', 'i', 0x81},
       "an indexed profile of LLVM: give the raw profiles it was made from"},
      {{0x81, 'r', 'f', 'o', 'r', 'p', 'l', 0xff}, "a raw profile of -fprofile-generate, not of the heap"},
      {{0x7f, 'E', 'L', 'F', 2, 1, 1, 0}, "an ELF file: binaries are given with --binary"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (size >= sizeof known[i].magic && memcmp(data, known[i].magic, sizeof known[i].magic) == 0)
      return hearth_error_set(err, HEARTH_E_FORMAT, "%s: %s", name, known[i].what);
  if (size == 0)
    return hearth_error_set(err, HEARTH_E_TRUNCATED,
                            "%s: the file is empty (did the profiled program end before it could write?)", name);
  return hearth_error_set(err, HEARTH_E_FORMAT,
                          "%s: not a heap profile (give the raw profile that the profiled program wrote, an indexed "
                          "profile or its text form)",
                          name);
}

static bool is_indexed(const hearth_file *file) {
  uint64_t magic = 0;
  if (file->size >= sizeof magic)
    memcpy(&magic, file->data, sizeof magic);
  return magic == HEARTH_INDEXED_MAGIC;
}

hearth_status hearth_indexer_add_unknown(hearth_indexer *ix, const hearth_input *input, hearth_error *err) {
  hearth_file file;
  const char *path = input->path;
  HEARTH_TRY(hearth_file_read(path, &file, err));
  hearth_status status;
  hearth_builder_set_weight(ix->builder, input->weight);
  if (hearth_raw_is_raw(file.data, file.size))
    status = add_raw(ix, path, &file, err);
  else if (is_indexed(&file))
    status = add_indexed(ix, path, &file, err);
  else if (hearth_is_text_profile(file.data, file.size))
    status = hearth_builder_read_text(ix->builder, (const char *)file.data, file.size, path, err);
  else
    status = refuse_foreign(path, file.data, file.size, err);
  hearth_builder_set_weight(ix->builder, 1);
  hearth_file_close(&file);
  return status;
}

bool hearth_indexer_is_known(hearth_indexer *ix, const char *path) {
  struct stat info;
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
    return false;
  for (size_t i = 0; i < ix->known_count; ++i)
    if (ix->known[i].device == info.st_dev && ix->known[i].number == info.st_ino) {
      char text[640];
      snprintf(text, sizeof text, "%.500s: given twice, counted once", path);
      on_note(ix, HEARTH_NOTE_WARNING, text);
      return true;
    }
  hearth_known_file *known = realloc(ix->known, (ix->known_count + 1) * sizeof *known);
  if (known) {
    ix->known = known;
    known[ix->known_count++] = (hearth_known_file){info.st_dev, info.st_ino};
  }
  return false;
}

hearth_status hearth_indexer_add_input(hearth_indexer *ix, const char *path, hearth_error *err) {
  return hearth_indexer_is_known(ix, path) ? HEARTH_OK : hearth_indexer_add_unknown(ix, &(hearth_input){path, 1}, err);
}

/* -------------------------------------------------- result -------------------------------------------------- */

hearth_status hearth_indexer_result(hearth_indexer *ix, const char *path, hearth_builder **ret, hearth_error *err) {
  hearth_modules_report_unused(ix->modules);
  if (hearth_builder_context_count(ix->builder) == 0)
    return hearth_error_set(err, ix->nothing.status ? ix->nothing.status : HEARTH_E_EMPTY, "%s: not written: %s", path,
                            ix->nothing.status ? ix->nothing.message : "the inputs have no allocations");
  if (ix->counts.contexts > 0 && ix->counts.with_column == 0)
    return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                            "%s: not written: no allocation has a column, by which calls are matched (compile without "
                            "-gno-column-info)",
                            path);
  *ret = ix->builder;
  return HEARTH_OK;
}

hearth_status hearth_indexer_write(hearth_indexer *ix, const char *path, hearth_error *err) {
  hearth_builder *builder;
  HEARTH_TRY(hearth_indexer_result(ix, path, &builder, err));
  return hearth_builder_write(builder, path, err);
}
