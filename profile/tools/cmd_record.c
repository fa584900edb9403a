/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth record`: run an unchanged program, with the runtime preloaded.
 *
 * The command takes this process's place: input, output, exit and process id are its own. With --show or --report it is a
 * child, whose profile is then indexed and shown by this program's other verbs. */
#define _GNU_SOURCE /* setenv under strict C */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attached_process.h"
#include "command_line.h"
#include "commands.h"
#include "install_paths.h"

/* A program that takes this process's place, as it is, with a library of the installation preloaded. */

typedef struct hearth_preloaded {
  char program[PATH_MAX], library[PATH_MAX + 32];
} hearth_preloaded;

enum { EXIT_REFUSED = 125, EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* The library comes first, before those that are preloaded anyway. */
static bool preload(const char *library) {
  const char *others = getenv("LD_PRELOAD");
  bool any = others && *others;
  size_t size = strlen(library) + (any ? strlen(others) : 0) + 2;
  char *all = malloc(size);
  if (!all)
    return false;
  snprintf(all, size, "%s%s%s", library, any ? ":" : "", any ? others : "");
  bool set = setenv("LD_PRELOAD", all, 1) == 0;
  free(all);
  return set;
}

static int cannot_run(const char *path, int error) {
  hearth_tool_error("%s: %s", path, strerror(error));
  return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}

/* Prints the message; returns 125. */
static int hearth_preloaded_refuse(const char *format, ...) {
  char text[2 * PATH_MAX];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  hearth_tool_error("%s", text);
  return EXIT_REFUSED;
}

static int find_library(const char *library, hearth_preloaded *ret) {
  char directory[PATH_MAX];
  if (!hearth_tool_library_directory(directory, sizeof directory))
    return hearth_preloaded_refuse("the directory of the installation cannot be told");
  snprintf(ret->library, sizeof ret->library, "%s/%s", directory, library);
  if (access(ret->library, R_OK) != 0)
    return hearth_preloaded_refuse("%s: %s (is the installation complete?)", ret->library, strerror(errno));
  if (strpbrk(ret->library, ": "))
    return hearth_preloaded_refuse("%s: a path with blanks or colons cannot be preloaded; move it", ret->library);
  return HEARTH_EXIT_OK;
}

/* The file of `command`, and that library. HEARTH_EXIT_OK; after a message, else: 125 it cannot be preloaded there, 126 the command
 * cannot be run, 127 it does not exist. */
static int hearth_preloaded_find(const char *command, const char *library, hearth_preloaded *ret) {
  char reason[1024];
  if (!hearth_program_find(command, ret->program, sizeof ret->program))
    return cannot_run(command, errno);
  if (!hearth_program_can_preload(ret->program, reason, sizeof reason))
    return hearth_preloaded_refuse("%s", reason);
  return find_library(library, ret);
}

/* Run it with the library, with this environment variable (NULL: none), and argv[0] as the command. Returns only
 * if that fails: 125 or 126. */
static int hearth_preloaded_start(const hearth_preloaded *program, const char *variable, const char *value,
                                  char **argv) {
  if (!preload(program->library) || (variable && setenv(variable, value, 1) != 0))
    return hearth_preloaded_refuse("out of memory");
  execvp(argv[0], argv);
  hearth_tool_error("%s: %s", program->program, strerror(errno));
  return EXIT_NOT_RUN;
}

static const hearth_help help = {
    .usage =
        "record [-o FILE] [OPTION...] [--] COMMAND [ARGUMENT...]\n       hearth record [-o FILE] [OPTION...] --pid=PID",
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
  const char *page;   /* of --report; NULL: named after the command */
  const struct mode *mode;
  hearth_number_option sample, depth, period, pid;
  bool follow_children, verbose, quiet, residency, accesses, shows, reports;
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

static bool describe(const request *request, pid_t pid, settings *ret) {
  char standard[32];
  *ret = (settings){.length = 0};
  snprintf(standard, sizeof standard, "%%e.%s", request->mode->suffix);
  if (!add_path(ret, request->output ? request->output : standard))
    return false;
  add(ret, ":mode=%s%s", request->mode->name, request->mode->settings);
  if (request->output)
    add(ret, ":plain_pid=%d", (int)pid);
  if (!request->quiet && !request->pid.given)
    add(ret, ":tell_pid=%d:tell_file=%d", (int)pid, !request->shows && !request->reports);
  if (request->sample.given)
    add(ret, ":sample=%" PRIu64, request->sample.value);
  if (request->accesses)
    add(ret, ":accesses=pages");
  if (request->depth.given)
    add(ret, ":stack_depth=%" PRIu64, request->depth.value);
  if (request->period.given)
    add(ret, ":dump_interval=%" PRIu64 ".%03" PRIu64, request->period.value / 1000, request->period.value % 1000);
  add(ret, ":residency=%d", request->residency);
  if (request->pid.given)
    add(ret, ":handle_signals=0:dump_signal=0");
  add(ret, ":follow_children=%d:verbosity=%d", request->follow_children, request->verbose);
  return true;
}

static int run(const request *request, char **argv) {
  hearth_preloaded program;
  settings settings;
  int code = hearth_preloaded_find(argv[0], "libhearth_preload.so", &program);
  if (code != HEARTH_EXIT_OK)
    return code;
  if (!describe(request, getpid(), &settings))
    return hearth_preloaded_refuse("%s: the name is too long, or has quotes of both kinds", request->output);
  return hearth_preloaded_start(&program, "HEARTH_RECORD", settings.text, argv);
}

/* -------------------------------------------------- in one step -------------------------------------------------- */

extern char **environ;

static volatile sig_atomic_t child;

static void pass_on(int number) {
  if (child > 0)
    kill((pid_t)child, number);
}

/* Its exit code, as a shell has it. What the terminal sends reaches the child by itself; what others send is passed on. */
static int await_child(pid_t pid, struct rusage *ret_usage) {
  int status;
  child = pid;
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  signal(SIGTERM, pass_on);
  signal(SIGHUP, pass_on);
  while (wait4(pid, &status, 0, ret_usage) < 0)
    if (errno != EINTR)
      return hearth_preloaded_refuse("cannot wait for the command: %s", strerror(errno));
  child = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Another verb of this program. */
static int run_verb(char **argv, bool is_silent) {
  posix_spawn_file_actions_t actions;
  pid_t pid;
  int status = 0;
  posix_spawn_file_actions_init(&actions);
  if (is_silent)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  int error = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    return hearth_tool_error("hearth %s: %s", argv[1], strerror(error));
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(status) ? WEXITSTATUS(status) : HEARTH_EXIT_ERROR;
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

/* As the runtime names them, nothing is replaced. */
static bool name_files(const request *request, const char *command, pid_t pid, shown_files *ret) {
  char folder[PATH_MAX / 2];
  const char *slash = strrchr(command, '/'), *name = slash ? slash + 1 : command;
  size_t size = sizeof ret->raw;
  find_state_folder(folder, sizeof folder);
  bool fits = (size_t)snprintf(ret->profile, size, "%s/%s.%d.prof", folder, name, (int)pid) < size;
  if (!request->output)
    fits &= (size_t)snprintf(ret->raw, size, "%s/%s.%d.profraw", folder, name, (int)pid) < size;
  else
    fits &= (size_t)snprintf(ret->raw, size, "%s", request->output) < size;
  for (int i = 2; request->output && fits && access(ret->raw, F_OK) == 0; i++)
    fits = (size_t)snprintf(ret->raw, size, "%s.%d", request->output, i) < size;
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
    return hearth_preloaded_refuse("%s: the name is too long", argv[0]);
  request.output = raw;
  pid_t pid = fork();
  if (pid == 0)
    exit(run(&request, argv));
  if (pid < 0)
    return hearth_preloaded_refuse("cannot start the command: %s", strerror(errno));
  int code = await_child(pid, &usage);
  if (access(files.raw, R_OK) != 0)
    return code ? code : hearth_preloaded_refuse("%s: no profile was written", files.raw);
  int shown = show_files(given, &files);
  return code ? code : shown;
}

/* -------------------------------------------------- a program that runs -------------------------------------------------- */

static const shown_files *attached_files;

static void tell_nothing(void) {}

static void tell_begun(void) { fprintf(stderr, "hearth: recording to %s; ^C ends it\n", attached_files->raw); }

/* The process has another working directory. */
static bool name_trace(const request *request, const char *name, pid_t pid, shown_files *ret) {
  char folder[PATH_MAX / 2] = "";
  size_t size = sizeof ret->raw;
  if ((!request->output || *request->output != '/') && !getcwd(folder, sizeof folder))
    return false;
  int length = request->output ? snprintf(ret->raw, size - 8, "%s%s%s", folder, *folder ? "/" : "", request->output)
                               : snprintf(ret->raw, size - 8, "%s/%s.%d.trace", folder, name, (int)pid);
  bool fits = length > 0 && (size_t)length < size - 8;
  for (int i = 2; fits && i < 1000 && access(ret->raw, F_OK) == 0; i++)
    snprintf(ret->raw + length, 8, ".%d", i);
  return fits;
}

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
  settings settings;
  hearth_preloaded library;
  int code = find_library("libhearth_preload.so", &library);
  if (code != HEARTH_EXIT_OK)
    return code;
  snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
  FILE *comm = fopen(path, "re");
  if (comm && fgets(name, sizeof name, comm))
    name[strcspn(name, "\n/")] = '\0';
  if (comm)
    fclose(comm);
  request.mode = &modes[1];
  if (!name_files(given, name, pid, &files) || !name_trace(given, name, pid, &files) ||
      !escape(files.raw, raw, sizeof raw))
    return hearth_preloaded_refuse("%s: the name is too long", name);
  request.output = raw;
  if (!describe(&request, pid, &settings))
    return hearth_preloaded_refuse("%s: the name is too long, or has quotes of both kinds", files.raw);
  attached_files = &files;
  code = hearth_process_record(pid, library.library, settings.text, given->quiet ? tell_nothing : tell_begun);
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

/* Profiles are renamed to their place, and nothing there is replaced. */
static bool is_for_profile(const char *path) {
  struct stat info;
  return stat(path, &info) != 0 || S_ISREG(info.st_mode) || (lstat(path, &info) == 0 && S_ISCHR(info.st_mode));
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

static int check(const request *request, int operands) {
  if (request->pid.given)
    return check_attached(request, operands);
  if (operands == 0)
    return hearth_tool_usage_error("record", "which command?");
  if (request->output && !is_for_profile(request->output))
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
                     .depth = {.least = 1, .most = 255},
                     .period = {.least = 1, .most = 4000000000},
                     .pid = {.least = 1, .most = INT_MAX}};
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
       .take = hearth_tool_take_number,
       .target = &request.pid,
       .help = "record a program that runs already, until ^C or its end: a trace of the blocks that it allocates from "
               "now on "
               "(default: COMMAND.PID.trace). It takes the rights of a debugger"},
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
      {.name = "--show",
       .flag = &request.shows,
       .help =
           "when the command has ended, index the profile and print the listing of 'hearth show'. The profile is kept "
           "in $XDG_STATE_HOME/hearth (~/.local/state/hearth)"},
      {.name = "--report",
       .value = "[=FILE]",
       .expects = "a file",
       .take = take_page,
       .target = &request,
       .help = "the same, and write the page of 'hearth report' to FILE (default: COMMAND.PID.html)"},
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
  if (request.pid.given)
    return record_attached(&request, (pid_t)request.pid.value);
  argv[operands + 1] = NULL;
  return request.shows || request.reports ? run_and_show(&request, argv + 1) : run(&request, argv + 1);
}

/* `hearth run`: run an unchanged program with Hearth's allocator preloaded. The command takes this process's place: input,
 * output, exit and process id are its own. */

static const hearth_help run_help = {
    .usage = "run [OPTION...] [--] COMMAND [ARGUMENT...]",
    .about = "Run a dynamically linked program as it is, with Hearth's allocator.",
    .end =
        "HEARTH_MALLOC takes options of the allocator. Programs that the command starts inherit both.\n"
        "Exit code: the command's; 125 the allocator is not installed, 126 the command cannot be run, 127 it does not "
        "exist; 2 wrong usage."};

/* What is gained, a run without the allocator would tell; `hearth tune` measures it. */
static int run_and_tell(const hearth_preloaded *program, char **argv) {
  struct rusage usage;
  pid_t pid = fork();
  if (pid == 0)
    exit(hearth_preloaded_start(program, NULL, NULL, argv));
  if (pid < 0)
    return hearth_preloaded_refuse("cannot start the command: %s", strerror(errno));
  int code = await_child(pid, &usage);
  if (code >= EXIT_REFUSED && code <= EXIT_NOT_FOUND)
    return code;
  double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  fprintf(stderr, "hearth: %s ran with Hearth's allocator: %.2f s of processor time, at most %.1f MiB in memory\n",
          argv[0], seconds, (double)usage.ru_maxrss / 1024);
  return code;
}

int hearth_cmd_run(int argc, char **argv) {
  bool tells = isatty(STDERR_FILENO), is_quiet = false;
  const hearth_option options[] = {
      {.name = "--verbose",
       .letter = 'v',
       .flag = &tells,
       .help = "when the command has ended, say on standard error what it took; on a terminal, this is the default"},
      {.name = "--quiet", .letter = 'q', .flag = &is_quiet, .help = "say nothing"},
      {0}};
  hearth_preloaded program;
  int operands, code;
  if (!hearth_tool_parse_command(options, &run_help, argc, argv, &operands, &code))
    return code;
  if (operands == 0)
    return hearth_tool_usage_error("run", "which command?");
  argv[operands + 1] = NULL;
  code = hearth_preloaded_find(argv[1], "libhearth_malloc.so", &program);
  if (code != HEARTH_EXIT_OK)
    return code;
  return tells && !is_quiet ? run_and_tell(&program, argv + 1) : hearth_preloaded_start(&program, NULL, NULL, argv + 1);
}
