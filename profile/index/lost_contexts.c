/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums by file and reason in a short list; sums that find no room in it count for the last row. */

#include <stdio.h>
#include <string.h>

#include "hearth/type_table.h"
#include "object_file.h"
#include "symboliser.h"

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

static bool has_remedy(const hearth_lost_contexts *lost, const hearth_indexer_options *options) {
  return lost->uninstrumented && !options->symbols;
}

static void report_sum(const hearth_lost_contexts *lost, const char *name, const hearth_indexer_options *options) {
  unsigned long long contexts = 0, bytes = 0;
  char text[640];
  for (size_t i = 0; i < lost->count; i++) {
    bool counts = !lost->files[i].given && !lost->files[i].reason;
    contexts += counts ? lost->files[i].contexts : 0;
    bytes = hearth_merge_SUM(bytes, counts ? lost->files[i].bytes : 0);
  }
  if (contexts == 0)
    return;
  snprintf(text, sizeof text,
           "%.300s: %llu context%s (%llu bytes) allocated inside code without debug information %s left out: "
           "--symbols names its functions",
           name, contexts, contexts == 1 ? "" : "s", bytes, contexts == 1 ? "is" : "are");
  options->note(options->context, HEARTH_NOTE_WARNING, text);
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

#define STRIPPED "is stripped (give with --binary the file as it was linked, or with --debug-dir its debug information)"

static const char *why(const hearth_lost_file *file) {
  if (file->given)
    return "that code has no debug information (compile it with -gmlt -fdebug-info-for-profiling)";
  return lost_context_is_instrumented(file->path) ? "it " STRIPPED
                                                  : "it was not compiled for profiling, so its callers are not known";
}

void hearth_lost_report(const hearth_lost_contexts *lost, const char *name, uint64_t total_bytes,
                        const hearth_indexer_options *options) {
  if (!options->note)
    return;
  if (has_remedy(lost, options))
    report_sum(lost, name, options);
  for (size_t i = 0; i < lost->count; i++) {
    const hearth_lost_file *file = &lost->files[i];
    char text[768];
    if (file->reason)
      continue;
    bool matters = file->given || (!has_remedy(lost, options) && file->bytes > total_bytes / 20);
    snprintf(text, sizeof text, "%.300s: %llu context%s (%llu bytes) allocated inside %.300s %s left out: %s", name,
             (unsigned long long)file->contexts, file->contexts == 1 ? "" : "s", (unsigned long long)file->bytes,
             file->path ? file->path : "code of no known file", file->contexts == 1 ? "is" : "are", why(file));
    options->note(options->context, matters ? HEARTH_NOTE_WARNING : HEARTH_NOTE_DETAIL, text);
  }
}

hearth_status hearth_lost_everything(const hearth_lost_contexts *lost, hearth_error *err) {
  const hearth_lost_file *most = NULL;
  for (size_t i = 0; i < lost->count; i++)
    if (!most || lost->files[i].given > most->given ||
        (lost->files[i].given == most->given && lost->files[i].bytes > most->bytes))
      most = &lost->files[i];
  if (!most && lost->no_room.blocks > 0) {
    char text[320];
    hearth_lost_stacks_print(&lost->no_room, text, sizeof text);
    return hearth_error_set(err, HEARTH_E_EMPTY, "%s", text);
  }
  if (!most)
    return hearth_error_set(err, HEARTH_E_EMPTY, "the inputs have no allocations");
  if (most->reason)
    return hearth_error_set(err, most->reason->status, "%.400s%s", most->reason->message,
                            hearth_modules_remedy(most->reason));
  if (most->given)
    return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                            "the code of %.300s that allocates has no debug information (compile it with -gmlt "
                            "-fdebug-info-for-profiling)",
                            most->path ? most->path : "the program");
  if (lost_context_is_instrumented(most->path))
    return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO, "%.300s, in which all blocks were allocated, " STRIPPED,
                            most->path);
  return hearth_error_set(err, HEARTH_E_EMPTY,
                          "all blocks were allocated inside %.300s, which was not compiled for profiling (give with "
                          "--binary the programs and libraries that were)",
                          most->path ? most->path : "code of no known file");
}
