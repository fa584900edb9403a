/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Inputs of all kinds into one builder: the first bytes of a file tell its kind. A file that is found to be broken only
 * while it is read goes through an indexer of its own first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "builder_tables.h"
#include "file.h"
#include "hearth/llvm_profile.h"
#include "index.h"

/* -------------------------------------------------- inputs -------------------------------------------------- */

static hearth_builder *builder_of(hearth_indexer *ix, enum hearth_id_scheme scheme) {
  return scheme == HEARTH_IDS_LLVM ? ix->llvm : ix->builder;
}

static void set_weight(hearth_indexer *ix, uint64_t weight) {
  hearth_builder_set_weight(ix->builder, weight);
  hearth_builder_set_weight(ix->llvm, weight);
}

static void warn(hearth_indexer *ix, const char *name, const char *what) {
  char text[640];
  snprintf(text, sizeof text, "%.300s: %s", name, what);
  hearth_indexer_tell(ix, HEARTH_NOTE_WARNING, text);
}

static hearth_status index_read_dump(hearth_indexer *ix, const char *name, const hearth_file *file, size_t *offset,
                                     hearth_raw_dump *ret, hearth_error *err) {
  HEARTH_TRY(hearth_raw_read(name, file, offset, ret, err));
  if (ret->ends_early)
    warn(ix, name,
         "the program's end is not in the trace, and what it did last is not counted: there was no room for it, the "
         "program was killed, or it still runs");
  if (ret->occasion != HEARTH_RAW_NO_DUMP)
    warn(ix, name, "a heap dump: only the blocks that were live at its moment are counted");
  hearth_status status = hearth_modules_check(ix->modules, name, ret, ix->options.skip_failing, err);
  if (status != HEARTH_OK)
    hearth_raw_free(ret);
  return status;
}

static hearth_status index_add_dump(hearth_indexer *ix, const char *name, hearth_raw_dump *dump, hearth_error *err) {
  hearth_lost_contexts lost;
  const hearth_indexer_options *options = &ix->options;
  if (options->trace_records && dump->mibs)
    options->trace_records(options->context, dump->mibs, dump->node_count + 1);
  if (dump->mibs) {
    dump->histogram_of = options->trace_histogram;
    dump->histogram_context = options->context;
  }
  HEARTH_TRY(hearth_dump_add(ix->builder, ix->modules, &ix->options, name, dump, &ix->counts, &lost, err));
  hearth_lost_stacks_add(&ix->lost_stacks, &lost.no_room);
  if (hearth_builder_context_count(ix->builder) == 0) /* said when there is nothing to write */
    hearth_lost_everything(&lost, &ix->options, &ix->nothing);
  return HEARTH_OK;
}

/* The dumps behind the first one: is there anything to refuse the file for? */
static hearth_status check_dumps(hearth_indexer *ix, const char *name, const hearth_file *file, size_t offset,
                                 hearth_error *err) {
  while (offset < file->size) {
    hearth_raw_dump dump;
    HEARTH_TRY(index_read_dump(ix, name, file, &offset, &dump, err));
    hearth_raw_free(&dump);
  }
  return HEARTH_OK;
}

/* All of a file is checked before anything of it is added, and then read again: in memory is one dump at a time. */
static hearth_status add_raw(hearth_indexer *ix, const char *name, const hearth_file *file, hearth_error *err) {
  hearth_raw_dump dump;
  size_t offset = 0;
  HEARTH_TRY(index_read_dump(ix, name, file, &offset, &dump, err));
  hearth_status status = check_dumps(ix, name, file, offset, err);
  bool is_checked = status == HEARTH_OK;
  while (status == HEARTH_OK) {
    status = index_add_dump(ix, name, &dump, err);
    hearth_raw_free(&dump);
    if (status != HEARTH_OK || offset == file->size)
      break;
    status = index_read_dump(ix, name, file, &offset, &dump, err);
  }
  if (!is_checked)
    hearth_raw_free(&dump);
  ix->has_part = is_checked && status != HEARTH_OK;
  return status;
}

static hearth_status add_profile(hearth_indexer *ix, hearth_profile *profile, hearth_error *err) {
  hearth_profile_summary summary;
  HEARTH_TRY(hearth_profile_check(profile, err));
  HEARTH_TRY(hearth_profile_get_summary(profile, &summary, err));
  return hearth_builder_add_profile(builder_of(ix, summary.id_scheme), profile, err);
}

