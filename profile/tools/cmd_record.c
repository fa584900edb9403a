/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth record`: run an unchanged program, with the runtime preloaded.
 *
 * The command takes this process's place: input, output, exit and process id are its own. */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command_line.h"
#include "commands.h"
#include "preloaded_program.h"

static const hearth_help help = {
    .usage = "record [-o FILE] [OPTION...] [--] COMMAND [ARGUMENT...]",
    .about =
        "Run a dynamically linked program as it is, and write a raw heap profile when it ends, for 'hearth index'. "
        "Accesses are estimated with --accesses; to count them needs a program built with the flags of 'hearth flags "
        "instrument'.",
    .end = "HEARTH_OPTIONS takes further options of the runtime; 'command=off' keeps the command line out of the "
           "profile.\n"
           "Exit code: the command's; 125 it cannot be recorded, 126 it cannot be run, 127 it does not exist; 2 wrong "
           "usage."};

static const struct mode {
  const char *name, *suffix, *settings;
  bool is_live, samples;
} modes[] = {{.name = "aggregate", .suffix = "profraw", .settings = "", .samples = true},
             {.name = "trace", .suffix = "trace", .settings = ":recursion=full"}, /* a trace keeps all events */
             {.name = "live", .suffix = "heap", .settings = "", .is_live = true, .samples = true}};

typedef struct request {
  const char *output; /* NULL: named after the command */
  const char *pid;    /* NULL: not given */
  const struct mode *mode;
  hearth_number_option sample, depth, period;
  bool follow_children, verbose, quiet, residency, accesses;
} request;

/* Settings of the runtime, as it reads them. */
typedef struct settings {
  char text[PATH_MAX + 512];
  size_t length;
} settings;

static void add(settings *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(settings *to, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int printed = vsnprintf(to->text + to->length, sizeof to->text - to->length, format, arguments);
  va_end(arguments);
  to->length += printed > 0 ? (size_t)printed : 0;
}

/* A value may be in quotes of either kind, and not hold these. */
static bool add_path(settings *to, const char *path) {
  char quote = strchr(path, '\'') ? '"' : '\'';
  if (strchr(path, quote) || strlen(path) >= PATH_MAX)
    return false;
  add(to, "log_path=%c%s%c", quote, path, quote);
  return true;
}

static bool describe(const request *request, settings *ret) {
  char standard[32];
  *ret = (settings){.length = 0};
  snprintf(standard, sizeof standard, "%%e.%s", request->mode->suffix);
  if (!add_path(ret, request->output ? request->output : standard))
    return false;
  add(ret, ":mode=%s%s", request->mode->name, request->mode->settings);
  if (request->output)
    add(ret, ":plain_pid=%d", (int)getpid());
  if (!request->quiet)
    add(ret, ":tell_pid=%d", (int)getpid());
  if (request->sample.given)
    add(ret, ":sample=%" PRIu64, request->sample.value);
  if (request->accesses)
    add(ret, ":accesses=pages");
  if (request->depth.given)
    add(ret, ":stack_depth=%" PRIu64, request->depth.value);
  if (request->period.given)
    add(ret, ":dump_interval=%" PRIu64 ".%03" PRIu64, request->period.value / 1000, request->period.value % 1000);
  add(ret, ":residency=%d", request->residency);
  add(ret, ":follow_children=%d:verbosity=%d", request->follow_children, request->verbose);
  return true;
}

static int run(const request *request, char **argv) {
  hearth_preloaded program;
  settings settings;
  int code = hearth_preloaded_find(argv[0], "libhearth_preload.so", &program);
  if (code != HEARTH_EXIT_OK)
    return code;
  if (!describe(request, &settings))
    return hearth_preloaded_refuse("%s: the name is too long, or has quotes of both kinds", request->output);
  return hearth_preloaded_start(&program, "HEARTH_RECORD", settings.text, argv);
}

static int take_mode(void *target, const char *value) {
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
    if (strcmp(modes[i].name, value) == 0) {
      *(const struct mode **)target = &modes[i];
      return HEARTH_EXIT_OK;
    }
  return HEARTH_OPTION_UNUSABLE;
}

/* Profiles are renamed to their place, and nothing there is replaced. */
static bool is_for_profile(const char *path) {
  struct stat info;
  return stat(path, &info) != 0 || S_ISREG(info.st_mode) || (lstat(path, &info) == 0 && S_ISCHR(info.st_mode));
}

static int check(const request *request, int operands) {
  if (request->pid)
    return hearth_tool_usage_error(
        "record",
        "--pid: a program that runs already cannot be recorded, since its blocks were allocated "
        "by another malloc; start it with 'hearth record --mode=live', then 'hearth dump %s' "
        "shows its heap at any time",
        request->pid);
  if (operands == 0)
    return hearth_tool_usage_error("record", "which command?");
  if (request->output && !is_for_profile(request->output))
    return hearth_tool_usage_error("record", "-o %s: neither a file nor a device such as /dev/null", request->output);
  if (request->sample.given && !request->mode->samples)
    return hearth_tool_usage_error("record", "--sample does not go with --mode=%s: a trace has every operation",
                                   request->mode->name);
  if (request->accesses && request->mode != &modes[0])
    return hearth_tool_usage_error("record", "--accesses goes with --mode=aggregate");
  if ((request->period.given || request->residency) && !request->mode->is_live)
    return hearth_tool_usage_error("record", "--period and --residency go with --mode=live");
  return HEARTH_EXIT_OK;
}

int hearth_cmd_record(int argc, char **argv) {
  request request = {.mode = &modes[0],
                     .sample = {.least = 1, .most = 1000000000},
                     .depth = {.least = 1, .most = 255},
                     .period = {.least = 1, .most = 4000000000}};
  const hearth_option options[] = {
      {.name = "--output",
       .letter = 'o',
       .value = "FILE",
       .expects = "a file",
       .text = &request.output,
       .help = "the profile (default: COMMAND.profraw.PID); if FILE exists, FILE.2 and so on; patterns: %e program's "
               "name, %p process id, %m build id, %h host, %u number of the start, %% a per cent sign"},
      {.name = "--mode",
       .value = "MODE",
       .expects = "aggregate, trace or live",
       .take = take_mode,
       .target = &request.mode,
       .help = "kind of recording:\n"
               "  aggregate  one record for each context (default)\n"
               "  trace      one record for each operation, for 'hearth trace' and 'hearth index' (default file: "
               "COMMAND.trace.PID)\n"
               "  live       heap dumps of the live blocks, for 'hearth heap': FILE.1, FILE.2 and so on, the last one "
               "at the end (default: COMMAND.heap.PID.1), and FILE.peak at the peak; 'hearth dump PID' asks for one"},
      {.name = "--pid",
       .letter = 'p',
       .value = "PID",
       .expects = "a process id",
       .text = &request.pid,
       .help = "refused: a program is recorded from its start on"},
      {.name = "--period",
       .value = "SECONDS",
       .expects = "a number of seconds from 0.001 to 4000000",
       .take = hearth_tool_take_seconds,
       .target = &request.period,
       .help = "with --mode=live: a heap dump each so many seconds"},
      {.name = "--residency",
       .flag = &request.residency,
       .help = "with --mode=live: count the bytes in memory, swapped out, and not written to since the dump before"},
      {.name = "--sample",
       .value = "BYTES",
       .expects = "a number of bytes from 1 to 1000000000",
       .take = hearth_tool_take_number,
       .target = &request.sample,
       .help = "record one block for each so many allocated bytes, on average: sums are estimates"},
      {.name = "--accesses",
       .flag = &request.accesses,
       .help = "estimate from looks at pages which contexts are hot and which are cold; records one block for each "
               "262144 bytes unless --sample says another number"},
      {.name = "--depth",
       .value = "N",
       .expects = "a number from 1 to 255",
       .take = hearth_tool_take_number,
       .target = &request.depth,
       .help = "keep N addresses of each call stack, innermost first (default: 64)"},
      {.name = "--follow-children",
       .flag = &request.follow_children,
       .help = "record child processes too, and the programs that they run: each in a file FILE.PID or, without -o, in "
               "one named after its program"},
      {.name = "--verbose",
       .letter = 'v',
       .flag = &request.verbose,
       .help = "print the path of each profile to standard error, also of children"},
      {.name = "--quiet",
       .letter = 'q',
       .flag = &request.quiet,
       .help = "do not print at the end where the profile is and which command shows it"},
      {0}};
  int operands, code;
  if (!hearth_tool_parse_command(options, &help, argc, argv, &operands, &code))
    return code;
  code = check(&request, operands);
  if (code != HEARTH_EXIT_OK)
    return code;
  argv[operands + 1] = NULL;
  return run(&request, argv + 1);
}
