/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The layout is in the environment. A child starts with the memory of this process as its peak, which therefore has
 * to be small: the profile is closed by then. */
#define _GNU_SOURCE /* asprintf, pipe2 */
#include "tune.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VARIABLE "HEARTH_MALLOC"

void hearth_tune_command_init(tune_command *ret, char **argv) {
  struct stat info;
  off_t at = fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
  *ret = (tune_command){.argv = argv, .options = getenv(VARIABLE), .input = at};
}

/* -------------------------------------------------- a run --------------------------------------------------- */

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

hearth_status hearth_tune_run(tune_command *command, const uint8_t pools[HEARTH_POOLS_MAX + 1], const char *statistics,
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

hearth_status hearth_tune_statistics_read(const char *path, uint64_t plan, tune_statistics *ret, hearth_error *err) {
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
