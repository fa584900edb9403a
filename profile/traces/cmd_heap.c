/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth heap`: the live blocks at moments of a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_line.h"
#include "commands.h"
#include "hearth/heap_view.h"
#include "hearth/listing.h"
#include "output_file.h"
#include "view_options.h"

static const hearth_help help = {
    .usage = "heap [OPTION]... FILE... [-o OUT]",
    .about = "Show heap dumps of 'hearth record --mode=live': a list of them, and the live blocks of one."};

/* One dump is a profile, which views write for other programs. */
#if HEARTH_VIEWS
#include "hearth/profile_export.h"
#define EXPORT_NAMES ", pprof, folded, speedscope or dhat"
#define EXPORT_HELP                                                                                                    \
  "\n  pprof, folded, speedscope, dhat\n"                                                                              \
  "          one dump, as 'hearth export' writes profiles"
#else
#define EXPORT_NAMES ""
#define EXPORT_HELP  ""
#endif

static const struct format {
  const char *name;
  bool is_export, is_chrome, is_binary;
  int number; /* of an export */
} formats[] = {{.name = "text"},
               {.name = "chrome", .is_chrome = true},
#if HEARTH_VIEWS
               {.name = "pprof", .is_export = true, .is_binary = true, .number = HEARTH_EXPORT_PPROF},
               {.name = "folded", .is_export = true, .number = HEARTH_EXPORT_FOLDED},
               {.name = "speedscope", .is_export = true, .number = HEARTH_EXPORT_SPEEDSCOPE},
               {.name = "dhat", .is_export = true, .number = HEARTH_EXPORT_DHAT}
#endif
};

typedef struct arguments {
  const char *dump, *output;
  hearth_number_option floor, limit;
  const struct format *format;
  bool linkage_names, full_names, quiet;
  hearth_by_option by;
  hearth_list_option binaries, debug_directories;
  char **files;
  int file_count;
} arguments;

static int take_format(void *target, const char *value) {
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
    if (strcmp(formats[i].name, value) == 0) {
      *(const struct format **)target = &formats[i];
      return HEARTH_EXIT_OK;
    }
  return HEARTH_OPTION_UNUSABLE;
}

static bool parse(int argc, char **argv, arguments *a, int *ret_code) {
  const hearth_option options[] = {
      HEARTH_TEXT(
          "--dump", 0, "N|peak|NAME", "a number, 'peak' or a file", &a->dump,
          "show this dump: by its number in the list, the dump of the peak (of several processes: of the highest "
          "peak), or by its file (default: the dump with most bytes)"),
      HEARTH_BY_OPTION(
          &a->by,
          "print a table of the dump by function, caller (of that function), site (line and column), file, library, "
          "type or size (on average), in place of its call stacks; wrappers are looked through, as by 'hearth show'"),
      HEARTH_NUMBER("--floor", 0, "BYTES", "a number of bytes", &a->floor,
                    "merge entries with fewer bytes into their callers (default: 0.1 % of the dump's bytes)"),
      HEARTH_NUMBER("--limit", 0, "N", "a number", &a->limit,
                    "list N entries, or lines of --by, most bytes first (default: 20; 0: all)"),
      HEARTH_TAKE("--format", 0, "FORMAT", "text, chrome" EXPORT_NAMES, take_format, &a->format,
                  "output format:\n"
                  "  text    a list of the dumps, and the entries of one (default)\n"
                  "  chrome  all dumps, JSON for chrome://tracing (heaps_v2)" EXPORT_HELP),
      HEARTH_TAKE("--binary", 0, "BIN", "a file", hearth_tool_take_one_more, &a->binaries,
                  "a program or library that ran; without this option the files that the dumps name are used. Symbol "
                  "tables name code without debug information"),
      HEARTH_TAKE("--debug-dir", 0, "DIR", "a folder", hearth_tool_take_one_more, &a->debug_directories,
                  "a folder with separate debug files, as for 'hearth index'"),
      HEARTH_NAME_OPTIONS(a),
      HEARTH_TEXT("--output", 'o', "OUT", "a file", &a->output, "file to write; '-', the default, is standard output"),
      HEARTH_FLAG("--quiet", 'q', &a->quiet, "print errors only"),
      {0}};
  if (!hearth_tool_parse(options, &help, argc, argv, &a->file_count, ret_code))
    return false;
  a->files = argv + 1;
  if (a->file_count == 0)
    *ret_code = hearth_tool_usage_error("heap", "which heap dumps?");
  else if (a->format->is_binary && hearth_output_is_standard(a->output) && isatty(STDOUT_FILENO))
    *ret_code = hearth_tool_usage_error("heap", "pprof's format is not for terminals: give -o OUT");
  else if (a->by.given && a->format != &formats[0])
    *ret_code = hearth_tool_usage_error("heap", "--by is for --format=text");
  else
    return true;
  return false;
}

/* -------------------------------------------------- reading -------------------------------------------------- */

static void on_note(void *context, hearth_note_level level, const char *text) {
  const arguments *a = context;
  if (level != HEARTH_NOTE_DETAIL && !a->quiet)
    hearth_tool_warning("%s", text);
}

static hearth_status read_all(const arguments *a, hearth_heap_reader *reader, const hearth_heap_dumps **ret,
                              hearth_error *err) {
  for (size_t i = 0; i < a->debug_directories.count; i++)
    HEARTH_TRY(hearth_heap_reader_add_debug_directory(reader, a->debug_directories.rows[i], err));
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

static hearth_status print_table(const arguments *a, hearth_profile *profile, const char *name,
                                 const hearth_view_options *view, FILE *stream, hearth_error *err) {
  const hearth_listing_options options = {.view = view,
                                          .by = a->by.kind,
                                          .sort = HEARTH_QUANTITY_LIVE,
                                          .groups = a->limit.value ? (size_t)a->limit.value : SIZE_MAX,
                                          .is_moment = true};
  return hearth_listing_print_text(profile, name, &options, stream, err);
}

/* The dump as a profile, for views of profiles. */
static hearth_status view_profile(const arguments *a, hearth_builder *builder, const char *name, FILE *stream,
                                  hearth_error *err) {
  const hearth_view_options view = {.linkage_names = a->linkage_names, .full_names = a->full_names};
  hearth_profile *profile;
  void *data;
  size_t size;
  HEARTH_TRY(hearth_builder_write_memory(builder, &data, &size, err));
  hearth_status status = hearth_profile_open_memory(data, size, name, &profile, err);
  if (status == HEARTH_OK && a->by.given)
    status = print_table(a, profile, name, &view, stream, err);
#if HEARTH_VIEWS
  const hearth_export_options options = {.view = &view, .title = name, .value = HEARTH_QUANTITY_LIVE};
  if (status == HEARTH_OK && a->format->is_export)
    status = hearth_export(profile, (hearth_export_format)a->format->number, &options, stream, err);
#endif
  hearth_profile_close(profile);
  free(data);
  return status;
}

static hearth_status view_dump(const arguments *a, const hearth_heap_dumps *dumps, const hearth_heap_dump *dump,
                               FILE *stream, hearth_error *err) {
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  if (!builder)
    return hearth_error_nomem(err);
  hearth_status status = hearth_heap_dump_to_profile(dumps, dump, builder, err);
  if (status == HEARTH_OK)
    status = view_profile(a, builder, dump->name, stream, err);
  hearth_builder_destroy(builder);
  return status;
}

/* The default leaves out only entries that a picture of the dump would not show, whatever the dump's size. */
static uint64_t floor_of(const arguments *a, const hearth_heap_dump *dump) {
  return a->floor.given ? a->floor.value : hearth_heap_total(dump).bytes / 1000;
}

static hearth_status write_dumps(const arguments *a, const hearth_heap_dumps *dumps, const hearth_heap_dump *dump,
                                 FILE *stream, hearth_error *err) {
  hearth_heap_view_options options = {.floor = floor_of(a, dump),
                                      .most = a->limit.value,
                                      .linkage_names = a->linkage_names,
                                      .full_names = a->full_names};
  if (a->format->is_chrome)
    return hearth_heap_export_chrome(dumps, &options, stream, err);
  if (a->format->is_export)
    return view_dump(a, dumps, dump, stream, err);
  options.only_title = a->by.given;
  HEARTH_TRY(hearth_heap_print(dumps, dump, &options, stream, err));
  return a->by.given ? view_dump(a, dumps, dump, stream, err) : HEARTH_OK;
}

static int show(const arguments *a, const hearth_heap_dumps *dumps) {
  hearth_output output;
  hearth_error err;
  const hearth_heap_dump *dump = find_dump(dumps, a->dump);
  if (!dump)
    return hearth_tool_error("there is no heap dump '%s' among those given", a->dump ? a->dump : "");
  hearth_output_guard();
  if (!hearth_output_open(&output, a->output))
    return HEARTH_EXIT_ERROR;
  bool good = write_dumps(a, dumps, dump, output.stream, &err) == HEARTH_OK;
  if (!good)
    hearth_tool_view_error(output.replacement.path, &err);
  return hearth_output_close(&output, good) && good ? HEARTH_EXIT_OK : HEARTH_EXIT_ERROR;
}

static int run(const arguments *a) {
  const hearth_indexer_options options = {.context = (void *)(uintptr_t)a, .note = on_note};
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
  arguments a = {
      .output = "-", .format = &formats[0], .floor = {.most = UINT64_MAX}, .limit = {.most = UINT32_MAX, .value = 20}};
  int code = HEARTH_EXIT_ERROR;
  a.binaries.rows = calloc((size_t)argc, sizeof *a.binaries.rows);
  a.debug_directories.rows = calloc((size_t)argc, sizeof *a.debug_directories.rows);
  if (!a.binaries.rows || !a.debug_directories.rows)
    hearth_tool_error("out of memory");
  else if (parse(argc, argv, &a, &code))
    code = run(&a);
  free(a.binaries.rows);
  free(a.debug_directories.rows);
  return code;
}
