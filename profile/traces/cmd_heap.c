/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth heap`: the live blocks at moments of a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "hearth/heap_dumps.h"
#include "view_options.h"

static const hearth_help help = {
    .usage = "heap [OPTION]... FILE... [-o OUT]",
    .about = "Show heap dumps of 'hearth record --mode=live': a list of them, and the live blocks of one.",
    .end = "'hearth index' makes a profile of a dump, for tables and other tools."};

typedef struct arguments {
  const char *dump, *output;
  hearth_number_option limit;
  bool is_chrome, full_names, quiet;
  hearth_list_option binaries;
  char **files;
  int file_count;
} arguments;

static int heap_command_take_format(void *target, const char *value) {
  *(bool *)target = strcmp(value, "chrome") == 0;
  return *(bool *)target || strcmp(value, "text") == 0 ? HEARTH_EXIT_OK : HEARTH_OPTION_UNUSABLE;
}

static bool heap_command_parse(int argc, char **argv, arguments *a, int *ret_code) {
  const hearth_option options[] = {
      HEARTH_TEXT(
          "--dump", 0, "N|peak|NAME", "a number, 'peak' or a file", &a->dump,
          "show this dump: by its number in the list, the dump of the peak (of several processes: of the highest "
          "peak), or by its file (default: the dump with most bytes)"),
      HEARTH_NUMBER("--limit", 0, "N", "a number", &a->limit, "list N entries, most bytes first (default: 20; 0: all)"),
      HEARTH_TAKE("--format", 0, "FORMAT", "text or chrome", heap_command_take_format, &a->is_chrome,
                  "output format:\n"
                  "  text    a list of the dumps, and the entries of one (default)\n"
                  "  chrome  all dumps, JSON for chrome://tracing (heaps_v2)"),
      HEARTH_TAKE("--binary", 0, "BIN", "a file", hearth_tool_take_one_more, &a->binaries,
                  "a program or library that ran; without this option the files that the dumps name are used. Symbol "
                  "tables name code without debug information"),
      HEARTH_NAME_OPTION(a),
      HEARTH_TEXT("--output", 'o', "OUT", "a file", &a->output, "file to write; '-', the default, is standard output"),
      HEARTH_FLAG("--quiet", 'q', &a->quiet, "print errors only"),
      {0}};
  if (!hearth_tool_parse(options, &help, argc, argv, &a->file_count, ret_code))
    return false;
  a->files = argv + 1;
  if (a->file_count == 0)
    *ret_code = hearth_tool_usage_error("heap", "which heap dumps?");
  else
    return true;
  return false;
}

/* -------------------------------------------------- reading -------------------------------------------------- */

static void heap_command_on_note(void *context, hearth_note_level level, const char *text) {
  const arguments *a = context;
  if (level >= HEARTH_NOTE_WARNING && !a->quiet)
    hearth_tool_warning("%s", text);
}

static hearth_status read_all(const arguments *a, hearth_heap_reader *reader, const hearth_heap_dumps **ret,
                              hearth_error *err) {
  for (size_t i = 0; i < a->binaries.count; i++)
    HEARTH_TRY(hearth_heap_reader_add_binary(reader, a->binaries.rows[i], err));
  for (int i = 0; i < a->file_count; i++)
    HEARTH_TRY(hearth_heap_reader_add(reader, hearth_tool_input_path(a->files[i]), err));
  return hearth_heap_reader_result(reader, ret, err);
}

static bool is_wanted(const hearth_heap_dump *dump, const char *wanted) {
  return !wanted || strcmp(dump->name, wanted) == 0 ||
         (dump->occasion == HEARTH_RAW_PEAK && strcmp(wanted, "peak") == 0);
}

/* The wanted dump; of several, such as the peaks of processes, the one with most bytes. */
static const hearth_heap_dump *find_dump(const hearth_heap_dumps *dumps, const char *wanted) {
  const hearth_heap_dump *found = NULL;
  uint64_t number;
  if (wanted && hearth_tool_parse_number(wanted, 1, dumps->dump_count, &number))
    return &dumps->dumps[number - 1];
  for (size_t i = 0; i < dumps->dump_count; i++) {
    const hearth_heap_dump *dump = &dumps->dumps[i];
    if (is_wanted(dump, wanted) && (!found || hearth_heap_total(dump).bytes > hearth_heap_total(found).bytes))
      found = dump;
  }
  return found;
}

/* -------------------------------------------------- writing -------------------------------------------------- */

typedef struct heap_view {
  const arguments *arguments;
  const hearth_heap_dumps *dumps;
  const hearth_heap_dump *dump;
} heap_view;

static hearth_status write_dumps(const void *given, FILE *stream, hearth_error *err) {
  const heap_view *v = given;
  const arguments *a = v->arguments;
  const hearth_heap_view_options options = {.most = a->limit.value, .full_names = a->full_names};
  return a->is_chrome ? hearth_heap_export_chrome(v->dumps, &options, stream, err)
                      : hearth_heap_print(v->dumps, v->dump, &options, stream, err);
}

static int show(const arguments *a, const hearth_heap_dumps *dumps) {
  const heap_view view = {a, dumps, find_dump(dumps, a->dump)};
  if (!view.dump)
    return hearth_tool_error("there is no heap dump '%s' among those given", a->dump ? a->dump : "");
  return hearth_output_view(a->output, write_dumps, &view);
}

static int heap_command_run(const arguments *a) {
  const hearth_indexer_options options = {.context = (void *)(uintptr_t)a, .note = heap_command_on_note};
  const hearth_heap_dumps *dumps;
  hearth_error err;
  hearth_heap_reader *reader;
  if (hearth_heap_reader_create(&options, &reader, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  int code = read_all(a, reader, &dumps, &err) == HEARTH_OK ? show(a, dumps) : hearth_tool_error("%s", err.message);
  hearth_heap_reader_destroy(reader);
  return code;
}

int hearth_cmd_heap(int argc, char **argv) {
  arguments a = {.output = "-", .limit = {.most = UINT32_MAX, .value = 20}};
  int code = HEARTH_EXIT_ERROR;
  if (heap_command_parse(argc, argv, &a, &code))
    code = heap_command_run(&a);
  free(a.binaries.rows);
  return code;
}
