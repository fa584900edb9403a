/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The indexer's life, its messages and its result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder_tables.h"
#include "hearth/program_tables.h"
#include "hearth/status.h"
#include "index.h"
#include "object_file.h"

void hearth_indexer_tell(hearth_indexer *ix, hearth_note_level level, const char *text) {
  if (ix->options.note)
    ix->options.note(ix->options.context, level, text);
}

/* -------------------------------------------------- life -------------------------------------------------- */

hearth_builder *hearth_indexer_create_builder(const hearth_indexer *ix, enum hearth_id_scheme scheme) {
  hearth_builder *builder = hearth_builder_create(scheme);
  if (builder) {
    hearth_builder_fold_recursion(builder, !ix->options.full_recursion);
    hearth_builder_leave_unrecorded(builder, ix->options.unrecorded);
  }
  return builder;
}

hearth_status hearth_indexer_create(const hearth_indexer_options *options, hearth_indexer **ret, hearth_error *err) {
  hearth_indexer_options known;
  *ret = NULL;
  HEARTH_TRY(hearth_options_take(&known, sizeof known, options, err));
  hearth_indexer *ix = calloc(1, sizeof *ix);
  HEARTH_TRY(hearth_check_memory(ix, err));
  ix->options = known;
  ix->builder = hearth_indexer_create_builder(ix, HEARTH_IDS_HEARTH);
  ix->llvm = hearth_indexer_create_builder(ix, HEARTH_IDS_LLVM);
  ix->modules = hearth_modules_create(ix->builder, &ix->options);
  if (!ix->builder || !ix->llvm || !ix->modules) {
    hearth_indexer_destroy(ix);
    return hearth_error_nomem(err);
  }
  hearth_modules_use_symbols(ix->modules, known.symbols);
  *ret = ix;
  return HEARTH_OK;
}

void hearth_indexer_destroy(hearth_indexer *ix) {
  if (!ix)
    return;
  hearth_modules_destroy(ix->modules);
  hearth_builder_destroy(ix->builder);
  hearth_builder_destroy(ix->llvm);
  hearth_file_close(&ix->code);
  HEARTH_FREE(ix->code_name, ix->densities.name, ix->uncounted.name, ix->no_room.name, ix);
}

hearth_status hearth_indexer_add_debug_directory(hearth_indexer *ix, const char *path, hearth_error *err) {
  return hearth_modules_add_directory(ix->modules, path, err);
}

hearth_status hearth_indexer_add_binary(hearth_indexer *ix, const char *path, hearth_error *err) {
  return hearth_modules_give(ix->modules, path, err);
}

/* -------------------------------------------------- result -------------------------------------------------- */

/* The result of all inputs: one builder, and the abilities that the inputs take from it. */

hearth_status hearth_indexer_add_builder(hearth_builder *builder, hearth_builder *from, hearth_error *err) {
  void *data;
  size_t size;
  hearth_profile *profile;
  if (!from->has_runs && from->context_count == 0)
    return HEARTH_OK;
  HEARTH_TRY(hearth_builder_write_memory(from, &data, &size, err));
  hearth_status status = hearth_profile_open_memory(data, size, "an input", &profile, err);
  if (status == HEARTH_OK) {
    status = hearth_builder_add_profile(builder, profile, err);
    hearth_profile_close(profile);
  }
  free(data);
  return status;
}

/* One builder with all. Names have GUIDs, GUIDs have no names: with inputs of both kinds, the result has LLVM's ids. */
static hearth_status indexer_unite(hearth_indexer *ix, hearth_builder **ret, hearth_error *err) {
  *ret = ix->builder;
  if (hearth_builder_context_count(ix->llvm) == 0)
    return HEARTH_OK;
  *ret = ix->llvm;
  if (hearth_builder_context_count(ix->builder) == 0 || ix->united)
    return HEARTH_OK;
  hearth_indexer_tell(
      ix, HEARTH_NOTE_WARNING,
      "inputs with Hearth's function ids and with LLVM's: the result has LLVM's, which know neither files nor "
      "discriminators");
  ix->united = true;
  return hearth_indexer_add_builder(ix->llvm, ix->builder, err);
}