static hearth_status add_indexed(hearth_indexer *ix, const char *name, const void *data, size_t size,
                                 hearth_error *err) {
  hearth_profile *profile;
  HEARTH_TRY(hearth_profile_open_memory(data, size, name, &profile, err));
  hearth_status status = add_profile(ix, profile, err);
  hearth_profile_close(profile);
  return status;
}

/* -------------------------------------------------- inputs of LLVM's --------------------------------------------- */

static bool inflate_names(const void *from, size_t from_size, void *to, size_t size) {
  uLongf got = size;
  return uncompress(to, &got, from, from_size) == Z_OK && got == size;
}

static hearth_status add_section(hearth_indexer *ix, const char *name, const hearth_file *file, hearth_error *err) {
  hearth_llvm_skipped skipped;
  HEARTH_TRY(hearth_llvm_read(file->data, file->size, name, inflate_names, ix->llvm, &skipped, err));
  if (skipped.data_accesses)
    warn(ix, name, "string literals of its profile of static data are left out");
  if (skipped.columns)
    warn(ix, name, "no allocation has a column, by which calls are matched (compile without -gno-column-info)");
  return HEARTH_OK;
}

/* The function counters that the result is to be put beside; a heap profile in the file was added before. Takes the
 * file over. */
static hearth_status keep_code(hearth_indexer *ix, const char *name, hearth_file *file, hearth_error *err) {
  char *copy = strdup(name);
  HEARTH_TRY(hearth_check_memory(copy, err));
  bool first = !ix->code_name;
  if (first) {
    ix->code = *file;
    ix->code_name = copy;
    *file = (hearth_file){0};
  }
  if (first)
    return HEARTH_OK;
  free(copy);
  return hearth_error_set(err, HEARTH_E_MISMATCH,
                          "%s: a second profile of -fprofile-use: merge those with llvm-profdata first (and take heap "
                          "profiles out of them with 'hearth show --text')",
                          name);
}

/* A trailer holds all that a section does, and more. */
static hearth_status add_container(hearth_indexer *ix, const char *name, hearth_file *file, hearth_error *err) {
  hearth_llvm_contents contents;
  HEARTH_TRY(hearth_llvm_inspect(file->data, file->size, name, &contents, err));
  if (contents.trailer_size)
    HEARTH_TRY(add_indexed(ix, name, file->data + contents.trailer_offset, contents.trailer_size, err));
  else if (contents.section_offset || !contents.has_functions)
    HEARTH_TRY(add_section(ix, name, file, err));
  return contents.has_functions ? keep_code(ix, name, file, err) : HEARTH_OK;
}

