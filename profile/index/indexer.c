/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The indexer's life, its messages and its result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder_tables.h"
#include "indexer_state.h"
#include "option_size.h"

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
  if (!ix)
    return hearth_error_nomem(err);
  ix->options = known;
  ix->builder = hearth_indexer_create_builder(ix, HEARTH_IDS_HEARTH);
  ix->llvm = hearth_indexer_create_builder(ix, HEARTH_IDS_LLVM);
  ix->binaries = hearth_binaries_create(&ix->options);
  if (ix->builder && ix->llvm && ix->binaries)
    ix->modules = hearth_modules_create(ix->builder, ix->binaries, &ix->options);
  if (!ix->modules) {
    hearth_indexer_destroy(ix);
    return hearth_error_nomem(err);
  }
  hearth_binaries_use_symbols(ix->binaries, known.symbols);
  *ret = ix;
  return HEARTH_OK;
}

void hearth_indexer_destroy(hearth_indexer *ix) {
  if (!ix)
    return;
  hearth_modules_destroy(ix->modules);
  hearth_binaries_destroy(ix->binaries);
  hearth_builder_destroy(ix->builder);
  hearth_builder_destroy(ix->llvm);
  hearth_file_close(&ix->code);
  free(ix->code_name);
  free(ix->densities.name);
  free(ix->uncounted.name);
  free(ix->no_room.name);
  free(ix->known);
  free(ix->known_by_number.slots);
  free(ix);
}

hearth_status hearth_indexer_add_debug_directory(hearth_indexer *ix, const char *path, hearth_error *err) {
  return hearth_binaries_add_directory(ix->binaries, path, err);
}

hearth_status hearth_indexer_add_binary(hearth_indexer *ix, const char *path, hearth_error *err) {
  return hearth_binaries_give(ix->binaries, path, err);
}

/* -------------------------------------------------- result -------------------------------------------------- */

/* The result of all inputs: one builder, and the abilities that the inputs take from it. */

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
  return hearth_builder_add_builder(ix->llvm, ix->builder, err);
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

/* Worth a warning, as other losses of libraries (lost_contexts.c), from a twentieth of the bytes on. */
static void tell_libraries(hearth_indexer *ix) {
  const hearth_library_bytes *libraries = &ix->counts.libraries;
  const uint64_t all = ix->counts.bytes;
  uint64_t sum = 0;
  size_t most = 0;
  char text[640];
  for (size_t i = 0; i < libraries->count; i++) {
    sum = hearth_merge_SUM(sum, libraries->rows[i].bytes);
    if (libraries->rows[i].bytes > libraries->rows[most].bytes)
      most = i;
  }
  if (sum == 0 || ix->uncounted.count > 0) /* no hints without accesses */
    return;
  snprintf(text, sizeof text, "%.1f%% of the bytes are allocated inside %s%s, which no hint reaches",
           100.0 * (double)sum / (double)all, libraries->rows[most].name,
           libraries->count > 1 ? " and other libraries" : "");
  hearth_indexer_tell(ix, sum > all / 20 ? HEARTH_NOTE_WARNING : HEARTH_NOTE_DETAIL, text);
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
  tell_libraries(ix);
  return HEARTH_OK;
}

size_t hearth_indexer_added(const hearth_indexer *ix) { return ix->added; }

const char *hearth_indexer_code_profile(const hearth_indexer *ix, const void **ret_data, size_t *ret_size) {
  *ret_data = ix->code.data;
  *ret_size = ix->code.size;
  return ix->code_name;
}