static void warn_of(hearth_indexer *ix, const hearth_named_inputs *inputs, const char *what) {
  char text[768], others[48] = "";
  if (inputs->count > 1)
    snprintf(others, sizeof others, " (and %zu more)", inputs->count - 1);
  snprintf(text, sizeof text, "%.300s%s: %s", inputs->name, others, what);
  hearth_indexer_tell(ix, HEARTH_NOTE_WARNING, text);
}

/* Contexts are classified by the facts about accesses that every run has: one input can take from the result a fact
 * that all others have. */
static void tell_lost_classes(hearth_indexer *ix) {
  bool unrecorded = ix->options.unrecorded & UINT64_C(1) << HEARTH_COL_TotalAccessCount;
  if (unrecorded && ix->counted > 0)
    hearth_indexer_tell(ix, HEARTH_NOTE_WARNING, "TotalAccessCount is left out: nothing in the result is cold or hot");
  else if (!unrecorded && ix->uncounted.count > 0 && ix->counted + ix->densities.count > 0)
    warn_of(ix, &ix->uncounted,
            "accesses were not counted: nothing in the result is cold or hot (leave it out, or profile a program built "
            "with the flags of 'hearth flags instrument')");
  else if (!unrecorded && ix->uncounted.count == 0 && ix->densities.count > 0)
    warn_of(ix, &ix->densities,
            "has access densities but no access counts (llvm-profdata merge --memprof-full-schema keeps them): all "
            "contexts are classified by LLVM's thresholds");
}

static void tell_no_room(hearth_indexer *ix) {
  char text[320];
  if (ix->no_room.count == 0)
    return;
  hearth_lost_stacks_print(&ix->lost_stacks, text, sizeof text);
  warn_of(ix, &ix->no_room, text);
}

hearth_status hearth_indexer_result(hearth_indexer *ix, const char *path, hearth_builder **ret, hearth_error *err) {
  hearth_modules_report(ix->modules);
  HEARTH_TRY(indexer_unite(ix, ret, err));
  if (ix->skipped > 0 && ix->added == 0)
    return hearth_error_set(err, HEARTH_E_EMPTY, "%s: not written: none of the inputs could be used", path);
  if (hearth_builder_context_count(*ret) == 0)
    return hearth_error_set(err, ix->nothing.status ? ix->nothing.status : HEARTH_E_EMPTY, "%s: not written: %s", path,
                            ix->nothing.status ? ix->nothing.message : "the inputs have no allocations");
  if (ix->counts.contexts > 0 && ix->counts.with_column == 0 && !ix->options.symbols)
    return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                            "%s: not written: no allocation has a column, by which calls are matched (compile without "
                            "-gno-column-info)",
                            path);
  tell_no_room(ix);
  tell_lost_classes(ix);
  return HEARTH_OK;
}

size_t hearth_indexer_added(const hearth_indexer *ix) { return ix->added; }

const char *hearth_indexer_code_profile(const hearth_indexer *ix, const void **ret_data, size_t *ret_size) {
  *ret_data = ix->code.data;
  *ret_size = ix->code.size;
  return ix->code_name;
}

/* ------------------------------------------------ lost contexts ------------------------------------------------ */

/* Sums by file and reason in a short list; sums that find no room in it count for the last row. */

#define FILES_MAX (sizeof((hearth_lost_contexts *)0)->files / sizeof(hearth_lost_file))

