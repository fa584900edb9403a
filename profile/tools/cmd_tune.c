/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth tune`: finds the layout of a profile's plan by running the program. */
#define _GNU_SOURCE /* asprintf, pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "print.h"
#include "tune_search.h"
#include "view_options.h"

static const hearth_help help = {
    .usage = "tune [OPTION]... PROFILE -- COMMAND [ARGUMENT...]",
    .about =
        "Find out which allocation calls are to have pools of their own: run the command, a program that was compiled "
        "with the profile, with one pool and with other layouts in turn, and write the best one into the profile. None "
        "is taken unless it is better than one pool beyond noise. Keep the machine idle meanwhile.",
    .end = "The command is run with its standard output thrown away; if standard input is a file, each run reads it.\n"
           "Other options of HEARTH_MALLOC stay. Exit code of --check: 1 if the layout does not gain."};

typedef struct arguments {
  const char *profile, *output;
  char **command;
  hearth_number_option runs;
  bool check, quiet;
} arguments;

static bool tune_parse(int argc, char **argv, arguments *a, int *ret_code) {
  const hearth_option options[] = {
      HEARTH_TEXT("--output", 'o', "OUT", "a file", &a->output,
                  "the profile to write; replaced whole, or left as it is (default: PROFILE)"),
      HEARTH_NUMBER("--runs", 0, "N", "a number from 10 to 1000", &a->runs,
                    "run the command at most N times (default 30)"),
      HEARTH_FLAG("--check", 0, &a->check,
                  "only compare the profile's layout with one pool: does it carry over to this command?"),
      HEARTH_FLAG("--quiet", 'q', &a->quiet, "print errors only, and the answer of --check"),
      {0}};
  int operands;
  a->runs = (hearth_number_option){.least = TUNE_RUNS_LEAST, .most = 1000, .value = 30};
  bool has_dashes = false; /* the command's own options are behind them */
  for (int i = 1; i < argc; i++)
    has_dashes |= strcmp(argv[i], "--") == 0;
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, ret_code))
    return false;
  const char *wrong = operands == 0                  ? "which profile?"
                      : !has_dashes || operands == 1 ? "which command? It is behind PROFILE and '--'"
                      : a->check && a->output        ? "--check writes nothing: -o is not for it"
                                                     : NULL;
  if (wrong) {
    *ret_code = hearth_tool_usage_error("tune", "%s", wrong);
    return false;
  }
  argv[operands + 1] = NULL;
  a->profile = argv[1];
  a->command = argv + 2;
  a->output = a->output ? a->output : a->profile;
  return true;
}

/* --------------------------------------------------- a run -------------------------------------------------- */

/* The layout is in the environment. A child starts with the memory of this process as its peak, which therefore has
 * to be small: the profile is closed by then. */

#define VARIABLE "HEARTH_MALLOC"

typedef struct tune_command {
  char **argv;         /* ends with NULL; borrowed */
  const char *options; /* the user's HEARTH_MALLOC; NULL: none */
  off_t input; /* where standard input begins, if that is a file, which each run reads anew; -1: runs have none */
  uint64_t peak_bytes; /* the most of all runs so far */
} tune_command;

static void tune_command_init(tune_command *ret, char **argv) {
  struct stat info;
  off_t at = fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
  *ret = (tune_command){.argv = argv, .options = getenv(VARIABLE), .input = at};
}

/* The user's options stay; of two layouts, the later one counts. E_NOMEM. */
static hearth_status set_options(const tune_command *command, const uint8_t *pools, const char *statistics,
                                 hearth_error *err) {
  char layout[HEARTH_POOLS_MAX + 1], *text;
  const char *own = command->options ? command->options : "";
  hearth_layout_print(pools, layout);
  int length = asprintf(&text, "%s%slayout=%s%s%s", own, *own ? ":" : "", layout, statistics ? ":stats=" : "",
                        statistics ? statistics : "");
  if (length < 0 || setenv(VARIABLE, text, 1) != 0)
    return hearth_error_nomem(err);
  free(text);
  return HEARTH_OK;
}

static void give_back_options(const tune_command *command) {
  if (command->options)
    setenv(VARIABLE, command->options, 1);
  else
    unsetenv(VARIABLE);
}

/* In the child. An error's number goes into the pipe, which is closed where the command starts. */
static _Noreturn void become(const tune_command *command, int error_pipe) {
  int input = command->input < 0 ? open("/dev/null", O_RDONLY) : STDIN_FILENO, output = open("/dev/null", O_WRONLY);
  if (input >= 0 && output >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0)
    execvp(command->argv[0], command->argv);
  int number = errno;
  _exit(write(error_pipe, &number, sizeof number) == sizeof number ? 127 : 126);
}

static double seconds_of(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

static double tune_run_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static hearth_status await(pid_t child, double start, tune_measurement *ret, hearth_error *err) {
  struct rusage usage;
  int status;
  while (wait4(child, &status, 0, &usage) < 0)
    if (errno != EINTR)
      return hearth_error_set(err, HEARTH_E_IO, "cannot wait for the command: %s", strerror(errno));
  *ret = (tune_measurement){.cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
                            .elapsed_s = tune_run_now() - start,
                            .peak_bytes = (uint64_t)usage.ru_maxrss * 1024,
                            .status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)};
  return HEARTH_OK;
}

static hearth_status tune_run_start(const tune_command *command, pid_t *ret, hearth_error *err) {
  int ends[2], number = 0;
  if (command->input >= 0 && lseek(STDIN_FILENO, command->input, SEEK_SET) < 0)
    return hearth_error_set(err, HEARTH_E_IO, "cannot read standard input again: %s", strerror(errno));
  if (pipe2(ends, O_CLOEXEC) != 0 || (*ret = fork()) < 0)
    return hearth_error_set(err, HEARTH_E_IO, "cannot start the command: %s", strerror(errno));
  if (*ret == 0)
    become(command, ends[1]);
  close(ends[1]);
  ssize_t bytes = read(ends[0], &number, sizeof number);
  close(ends[0]);
  if (bytes != sizeof number)
    return HEARTH_OK;
  waitpid(*ret, NULL, 0);
  return hearth_error_set(err, HEARTH_E_IO, "%s: cannot be run: %s", command->argv[0], strerror(number));
}

/* In a process of its own, so that neither this one nor the command has it in its peak. It is no matter if that fails. */
static void touch_memory(uint64_t bytes) {
  enum { PAGE_BYTES = 4096 };
  pid_t child = bytes > 0 ? fork() : -1;
  if (child > 0)
    waitpid(child, NULL, 0);
  if (child != 0)
    return;
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    _exit(1);
  madvise(memory, bytes, MADV_HUGEPAGE);
  for (uint64_t at = 0; at < bytes; at += PAGE_BYTES)
    memory[at] = 1;
  _exit(0);
}

/* Its standard output is thrown away. `statistics`: a file to which the allocator appends; NULL: none. E_IO: it
 * could not be run.
 *
 * As much memory as it took at most is written to before: the host of a virtual machine may have taken back what was
 * free, and getting a page again takes up to twenty times as long as clearing it. */
static hearth_status run_once(tune_command *command, const uint8_t pools[HEARTH_POOLS_MAX + 1], const char *statistics,
                              tune_measurement *ret, hearth_error *err) {
  touch_memory(command->peak_bytes);
  double begin = tune_run_now();
  pid_t child = -1;
  HEARTH_TRY(set_options(command, pools, statistics, err));
  hearth_status status = tune_run_start(command, &child, err);
  give_back_options(command);
  HEARTH_THEN(status, await(child, begin, ret, err));
  if (status == HEARTH_OK && ret->peak_bytes > command->peak_bytes)
    command->peak_bytes = ret->peak_bytes;
  return status;
}

/* ------------------------------------------------- statistics ----------------------------------------------- */

/* What the allocator of the processes of a run wrote. */
typedef struct tune_statistics {
  uint32_t processes;  /* that have the allocator */
  uint32_t pools;      /* a bit for each pool, 1 to 31, that got a block in a process with the plan */
  uint64_t other_plan; /* of a process that has pools by another plan; 0: there is none */
} tune_statistics;

/* Of a line as `HEARTH_MALLOC=stats=` has it: ..."pools":[{"pool":0,...,"placed":12},...]. */
static uint32_t pools_of(const char *line) {
  uint32_t pools = 0;
  const char *at = strstr(line, "\"pools\":[");
  while (at && (at = strstr(at, "{\"pool\":"))) {
    unsigned long pool = strtoul(at + strlen("{\"pool\":"), NULL, 10);
    const char *placed = strstr(at, "\"placed\":");
    if (placed && pool < HEARTH_POOLS_MAX && strtoull(placed + strlen("\"placed\":"), NULL, 10) > 0)
      pools |= UINT32_C(2) << pool;
    at = placed;
  }
  return pools;
}

static uint64_t plan_of(const char *line) {
  const char *at = strstr(line, "\"plan\":\"");
  return at ? strtoull(at + strlen("\"plan\":\""), NULL, 16) : 0;
}

static void add_process(const char *line, uint64_t plan, tune_statistics *sums) {
  uint64_t own = plan_of(line);
  sums->processes++;
  if (own == plan)
    sums->pools |= pools_of(line);
  else if (own)
    sums->other_plan = own;
}

/* E_IO. */
static hearth_status read_statistics(const char *path, uint64_t plan, tune_statistics *ret, hearth_error *err) {
  char *line = NULL;
  size_t room = 0;
  *ret = (tune_statistics){0};
  FILE *file = fopen(path, "r");
  if (!file && errno == ENOENT) /* no process has the allocator */
    return HEARTH_OK;
  if (!file)
    return hearth_error_set(err, HEARTH_E_IO, "%s: %s", path, strerror(errno));
  while (getline(&line, &room, file) > 0)
    add_process(line, plan, ret);
  free(line);
  fclose(file);
  return HEARTH_OK;
}

/* ---------------------------------------------------- runs -------------------------------------------------- */

/* What is kept of the profile while the command runs: it is closed, so that runs start with little memory. */
typedef struct tuning {
  arguments a;
  tune_command command;
  hearth_plan plan; /* `calls` are a copy; other tables are gone */
  hearth_plan_call calls[HEARTH_PLAN_CALLS_MAX];
  uint32_t runs;
  int first_status;
  bool has_error; /* it was told */
} tuning;

static bool tune_tell_error(tuning *t, const hearth_error *err) {
  hearth_tool_error("%s", err->message);
  t->has_error = true;
  return false;
}

static bool tune_run(tuning *t, const uint8_t *pools, const char *statistics, tune_measurement *ret) {
  char layout[HEARTH_POOLS_MAX + 1];
  hearth_error err;
  hearth_layout_print(pools, layout);
  if (run_once(&t->command, pools, statistics, ret, &err) != HEARTH_OK)
    return tune_tell_error(t, &err);
  t->first_status = t->runs++ ? t->first_status : ret->status;
  if (!t->a.quiet)
    fprintf(stderr, "hearth: run %" PRIu32 " of at most %" PRIu64 ": layout %s: %.3f s, %.3f s elapsed, %s\n", t->runs,
            t->a.runs.value, layout, ret->cpu_s, ret->elapsed_s, hearth_amount_bytes(ret->peak_bytes).c);
  if (t->runs == 1 && ret->status != 0)
    fprintf(stderr, "hearth: warning: %s: exit status %d: if that is a failure, its time tells nothing\n",
            t->a.command[0], ret->status);
  if (ret->status == t->first_status)
    return true;
  hearth_error_set(&err, HEARTH_E_IO, "with layout %s the command's exit status is %d, in the first run it was %d",
                   layout, ret->status, t->first_status);
  return tune_tell_error(t, &err);
}

static bool tune_command_measure(void *state, const uint8_t *pools, tune_measurement *ret) {
  return tune_run(state, pools, NULL, ret);
}

static void tell_unfit(const tuning *t, const tune_statistics *statistics) {
  const char *command = t->a.command[0], *profile = t->a.profile;
  if (statistics->other_plan)
    hearth_tool_error("%s: was compiled with another profile: its plan is %016" PRIx64 ", that of %s is %016" PRIx64,
                      command, statistics->other_plan, profile, t->plan.id);
  else
    hearth_tool_error(
        "%s: %s: compile and link it with this profile (HEARTH=use=PROFILE hearth-cc, or 'hearth flags use "
        "PROFILE')",
        command, statistics->processes ? "no block got a pool" : "runs without Hearth's allocator");
}

/* The first run, with a pool for each id: which of them get blocks? 0 after an error. */
static uint32_t find_used(tuning *t, const char *file) {
  uint8_t pools[HEARTH_POOLS_MAX + 1];
  tune_measurement unused;
  tune_statistics statistics;
  hearth_error err;
  hearth_layout_parse("calls", t->plan.call_count, t->plan.has_dormant, pools, NULL);
  if (!tune_run(t, pools, file, &unused))
    return 0;
  if (read_statistics(file, t->plan.id, &statistics, &err) != HEARTH_OK)
    tune_tell_error(t, &err);
  else if (!statistics.pools)
    tell_unfit(t, &statistics);
  return t->has_error ? 0 : statistics.pools;
}

static uint32_t find_used_ids(tuning *t) {
  char folder[] = "/tmp/hearth-tune.XXXXXX", file[sizeof folder + 8];
  if (!mkdtemp(folder)) {
    hearth_tool_error("%s: cannot be made", folder);
    return 0;
  }
  snprintf(file, sizeof file, "%s/stats", folder);
  uint32_t used = find_used(t, file);
  remove(file);
  remove(folder);
  return used;
}

/* --------------------------------------------------- results ------------------------------------------------ */

static double tune_saving(uint32_t ratio_ppm) { return (1e6 - (double)ratio_ppm) / 1e4; }

/* "5.3 % less time than with one pool (spread 1.4 %), 0.2 % more memory (spread 0.1 %), in 5 rounds" */
static void tune_describe(const hearth_plan_tuning *t, char *text, size_t size) {
  double time = tune_saving(t->time_ppm), memory = tune_saving(t->memory_ppm);
  snprintf(text, size,
           "%.1f %% %s time than with one pool (spread %.1f %%), %.1f %% %s memory (spread %.1f %%), in %" PRIu32
           " rounds",
           time < 0 ? -time : time, time < 0 ? "more" : "less", (double)t->time_spread_ppm / 1e4,
           memory < 0 ? -memory : memory, memory < 0 ? "more" : "less", (double)t->memory_spread_ppm / 1e4, t->rounds);
}

static int write_layout(const tuning *t, const char *layout, const hearth_plan_tuning *tuning) {
  hearth_error err;
  hearth_profile *profile;
  void *data = NULL;
  size_t size;
  if (hearth_profile_open(t->a.profile, &profile, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  hearth_status status = hearth_plan_set_layout(profile, layout, tuning, &data, &size, &err);
  hearth_profile_close(profile); /* the output may be the same file */
  HEARTH_THEN(status, hearth_output_write(t->a.output, data, size, &err));
  free(data);
  return status == HEARTH_OK ? HEARTH_EXIT_OK : hearth_tool_error("%s", err.message);
}

static int write_winner(const tuning *t, const tune_layout *winner) {
  char layout[HEARTH_POOLS_MAX + 1], text[256];
  hearth_plan_tuning tuning = hearth_tune_judge(winner);
  hearth_layout_print(winner->pools, layout);
  int code = write_layout(t, layout, &tuning);
  tune_describe(&tuning, text, sizeof text);
  if (code == HEARTH_EXIT_OK && !t->a.quiet)
    fprintf(stderr, "hearth: layout %s (%s): %s\nhearth: it is in %s: build the program with that profile again\n",
            layout, winner->idea, text, t->a.output);
  return code;
}

static void print_ideas(const tune_layout *ideas, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    char layout[HEARTH_POOLS_MAX + 1], text[256] = "not tried, for lack of runs";
    hearth_plan_tuning tuning = hearth_tune_judge(&ideas[i]);
    hearth_layout_print(ideas[i].pools, layout);
    if (ideas[i].rounds > 0)
      tune_describe(&tuning, text, sizeof text);
    fprintf(stderr, "hearth: layout %s (%s): %s\n", layout, ideas[i].idea, text);
  }
}

/* A layout that was found before, and does not gain, goes. */
static int keep_one_pool(const tuning *t) {
  char layout[HEARTH_POOLS_MAX + 1];
  hearth_layout_print(t->plan.pools, layout);
  bool had_one = strcmp(layout, "0") == 0;
  if (!t->a.quiet)
    fprintf(stderr, had_one ? "hearth: nothing is better than one pool: the profile stays as it is\n"
                            : "hearth: nothing is better than one pool, which the profile then has\n");
  return had_one && t->a.output == t->a.profile ? HEARTH_EXIT_OK : write_layout(t, "0", NULL);
}

static int tune(tuning *t) {
  uint32_t used = find_used_ids(t);
  tune_layout ideas[TUNE_IDEAS], winner;
  if (!used)
    return HEARTH_EXIT_ERROR;
  uint32_t count = hearth_tune_ideas(&t->plan, used, ideas);
  tune_search search = {.measure = tune_command_measure, .state = t, .runs_left = (uint32_t)t->a.runs.value - t->runs};
  bool found = hearth_tune_find(&search, ideas, count, &winner);
  if (t->has_error)
    return HEARTH_EXIT_ERROR;
  if (!t->a.quiet)
    print_ideas(ideas, count);
  return found ? write_winner(t, &winner) : keep_one_pool(t);
}

/* The answer is the result, on standard output. */
static int tune_command_check(tuning *t) {
  char layout[HEARTH_POOLS_MAX + 1], text[256];
  tune_layout own = {.idea = "the plan's"};
  hearth_layout_print(t->plan.pools, layout);
  if (strcmp(layout, "0") == 0)
    return hearth_tool_error("%s: its layout is one pool: there is nothing to compare", t->a.profile);
  if (!find_used_ids(t))
    return HEARTH_EXIT_ERROR;
  memcpy(own.pools, t->plan.pools, sizeof own.pools);
  tune_search search = {.measure = tune_command_measure, .state = t, .runs_left = (uint32_t)t->a.runs.value - t->runs};
  hearth_tune_compare(&search, &own, TUNE_ROUNDS_RACED);
  if (t->has_error)
    return HEARTH_EXIT_ERROR;
  hearth_plan_tuning tuning = hearth_tune_judge(&own);
  tune_describe(&tuning, text, sizeof text);
  printf("layout %s %s: %s\n", layout,
         tuning.kind == HEARTH_TUNING_TIME     ? "carries over, in time"
         : tuning.kind == HEARTH_TUNING_MEMORY ? "carries over, in memory"
         : hearth_tune_loses(&own)             ? "loses here"
                                               : "gains nothing here beyond noise",
         text);
  int code = hearth_tool_finish();
  return code != HEARTH_EXIT_OK || tuning.kind == HEARTH_TUNING_NONE ? HEARTH_EXIT_ERROR : HEARTH_EXIT_OK;
}

static bool tune_read_plan(tuning *t) {
  hearth_error err;
  hearth_profile *profile;
  hearth_status status = hearth_profile_open(t->a.profile, &profile, &err);
  if (status == HEARTH_OK) {
    status = hearth_profile_get_plan(profile, &t->plan, &err);
    if (status == HEARTH_OK && t->plan.call_count > 0)
      memcpy(t->calls, t->plan.calls, t->plan.call_count * sizeof *t->calls);
    hearth_profile_close(profile);
  }
  if (status != HEARTH_OK)
    return tune_tell_error(t, &err);
  t->plan.calls = t->calls;
  if (t->plan.call_count > 0)
    return true;
  hearth_tool_error("%s: its plan has no allocation call to lay apart: was the program compiled with -g?",
                    t->a.profile);
  return false;
}

int hearth_cmd_tune(int argc, char **argv) {
  tuning t = {.runs = 0};
  int code;
  if (!tune_parse(argc, argv, &t.a, &code))
    return code;
  if (!t.a.check && t.a.output == t.a.profile && hearth_tool_holds_more(t.a.profile))
    return hearth_tool_error("%s: holds more than a heap profile: give -o, or tune before 'hearth merge'", t.a.profile);
  if (!tune_read_plan(&t))
    return HEARTH_EXIT_ERROR;
  hearth_output_guard();
  tune_command_init(&t.command, t.a.command);
  return t.a.check ? tune_command_check(&t) : tune(&t);
}
