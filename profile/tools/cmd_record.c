/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth record`: run an unchanged program, with the runtime preloaded.
 *
 * The command takes this process's place: input, output, exit and process id are its own. With --show or --report it
 * is a child, whose profile is then indexed and shown by this program's other verbs. */
#define _GNU_SOURCE /* setenv under strict C */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

static const hearth_help help = {
    .usage =
        "record [-o FILE] [OPTION...] [--] COMMAND [ARGUMENT...]\n       hearth record [-o FILE] [OPTION...] --pid=PID",
    .about =
        "Run a dynamically linked program as it is, and write a raw heap profile when it ends, for 'hearth index'. "
        "Accesses are estimated with --accesses; to count them needs a program built with the flags of 'hearth flags "
        "instrument'.",
    .end = "HEARTH_OPTIONS takes further options of the runtime, as stack_depth=N, or verbosity=1 to print the path of "
           "each "
           "profile; 'command=off' keeps the command line out of the profile.\n"
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
  const char *page;   /* of --report; NULL: named after the command */
  const struct mode *mode;
  hearth_number_option sample, period, pid;
  bool follow_children, quiet, residency, accesses, shows, reports;
} request;

/* A value may be in quotes of either kind, and not hold these. */
static bool add_path(FILE *to, const char *path) {
  char quote = strchr(path, '\'') ? '"' : '\'';
  if (strchr(path, quote) || strlen(path) >= PATH_MAX)
    return false;
  return fprintf(to, "log_path=%c%s%c", quote, path, quote) > 0;
}

/* Settings of the runtime, as it reads them; to be freed. NULL: the path does not fit. */
static char *describe(const request *request, pid_t pid) {
  char standard[32], *text = NULL;
  size_t length;
  FILE *to = open_memstream(&text, &length);
  if (!to)
    return NULL;
  snprintf(standard, sizeof standard, "%%e.%s", request->mode->suffix);
  bool fits = add_path(to, request->output ? request->output : standard);
  fprintf(to, ":mode=%s%s", request->mode->name, request->mode->settings);
  if (request->output)
    fprintf(to, ":plain_pid=%d", (int)pid);
  if (!request->quiet && !request->pid.given)
    fprintf(to, ":tell_pid=%d:tell_file=%d", (int)pid, !request->shows && !request->reports);
  if (request->sample.given)
    fprintf(to, ":sample=%" PRIu64, request->sample.value);
  if (request->accesses)
    fprintf(to, ":accesses=pages");
  if (request->period.given)
    fprintf(to, ":dump_interval=%" PRIu64 ".%03" PRIu64, request->period.value / 1000, request->period.value % 1000);
  fprintf(to, ":residency=%d", request->residency);
  if (request->pid.given)
    fprintf(to, ":handle_signals=0:dump_signal=0");
  fprintf(to, ":follow_children=%d", request->follow_children);
  if (fclose(to) == 0 && fits)
    return text;
  free(text);
  return NULL;
}

static bool is_device(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0 && S_ISCHR(info.st_mode);
}

/* Where nothing can be written, the run would be for nothing. The runtime makes missing folders, and fills in patterns. */
static int record_command_check_folder(const char *output) {
  char folder[PATH_MAX + 2];
  snprintf(folder, PATH_MAX, "%s", output ? output : "");
  while (!is_device(folder) && !strchr(folder, '%')) {
    char *slash = strrchr(folder, '/');
    strcpy(slash ? slash : folder, slash ? "/." : ".");
    if (access(folder, W_OK) == 0)
      break;
    if (errno != ENOENT || !slash)
      return HEARTH_REFUSE("%s: cannot be written: %s; name another file with -o",
                           output ? output : "the working directory", strerror(errno));
    *slash = '\0';
  }
  return HEARTH_EXIT_OK;
}

static int record_command_run(const request *request, char **argv) {
  hearth_preload_path library;
  int code = hearth_preloaded_find(argv[0], "libhearth_preload.so", library);
  if (code == HEARTH_EXIT_OK)
    code = record_command_check_folder(request->output);
  if (code != HEARTH_EXIT_OK)
    return code;
  const char *settings = describe(request, getpid());
  if (!settings)
    return HEARTH_REFUSE("%s: the name is too long, or has quotes of both kinds", request->output);
  return hearth_preloaded_start(library, "HEARTH_RECORD", settings, argv);
}

/* -------------------------------------------------- in one step -------------------------------------------------- */

/* Another verb of this program. */
static int run_verb(char **argv, bool is_silent) {
  struct rusage usage;
  pid_t pid = fork();
  if (pid == 0) {
    if (!is_silent || freopen("/dev/null", "w", stdout))
      execv("/proc/self/exe", argv);
    _exit(hearth_tool_error("hearth %s: %s", argv[1], strerror(errno)));
  }
  return hearth_preloaded_await(pid, &usage);
}

/* The folder of the XDG base directory specification for what a program keeps between runs; without a home, this one. */
static void find_state_folder(char *ret, size_t size) {
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  bool is_given = state && *state == '/';
  snprintf(ret, size, "%s%s/hearth", is_given ? state : home ? home : ".", is_given || !home ? "" : "/.local/state");
  for (char *slash = strchr(ret + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(ret, 0700);
    *slash = '/';
  }
  if (mkdir(ret, 0700) != 0 && errno != EEXIST)
    snprintf(ret, size, ".");
}

typedef struct shown_files {
  char raw[PATH_MAX], profile[PATH_MAX], page[PATH_MAX];
} shown_files;

/* As the runtime names them, nothing is replaced. The raw file's path is whole: a process that runs has a folder of
 * its own. */
static bool name_files(const request *request, const char *command, pid_t pid, shown_files *ret) {
  char state[PATH_MAX / 2], here[PATH_MAX / 2];
  const char *slash = strrchr(command, '/'), *name = slash ? slash + 1 : command, *output = request->output;
  bool is_whole = output && *output == '/', attaches = request->pid.given;
  size_t size = sizeof ret->raw, most = size - sizeof ".1000";
  find_state_folder(state, sizeof state);
  if (!getcwd(here, sizeof here))
    return false;
  int length = output ? snprintf(ret->raw, most, "%s%s%s", is_whole ? "" : here, is_whole ? "" : "/", output)
                      : snprintf(ret->raw, most, "%s/%s.%d.%s", attaches ? here : state, name, (int)pid,
                                 attaches ? "trace" : "profraw");
  bool fits = length > 0 && (size_t)length < most;
  for (int i = 2; fits && i < 1000 && access(ret->raw, F_OK) == 0; i++)
    snprintf(ret->raw + length, sizeof ".1000", ".%d", i);
  fits &= (size_t)snprintf(ret->profile, size, "%s/%s.%d.prof", state, name, (int)pid) < size;
  if (request->page)
    return fits && (size_t)snprintf(ret->page, size, "%s", request->page) < size;
  return fits && (size_t)snprintf(ret->page, size, "%s.%d.html", name, (int)pid) < size;
}

/* A name, not a pattern. */
static bool escape(const char *path, char *ret, size_t size) {
  size_t length = 0;
  for (; *path && length + 2 < size; path++) {
    ret[length++] = *path;
    if (*path == '%')
      ret[length++] = '%';
  }
  ret[length] = '\0';
  return !*path;
}

static int show_files(const request *request, const shown_files *files) {
  int code = run_verb(
      (char *[]){"hearth", "index", "--symbols", (char *)files->raw, "-o", (char *)files->profile, NULL}, true);
  if (code != HEARTH_EXIT_OK)
    return hearth_tool_error("%s: is not shown", files->raw);
  if (!request->output)
    unlink(files->raw);
  if (request->shows)
    code = run_verb((char *[]){"hearth", "show", (char *)files->profile, NULL}, false);
  if (request->reports && code == HEARTH_EXIT_OK)
    code = run_verb((char *[]){"hearth", "report", (char *)files->profile, "-o", (char *)files->page, NULL}, false);
  if (code != HEARTH_EXIT_OK || request->quiet)
    return code;
  if (request->reports)
    fprintf(stderr, "hearth: the page is %s\n", files->page);
  fprintf(stderr, "hearth: the profile is %s, for 'hearth show', 'advise', 'diff', 'export' and 'report'\n",
          files->profile);
  return code;
}

/* The command's exit code counts, unless it is 0. */
static int run_and_show(const request *given, char **argv) {
  request request = *given;
  static shown_files files;
  static char raw[PATH_MAX];
  struct rusage usage;
  if (!name_files(given, argv[0], getpid(), &files) || !escape(files.raw, raw, sizeof raw))
    return HEARTH_REFUSE("%s: the name is too long", argv[0]);
  request.output = raw;
  pid_t pid = fork();
  if (pid == 0)
    exit(record_command_run(&request, argv));
  int code = hearth_preloaded_await(pid, &usage);
  if (access(files.raw, R_OK) != 0)
    return code ? code : HEARTH_REFUSE("%s: no profile was written", files.raw);
  int shown = show_files(given, &files);
  return code ? code : shown;
}

/* -------------------------------------------------- a program that runs -------------------------------------------------- */

static const shown_files *attached_files;

static void record_command_tell_nothing(void) {}

static void tell_begun(void) { fprintf(stderr, "hearth: recording to %s; ^C ends it\n", attached_files->raw); }

static void tell_trace(const request *request, const shown_files *files) {
  fprintf(stderr, "hearth: the trace is %s\n", files->raw);
  if (!request->shows && !request->reports)
    fprintf(stderr, "hearth: to see it: hearth report %s -o report.html\n", files->raw);
}

static int record_attached(const request *given, pid_t pid) {
  static shown_files files;
  static char raw[PATH_MAX];
  char path[64], name[64] = "";
  request request = *given;
  hearth_preload_path library;
  int code = hearth_preload_find("libhearth_preload.so", library);
  if (code != HEARTH_EXIT_OK)
    return code;
  snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
  FILE *comm = fopen(path, "re");
  if (comm && fgets(name, sizeof name, comm))
    name[strcspn(name, "\n/")] = '\0';
  if (comm)
    fclose(comm);
  request.mode = &modes[1];
  if (!name_files(given, name, pid, &files) || !escape(files.raw, raw, sizeof raw))
    return HEARTH_REFUSE("%s: the name is too long", name);
  request.output = raw;
  const char *settings = describe(&request, pid);
  if (!settings)
    return HEARTH_REFUSE("%s: the name is too long, or has quotes of both kinds", files.raw);
  attached_files = &files;
  code = hearth_process_record(pid, library, settings, given->quiet ? record_command_tell_nothing : tell_begun);
  if (code != HEARTH_EXIT_OK)
    return EXIT_REFUSED;
  if (!given->quiet)
    tell_trace(given, &files);
  return given->shows || given->reports ? show_files(&request, &files) : HEARTH_EXIT_OK;
}

/* -------------------------------------------------- options -------------------------------------------------- */

static int take_page(void *target, const char *value) {
  request *request = target;
  request->reports = true;
  request->page = value;
  return HEARTH_EXIT_OK;
}

static int take_mode(void *target, const char *value) {
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
    if (strcmp(modes[i].name, value) == 0) {
      *(const struct mode **)target = &modes[i];
      return HEARTH_EXIT_OK;
    }
  return HEARTH_OPTION_UNUSABLE;
}

static bool is_kept(const char *path) {
  struct stat info;
  return stat(path, &info) != 0 || S_ISREG(info.st_mode);
}

/* A trace is all that does not need the blocks to be the runtime's. */
static int check_attached(const request *request, int operands) {
  if (operands > 0)
    return hearth_tool_usage_error("record", "either a command or --pid");
  if (request->mode == &modes[2] || request->sample.given || request->accesses || request->follow_children)
    return hearth_tool_usage_error("record", "--pid writes a trace: --mode=live, --sample, --accesses and "
                                             "--follow-children need the program's start: hearth record -- COMMAND");
  if (request->output && !is_kept(request->output))
    return hearth_tool_usage_error("record", "-o %s: not a file", request->output);
  return HEARTH_EXIT_OK;
}

static int record_command_check(const request *request, int operands) {
  if (request->reports && !HEARTH_VIEWS)
    return hearth_tool_usage_error("record", "--report: this build leaves out 'report': build with -DHEARTH_VIEWS=ON");
  if (request->pid.given)
    return check_attached(request, operands);
  if (operands == 0)
    return hearth_tool_usage_error("record", "which command?");
  if (request->output && !is_kept(request->output) && !is_device(request->output))
    return hearth_tool_usage_error("record", "-o %s: neither a file nor a device such as /dev/null", request->output);
  if (request->sample.given && !request->mode->samples)
    return hearth_tool_usage_error("record", "--sample does not go with --mode=%s: a trace has every operation",
                                   request->mode->name);
  if (request->accesses && request->mode != &modes[0])
    return hearth_tool_usage_error("record", "--accesses goes with --mode=aggregate");
  if ((request->shows || request->reports) && request->mode != &modes[0])
    return hearth_tool_usage_error("record", "--show and --report go with --mode=aggregate");
  if ((request->shows || request->reports) && request->output &&
      (strchr(request->output, '%') || !is_kept(request->output)))
    return hearth_tool_usage_error("record", "--show and --report: -o %s is no plain name of a file", request->output);
  if ((request->period.given || request->residency) && !request->mode->is_live)
    return hearth_tool_usage_error("record", "--period and --residency go with --mode=live");
  return HEARTH_EXIT_OK;
}

int hearth_cmd_record(int argc, char **argv) {
  request request = {.mode = &modes[0],
                     .sample = {.least = 1, .most = 1000000000},
                     .period = {.least = 1, .most = 4000000000},
                     .pid = {.least = 1, .most = INT_MAX}};
  const hearth_option options[] = {
      HEARTH_TEXT(
          "--output", 'o', "FILE", "a file", &request.output,
          "the profile (default: COMMAND.profraw.PID); if FILE exists, FILE.2 and so on; patterns: %e program's "
          "name, %p process id, %m build id, %h host, %u number of the start, %% a per cent sign"),
      HEARTH_TAKE(
          "--mode", 0, "MODE", "aggregate, trace or live", take_mode, &request.mode,
          "kind of recording:\n"
          "  aggregate  one record for each context (default)\n"
          "  trace      one record for each operation, for 'hearth trace' and 'hearth index' (default file: "
          "COMMAND.trace.PID)\n"
          "  live       heap dumps of the live blocks, for 'hearth heap': FILE.1, FILE.2 and so on, the last one "
          "at the end (default: COMMAND.heap.PID.1), and FILE.peak at the peak; 'hearth dump PID' asks for one"),
      HEARTH_NUMBER(
          "--pid", 'p', "PID", "a process id", &request.pid,
          "record a program that runs already, until ^C or its end: a trace of the blocks that it allocates from "
          "now on "
          "(default: COMMAND.PID.trace). It takes the rights of a debugger"),
      HEARTH_TAKE("--period", 0, "SECONDS", "a number of seconds from 0.001 to 4000000", hearth_tool_take_seconds,
                  &request.period, "with --mode=live: a heap dump each so many seconds"),
      HEARTH_FLAG("--residency", 0, &request.residency,
                  "with --mode=live: count the bytes in memory, swapped out, and not written to since the dump before"),
      HEARTH_NUMBER("--sample", 0, "BYTES", "a number of bytes from 1 to 1000000000", &request.sample,
                    "record one block for each so many allocated bytes, on average: sums are estimates"),
      HEARTH_FLAG("--accesses", 0, &request.accesses,
                  "estimate from looks at pages which contexts are hot and which are cold; records one block for each "
                  "262144 bytes unless --sample says another number"),
      HEARTH_FLAG(
          "--show", 0, &request.shows,
          "when the command has ended, index the profile and print the listing of 'hearth show'. The profile is kept "
          "in $XDG_STATE_HOME/hearth (~/.local/state/hearth)"),
      HEARTH_TAKE("--report", 0, "[=FILE]", "a file", take_page, &request,
                  "the same, and write the page of 'hearth report' to FILE (default: COMMAND.PID.html)"),
      HEARTH_FLAG(
          "--follow-children", 0, &request.follow_children,
          "record child processes too, and the programs that they run: each in a file FILE.PID or, without -o, in "
          "one named after its program"),
      HEARTH_FLAG("--quiet", 'q', &request.quiet,
                  "do not print at the end where the profile is and which command shows it"),
      {0}};
  int operands, code;
  if (!hearth_tool_parse_command(options, &help, argc, argv, &operands, &code))
    return code;
  code = record_command_check(&request, operands);
  if (code != HEARTH_EXIT_OK)
    return code;
  if (request.pid.given)
    return record_attached(&request, (pid_t)request.pid.value);
  argv[operands + 1] = NULL;
  return request.shows || request.reports ? run_and_show(&request, argv + 1) : record_command_run(&request, argv + 1);
}