static bool same_path(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool lost_context_same_file(const hearth_lost_file *a, const hearth_lost_file *b) {
  return same_path(a->path, b->path) && a->given == b->given && a->reason == b->reason;
}

void hearth_lost_add(hearth_lost_contexts *lost, hearth_lost_file file, uint64_t bytes) {
  size_t i = 0;
  while (i < lost->count && !lost_context_same_file(&lost->files[i], &file))
    i++;
  if (i == FILES_MAX)
    i--;
  if (i == lost->count)
    lost->files[lost->count++] = file;
  lost->files[i].contexts++;
  lost->files[i].bytes = hearth_merge_SUM(lost->files[i].bytes, bytes);
}

void hearth_lost_stacks_add(hearth_lost_stacks *to, const hearth_lost_stacks *more) {
  to->blocks = hearth_merge_SUM(to->blocks, more->blocks);
  to->bytes = hearth_merge_SUM(to->bytes, more->bytes);
}

void hearth_lost_stacks_print(const hearth_lost_stacks *lost, char *to, size_t size) {
  snprintf(to, size,
           "%llu allocation%s (%llu bytes) found no room for the call stack and %s left out: run the program with a "
           "greater max_contexts in HEARTH_OPTIONS",
           (unsigned long long)lost->blocks, lost->blocks == 1 ? "" : "s", (unsigned long long)lost->bytes,
           lost->blocks == 1 ? "is" : "are");
}

/* Types of allocation calls are noted where strip lets them stay. */
static bool lost_context_is_instrumented(const char *path) {
  hearth_elf_file *file;
  if (!path || hearth_elf_file_open(path, &file, NULL) != HEARTH_OK)
    return false;
  bool has_types = hearth_elf_file_has(file, HEARTH_TYPES_SECTION);
  hearth_elf_file_close(file);
  return has_types;
}

static const char *why(const hearth_lost_contexts *lost, const hearth_lost_file *file,
                       const hearth_indexer_options *options) {
  if (file->given)
    return "that code has no debug information (compile it with -gmlt -fdebug-info-for-profiling)";
  if (lost->uninstrumented && !options->symbols)
    return "it has no debug information (--symbols names its functions)";
  return lost_context_is_instrumented(file->path)
             ? "it is stripped (give with --binary the file as it was linked, or with --debug-dir its debug "
               "information)"
             : "it was not compiled for profiling, so its callers are not known (give with --binary what was)";
}

static void lost_context_describe(const hearth_lost_contexts *lost, const hearth_lost_file *file,
                                  const hearth_indexer_options *options, char *to, size_t size) {
  snprintf(to, size, "%llu context%s (%llu bytes) allocated inside %.300s %s left out: %s",
           (unsigned long long)file->contexts, file->contexts == 1 ? "" : "s", (unsigned long long)file->bytes,
           file->path ? file->path : "code of no known file", file->contexts == 1 ? "is" : "are",
           why(lost, file, options));
}

/* Of the files whose functions symbols alone name the one with the most bytes, and the bytes of all: of many libraries
 * each may have few. */
static const hearth_lost_file *find_largest_unnamed(const hearth_lost_contexts *lost, uint64_t *ret_sum) {
  const hearth_lost_file *most = NULL;
  *ret_sum = 0;
  for (size_t i = 0; i < lost->count; i++) {
    const hearth_lost_file *file = &lost->files[i];
    if (file->given || file->reason)
      continue;
    *ret_sum = hearth_merge_SUM(*ret_sum, file->bytes);
    if (!most || file->bytes > most->bytes)
      most = file;
  }
  return most;
}

void hearth_lost_report(const hearth_lost_contexts *lost, const char *name, uint64_t total_bytes,
                        const hearth_indexer_options *options) {
  uint64_t sum;
  const hearth_lost_file *most = find_largest_unnamed(lost, &sum);
  bool has_remedy = lost->uninstrumented && !options->symbols;
  for (size_t i = 0; options->note && i < lost->count; i++) {
    const hearth_lost_file *file = &lost->files[i];
    char what[600], text[960];
    if (file->reason)
      continue;
    lost_context_describe(lost, file, options, what, sizeof what);
    snprintf(text, sizeof text, "%.300s: %s", name, what);
    uint64_t bytes = has_remedy && file == most ? sum : file->bytes;
    options->note(options->context, file->given || bytes > total_bytes / 20 ? HEARTH_NOTE_WARNING : HEARTH_NOTE_DETAIL,
                  text);
  }
}

hearth_status hearth_lost_everything(const hearth_lost_contexts *lost, const hearth_indexer_options *options,
                                     hearth_error *err) {
  const hearth_lost_file *most = NULL;
  char text[600];
  for (size_t i = 0; i < lost->count; i++)
    if (!most || lost->files[i].given > most->given ||
        (lost->files[i].given == most->given && lost->files[i].bytes > most->bytes))
      most = &lost->files[i];
  if (most && most->reason)
    return hearth_error_set(err, most->reason->status, "%.400s%s", most->reason->message,
                            hearth_modules_remedy(most->reason));
  if (most)
    lost_context_describe(lost, most, options, text, sizeof text);
  else if (lost->no_room.blocks > 0)
    hearth_lost_stacks_print(&lost->no_room, text, sizeof text);
  return hearth_error_set(err, most && most->given ? HEARTH_E_NO_DEBUG_INFO : HEARTH_E_EMPTY, "%s",
                          most || lost->no_room.blocks > 0 ? text : "the inputs have no allocations");
}