static hearth_status index_refuse_foreign(const char *name, const void *data, size_t size, hearth_error *err) {
  const char *kind = hearth_file_kind(data, size);
  if (kind)
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: not a heap profile: it is %s", name, kind);
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

/* May take the file over: it is then empty. */
static hearth_status index_add_file(hearth_indexer *ix, const char *path, hearth_file *file, hearth_error *err) {
  const char *text = (const char *)file->data;
  if (hearth_raw_is_raw(file->data, file->size))
    return add_raw(ix, path, file, err);
  if (is_indexed(file))
    return add_indexed(ix, path, file->data, file->size, err);
  if (hearth_is_text_profile(text, file->size))
    return hearth_builder_read_text(builder_of(ix, hearth_text_profile_scheme(text, file->size)), text, file->size,
                                    path, err);
  if (hearth_llvm_is_container(file->data, file->size))
    return add_container(ix, path, file, err);
  return index_refuse_foreign(path, file->data, file->size, err);
}

static hearth_status index_add_name(hearth_named_inputs *inputs, const char *name, hearth_error *err) {
  inputs->count++;
  if (inputs->name && strcmp(inputs->name, name) <= 0)
    return HEARTH_OK;
  char *copy = strdup(name);
  HEARTH_TRY(hearth_check_memory(copy, err));
  free(inputs->name);
  inputs->name = copy;
  return HEARTH_OK;
}

typedef struct access_runs {
  uint64_t counted, densities, uncounted;
} access_runs;

static access_runs access_runs_of(const hearth_indexer *ix) {
  return (access_runs){.counted = ix->builder->counted + ix->llvm->counted,
                       .densities = ix->builder->densities + ix->llvm->densities,
                       .uncounted = ix->builder->uncounted + ix->llvm->uncounted};
}

/* The known facts about accesses in the input that was added since. The least counts. */
static hearth_status note_accesses(hearth_indexer *ix, const char *name, access_runs before, hearth_error *err) {
  access_runs now = access_runs_of(ix);
  if (now.uncounted > before.uncounted)
    return index_add_name(&ix->uncounted, name, err);
  if (now.densities > before.densities)
    return index_add_name(&ix->densities, name, err);
  ix->counted += now.counted > before.counted;
  return HEARTH_OK;
}

static hearth_status add_here(hearth_indexer *ix, const hearth_input *input, hearth_file *file, hearth_error *err) {
  access_runs before = access_runs_of(ix);
  uint64_t without_stack = ix->lost_stacks.blocks;
  set_weight(ix, input->weight);
  hearth_status status = index_add_file(ix, input->path, file, err);
  set_weight(ix, 1);
  HEARTH_TRY(status);
  if (ix->lost_stacks.blocks > without_stack)
    HEARTH_TRY(index_add_name(&ix->no_room, input->path, err));
  return note_accesses(ix, input->path, before, err);
}

/* If reading shows only late that an input is broken, nothing of it is to stay. */
static hearth_status add_aside(hearth_indexer *ix, const hearth_input *input, hearth_file *file, hearth_error *err) {
  hearth_builder *builder = ix->builder, *llvm = ix->llvm;
  ix->builder = hearth_indexer_create_builder(ix, HEARTH_IDS_HEARTH);
  ix->llvm = hearth_indexer_create_builder(ix, HEARTH_IDS_LLVM);
  hearth_status status = hearth_check_memory(ix->builder && ix->llvm, err);
  HEARTH_THEN(status, add_here(ix, input, file, err));
  if (status == HEARTH_OK) {
    status = hearth_indexer_add_builder(llvm, ix->llvm, err);
    HEARTH_THEN(status, hearth_indexer_add_builder(builder, ix->builder, err));
    ix->has_part = status != HEARTH_OK;
  }
  hearth_builder_destroy(ix->builder);
  hearth_builder_destroy(ix->llvm);
  ix->builder = builder;
  ix->llvm = llvm;
  return status;
}

static hearth_status index_add_input(hearth_indexer *ix, const hearth_input *input, hearth_error *err) {
  hearth_file file;
  HEARTH_TRY(hearth_file_read(input->path, &file, err));
  bool is_read_first = hearth_raw_is_raw(file.data, file.size);
  hearth_status status =
      ix->options.skip_failing && !is_read_first ? add_aside(ix, input, &file, err) : add_here(ix, input, &file, err);
  hearth_file_close(&file);
  ix->added += status == HEARTH_OK;
  return status;
}

hearth_status hearth_indexer_add_input(hearth_indexer *ix, const char *path, hearth_error *err) {
  return index_add_input(ix, &(hearth_input){path, 1}, err);
}

/* Can the result do without the input? */
static bool can_skip(const hearth_indexer *ix, const hearth_error *err) {
  bool is_of_input = err->status != HEARTH_E_NOMEM && err->status != HEARTH_E_FULL && err->status != HEARTH_E_USAGE;
  return ix->options.skip_failing && is_of_input && !ix->has_part;
}

static void skip(hearth_indexer *ix, const char *reason) {
  char text[640];
  ix->skipped++;
  snprintf(text, sizeof text, "left out: %s", reason);
  hearth_indexer_tell(ix, HEARTH_NOTE_WARNING, text);
}

static void index_tell_begun(hearth_indexer *ix, const char *path, size_t number, size_t count) {
  char text[256];
  snprintf(text, sizeof text, "reading %zu of %zu: %s", number, count, path);
  hearth_indexer_tell(ix, HEARTH_NOTE_PROGRESS, text);
}

hearth_status hearth_indexer_add_inputs(hearth_indexer *ix, const hearth_input *inputs, size_t count,
                                        hearth_error *err) {
  hearth_error failure = {.status = HEARTH_OK}, last;
  for (size_t i = 0; i < count; i++) {
    index_tell_begun(ix, inputs[i].path, i + 1, count);
    hearth_status status = index_add_input(ix, &inputs[i], &last);
    if (status != HEARTH_OK && can_skip(ix, &last)) {
      skip(ix, last.message);
    } else if (status != HEARTH_OK) {
      hearth_indexer_tell(ix, HEARTH_NOTE_ERROR, last.message);
      failure = last;
    }
  }
  if (failure.status != HEARTH_OK)
    *err = failure;
  return failure.status;
}
