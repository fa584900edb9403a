/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth merge`, in everyday use `hearth index`: turns profiles of any kind into one. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "builder_tables.h"
#include "command.h"
#include "hearth/indexer.h"
#include "hearth/llvm_profile.h"
#include "print.h"
#include "utf8.h"
#include "view_options.h"

/* The profiles to merge, with their weights. */
typedef struct input_list {
  hearth_input *rows; /* each with a path of its own */
  size_t count, room;
} input_list;

/* As llvm-profdata has it. */
typedef enum failure_mode {
  FAIL_IF_ANY, /* input cannot be used */
  FAIL_IF_ALL, /* cannot; else those are left out */
  ONLY_WARN
} failure_mode;

typedef struct arguments {
  const char *command; /* index or merge */
  input_list inputs;
  hearth_list_option binaries, debug_directories;
  const char *output;
  const output_format *format;
  uint32_t section; /* version of LLVM's; 0: the default */
  const char *layout;
  bool quiet, verbose, full_recursion, symbols;
  failure_mode failure;
  uint64_t unrecorded; /* fields, 1 << enum hearth_mib_column */
  size_t warnings;     /* of inputs, so far */
  bool inputs_done;
} arguments;

static const hearth_help help = {
    .usage = "index|merge PROFILE... [--binary BIN]... -o OUT",
    .about = "Symbolise raw heap profiles and merge profiles of all kinds into one. The result does not depend on the "
             "order or grouping of the inputs. 'index' and 'merge' are two names of one command."};

_Static_assert(HEARTH_LLVM_DEFAULT_SECTION == 4, "the help says so");

/* -------------------------------------------------- inputs -------------------------------------------------- */

static void input_list_free(input_list *list) {
  for (size_t i = 0; i < list->count; i++)
    free((char *)list->rows[i].path);
  free(list->rows);
}

/* `path` is copied, "-" as standard input. Returns an exit code, after an error that it printed. */
static int input_list_add(input_list *list, const char *path, uint64_t weight) {
  char *copy = strdup(hearth_tool_input_path(path));
  if (!copy || !hearth_array_grow(&list->rows, &list->room, list->count, sizeof *list->rows)) {
    free(copy);
    return hearth_tool_error("out of memory");
  }
  list->rows[list->count++] = (hearth_input){copy, weight};
  return HEARTH_EXIT_OK;
}

/* Digits and a separator at the beginning of the text: their number, and the text behind them. */
static bool parse_weight(const char *text, char separator, uint64_t *ret_weight, const char **ret_rest) {
  char *end;
  if (!isdigit((unsigned char)*text))
    return false;
  errno = 0;
  *ret_weight = strtoull(text, &end, 10);
  *ret_rest = end + 1;
  return *end == separator && errno == 0 && *ret_weight > 0;
}

static int add_weighted(void *target, const char *value) {
  uint64_t weight;
  const char *path;
  return parse_weight(value, ':', &weight, &path) && *path ? input_list_add(target, path, weight)
                                                           : HEARTH_OPTION_UNUSABLE;
}

/* "FILE" or "N,FILE"; a file's name may well look like the latter. */
static int add_line(void *target, const char *line) {
  uint64_t weight;
  const char *path;
  return parse_weight(line, ',', &weight, &path) ? input_list_add(target, path, weight)
                                                 : input_list_add(target, line, 1);
}

static int add_list(void *target, const char *value) {
  return hearth_tool_each_line(hearth_tool_input_path(value), add_line, target);
}

/* -------------------------------------------------- options -------------------------------------------------- */

static int index_take_format(void *target, const char *value) {
  const output_format **ret = target;
  *ret = hearth_output_format_find(value);
  return *ret ? HEARTH_EXIT_OK : HEARTH_OPTION_UNUSABLE;
}

static int take_recursion(void *target, const char *value) {
  bool full = strcmp(value, "full") == 0;
  *(bool *)target = full;
  return full || strcmp(value, "fold") == 0 ? HEARTH_EXIT_OK : HEARTH_OPTION_UNUSABLE;
}

static int take_failure_mode(void *target, const char *value) {
  static const char *const names[] = {[FAIL_IF_ANY] = "any", [FAIL_IF_ALL] = "all", [ONLY_WARN] = "warn"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(value, names[i]) == 0) {
      *(failure_mode *)target = (failure_mode)i;
      return HEARTH_EXIT_OK;
    }
  return HEARTH_OPTION_UNUSABLE;
}

static int take_fields(void *target, const char *value) {
  arguments *a = target;
  uint64_t kept = 0;
  for (const char *name = value;; name++) {
    size_t length = strcspn(name, ",");
    int field = hearth_mib_column_find(name, length);
    if (field < 0)
      return hearth_tool_usage_error(a->command, "there is no field '%.*s'", (int)length, name);
    kept |= UINT64_C(1) << field;
    name += length;
    if (!*name)
      break;
  }
  a->unrecorded = ~kept & ((UINT64_C(1) << HEARTH_MIB_COLUMNS) - 1);
  return HEARTH_EXIT_OK;
}

static int take_section(void *target, const char *value) {
  if (strcmp(value, "3") != 0 && strcmp(value, "4") != 0)
    return HEARTH_OPTION_UNUSABLE;
  *(uint32_t *)target = (uint32_t)(*value - '0');
  return HEARTH_EXIT_OK;
}

static int add_operands(arguments *a, int operands, char **argv) {
  for (int i = 1; i <= operands; i++)
    if (input_list_add(&a->inputs, argv[i], 1) != HEARTH_EXIT_OK)
      return HEARTH_EXIT_ERROR;
  return HEARTH_EXIT_OK;
}

/* Adding to a profile is what `merge` is for. A pattern of the shell has the result of the time before in it. */
static int check_output(const arguments *a) {
  struct stat output, input;
  if (strcmp(a->command, "index") != 0 || stat(a->output, &output) != 0 || !S_ISREG(output.st_mode))
    return HEARTH_EXIT_OK;
  for (size_t i = 0; i < a->inputs.count; i++)
    if (stat(a->inputs.rows[i].path, &input) == 0 && input.st_dev == output.st_dev && input.st_ino == output.st_ino)
      return hearth_tool_usage_error(
          a->command,
          "%s is the output and an input, so that its runs would count once more; leave it out ('hearth "
          "merge' adds runs to a profile)",
          a->inputs.rows[i].path);
  return HEARTH_EXIT_OK;
}

static int index_check(const arguments *a) {
  if (a->inputs.count == 0)
    return hearth_tool_usage_error(a->command, "no profile was given");
  if (!a->output)
    return hearth_tool_usage_error(a->command, "where to write? Give -o OUT");
  if (a->section && !a->format->has_section)
    return hearth_tool_usage_error(a->command, "--memprof-version goes with --format=llvm, not %s", a->format->name);
  if (hearth_output_is_standard(a->output) && isatty(STDOUT_FILENO))
    return hearth_tool_usage_error(a->command, "an indexed profile is not for terminals: give -o OUT");
  return check_output(a);
}

static bool index_parse(int argc, char **argv, arguments *a, int *ret_code) {
  const hearth_option options[] = {
      {.name = "PROFILE",
       .help = "raw profiles (Hearth's or LLVM's layout), indexed profiles (Hearth's or llvm-profdata's) and text "
               "profiles, in any mixture; and a .profdata of -fprofile-use, to which the heap profile is added; "
               "'-' is standard input"},
      HEARTH_TAKE(
          "--binary", 0, "BIN", "a program or library", hearth_tool_take_one_more, &a->binaries,
          "a profiled program or library, with debug information (-gmlt -fdebug-info-for-profiling) and a build "
          "id; the files that the raw profiles name serve for all others. If the option is given, each raw "
          "profile must be of one of these binaries"),
      HEARTH_TAKE(
          "--debug-dir", 0, "DIR", "a folder", hearth_tool_take_one_more, &a->debug_directories,
          "a folder with separate debug files (DIR/.build-id/ab/cdef.debug, or by debug link), .dwo or .dwp "
          "files; a binary's own folder is searched, too, and /usr/lib/debug for programs and files given by --binary"),
      HEARTH_FLAG("--symbols", 0, &a->symbols,
                  "name functions without debug information by symbol tables, or by the address of their first "
                  "instruction: enough to read a profile; compiling ignores such frames"),
      HEARTH_LAYOUT_OPTION(&a->layout),
      HEARTH_TEXT("--output", 'o', "OUT", "a file", &a->output,
                  "the profile to write; replaced whole; '-' is standard output"),
      HEARTH_TAKE("--weight", 0, "N:FILE", "N:FILE with N from 1 on", add_weighted, &a->inputs,
                  "one more PROFILE, counted N times"),
      HEARTH_TAKE("--input-files", 'f', "LIST", "a file", add_list, &a->inputs,
                  "more PROFILEs, one on each line of LIST: FILE or N,FILE; '#' begins a comment line"),
      HEARTH_TAKE("--failure-mode", 0, "MODE", "any, all or warn", take_failure_mode, &a->failure,
                  "inputs that cannot be read, or are of other builds than each --binary:\n"
                  "  any   fail if there are any (default)\n"
                  "  all   ignore them with a warning; fail if no input remains\n"
                  "  warn  ignore them with a warning; never fail for them"),
      HEARTH_TAKE(
          "--recursion", 0, "fold|full", "fold or full", take_recursion, &a->full_recursion,
          "fold: keep each cycle of recursive calls once, with the same totals (default); full: keep all calls"),
      HEARTH_TAKE("--format", 0, "NAME", "default, hearth or llvm", index_take_format, &a->format,
                  "output format:\n"
                  "  default  'hearth'; beside function counters also 'llvm', where every reader knows it\n"
                  "  hearth   the indexed profile that the compiler plugin reads\n"
                  "  llvm     LLVM's indexed profile, for clang -fmemory-profile-use="),
      HEARTH_TAKE("--memprof-version", 0, "3|4", "3 or 4", take_section, &a->section,
                  "version of LLVM's profile (default: 4; LLVM 19 and 20 read 3, newer ones both)"),
      HEARTH_TAKE("--fields", 0, "NAME,...", "names of fields", take_fields, a,
                  "write only these fields (docs/formats/indexed.md); the others are then 0"),
      HEARTH_FLAG("--quiet", 'q', &a->quiet, "print errors only"),
      HEARTH_FLAG("--verbose", 'v', &a->verbose, "also print which binaries are used and which are not"),
      {0}};
  int operands;
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, ret_code) ||
      (*ret_code = add_operands(a, operands, argv)) != HEARTH_EXIT_OK || (*ret_code = index_check(a)) != HEARTH_EXIT_OK)
    return false;
  return true;
}

/* -------------------------------------------------- what is told -------------------------------------------------- */

enum { WARNINGS_TOLD = 8 };

/* Of many inputs the first few warnings are worth a line. Inputs that are left out are named, each of them; so is all
 * that the result lacks. */
static bool is_told(arguments *a, const char *text) {
  return a->verbose || a->inputs_done || strncmp(text, "left out: ", strlen("left out: ")) == 0 ||
         ++a->warnings <= WARNINGS_TOLD;
}

static void index_on_note(void *context, hearth_note_level level, const char *text) {
  arguments *a = context;
  if (level == HEARTH_NOTE_ERROR) {
    hearth_tool_error("%s", text);
  } else if (level == HEARTH_NOTE_WARNING && !a->quiet) {
    if (is_told(a, text))
      hearth_tool_warning("%s", text);
  } else if (level == HEARTH_NOTE_PROGRESS && !a->quiet) {
    hearth_tool_progress(text);
  } else if (level == HEARTH_NOTE_DETAIL && a->verbose) {
    hearth_tool_progress("");
    fputs("hearth: ", stderr);
    hearth_utf8_put(text, stderr);
    putc('\n', stderr);
  }
}

/* -------------------------------------------------- work -------------------------------------------------- */

/* An indexed profile's facts about itself, read back from the file: the output shows the written data. */
static int index_print_summary(const char *path) {
  hearth_error err;
  hearth_profile *profile;
  hearth_profile_summary sum;
  if (hearth_profile_open(path, &profile, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  if (hearth_profile_get_summary(profile, &sum, &err) != HEARTH_OK) {
    hearth_profile_close(profile);
    return hearth_tool_error("%s", err.message);
  }
  uint32_t contexts = hearth_profile_context_count(profile), functions = hearth_profile_function_count(profile);
  hearth_profile_close(profile);
  printf("%s: %" PRIu32 " context%s, %" PRIu32 " function%s, %" PRIu64 " run%s, %s allocated, %" PRIu64
         " block%s dropped\n",
         path, contexts, hearth_plural(contexts), functions, hearth_plural(functions), sum.runs,
         hearth_plural(sum.runs), hearth_amount_bytes(sum.total_bytes).c, sum.dropped_blocks,
         hearth_plural(sum.dropped_blocks));
  return hearth_tool_finish();
}

/* Output to a device or a pipe cannot be read back. */
static bool can_be_read_back(const arguments *a) {
  struct stat info;
  return !hearth_output_is_standard(a->output) && stat(a->output, &info) == 0 && S_ISREG(info.st_mode);
}

static int index_add_binaries(const arguments *a, hearth_indexer *indexer) {
  hearth_error err;
  int code = HEARTH_EXIT_OK;
  for (size_t i = 0; i < a->debug_directories.count; ++i)
    if (hearth_indexer_add_debug_directory(indexer, a->debug_directories.rows[i], &err) != HEARTH_OK)
      return hearth_tool_error("%s", err.message);
  for (size_t i = 0; i < a->binaries.count; ++i)
    if (hearth_indexer_add_binary(indexer, a->binaries.rows[i], &err) != HEARTH_OK)
      code = hearth_tool_error("%s", err.message);
  return code;
}

static void index_tell_losses(const char *text) { hearth_tool_warning("%s", text); }

static void index_command_tell_nothing(const char *text) { (void)text; }

static int nothing_written(const arguments *a, const hearth_indexer *indexer, const hearth_error *err) {
  if (a->failure != ONLY_WARN || hearth_indexer_added(indexer) > 0)
    return hearth_tool_error("%s", err->message);
  if (!a->quiet)
    hearth_tool_warning("%s", err->message);
  return HEARTH_EXIT_OK;
}

/* All binaries, then all inputs: one run of the command finds all that is wrong with them. */
static int merge_all(arguments *a, hearth_indexer *indexer) {
  hearth_error err;
  hearth_plan_options plan = {.layout = a->layout};
  output_request request = {.path = a->output,
                            .plan = &plan,
                            .section = a->section,
                            .tell = a->quiet ? index_command_tell_nothing : index_tell_losses};
  if (index_add_binaries(a, indexer) != HEARTH_EXIT_OK ||
      hearth_indexer_add_inputs(indexer, a->inputs.rows, a->inputs.count, &err) != HEARTH_OK) {
    hearth_tool_progress("");
    return HEARTH_EXIT_ERROR; /* told already */
  }
  if (a->warnings > WARNINGS_TOLD)
    hearth_tool_warning("%zu more (-v prints all)", a->warnings - WARNINGS_TOLD);
  a->inputs_done = true;
  if (!a->quiet)
    hearth_tool_progress("writing");
  request.code_name = hearth_indexer_code_profile(indexer, &request.code, &request.code_size);
  if (hearth_indexer_result(indexer, a->output, &request.builder, &err) != HEARTH_OK)
    return nothing_written(a, indexer, &err);
  if (a->format->write(&request, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  hearth_tool_progress("");
  return a->quiet || !can_be_read_back(a) ? HEARTH_EXIT_OK : index_print_summary(a->output);
}

int hearth_cmd_index(int argc, char **argv) {
  arguments a = {.command = argv[0], .format = &hearth_output_formats[0]};
  int code = HEARTH_EXIT_OK;
  if (index_parse(argc, argv, &a, &code)) {
    hearth_output_guard();
    hearth_indexer_options settings = {.context = &a,
                                       .note = index_on_note,
                                       .symbols = a.symbols,
                                       .full_recursion = a.full_recursion,
                                       .skip_failing = a.failure != FAIL_IF_ANY,
                                       .unrecorded = a.unrecorded};
    hearth_indexer *indexer;
    hearth_error err;
    code = hearth_indexer_create(&settings, &indexer, &err) == HEARTH_OK ? merge_all(&a, indexer)
                                                                         : hearth_tool_error("%s", err.message);
    hearth_indexer_destroy(indexer);
  }
  input_list_free(&a.inputs);
  free(a.binaries.rows);
  free(a.debug_directories.rows);
  return code;
}
