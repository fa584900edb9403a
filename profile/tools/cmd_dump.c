/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth dump`: asks a running program to write its profile, or to stop and start sampling. */
#define _GNU_SOURCE /* sigtimedwait under strict C */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "command.h"
#include "hearth/running_program.h"

static const hearth_help help = {.usage = "dump [--sampling=on|off] [--signal=N] [--timeout=SECONDS] PID...",
                                 .about = "Ask running programs to write the heap profile so far. It replaces the "
                                          "profile before, unless the program writes "
                                          "parts (runtime option parts); the program goes on."};

typedef struct request {
  int signal, timeout_ms;
  int value;        /* HEARTH_DUMP_* */
  const char *done; /* message then */
} request;

/* Does the process handle the signal? If not, it would die of it. Returns false if there is no such process. */
static bool read_caught(pid_t pid, int number, bool *ret_caught) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
  FILE *file = fopen(path, "re");
  if (!file)
    return false;
  *ret_caught = false;
  while (fgets(line, sizeof line, file)) {
    uint64_t mask;
    if (sscanf(line, "SigCgt: %" SCNx64, &mask) == 1)
      *ret_caught = mask >> (number - 1) & 1;
  }
  fclose(file);
  return true;
}

/* Wait for the answer of a process. Returns 0 or 1 as the runtime does, -1 if none came, -2 if the process ended. */
static int wait_for_answer(const request *request, pid_t pid) {
  struct timespec slice = {.tv_nsec = 100000000};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, request->signal);
  for (int slices = (request->timeout_ms + 99) / 100; slices > 0; --slices) {
    siginfo_t info;
    if (sigtimedwait(&set, &info, &slice) > 0 && info.si_code == SI_QUEUE && info.si_pid == pid)
      return info.si_value.sival_int;
    if (kill(pid, 0) != 0 && errno == ESRCH)
      return -2;
  }
  return -1;
}

static int dump_dump(const request *request, const char *name) {
  uint64_t number;
  bool caught;
  if (!hearth_tool_parse_number(name, 1, INT32_MAX, &number))
    return hearth_tool_usage_error("dump", "'%s' is not a process id", name);
  pid_t pid = (pid_t)number;
  if (!read_caught(pid, request->signal, &caught))
    return hearth_tool_error("%d: no such process", pid);
  if (!caught)
    return hearth_tool_error("%d: does not handle signal %d: it is not linked with Hearth's runtime, has not started "
                             "yet, or has another dump_signal (give that with --signal=N)",
                             pid, request->signal);
  if (sigqueue(pid, request->signal, (union sigval){.sival_int = request->value}) != 0)
    return hearth_tool_error("%d: cannot be sent a signal: %s", pid, strerror(errno));
  switch (wait_for_answer(request, pid)) {
  case 0:
    printf("%d: %s\n", pid, request->done);
    return HEARTH_EXIT_OK;
  case -1:
    return hearth_tool_error("%d: no answer within %g s: all its threads block signal %d, or it may not send signals "
                             "to this process (the profile may be there)",
                             pid, request->timeout_ms / 1000.0, request->signal);
  case -2:
    return hearth_tool_error("%d: ended meanwhile", pid);
  default:
    return hearth_tool_error("%d: cannot do that; its standard error says why", pid);
  }
}

static int take_sampling(void *target, const char *value) {
  request *request = target;
  bool on = strcmp(value, "on") == 0;
  if (!on && strcmp(value, "off") != 0)
    return HEARTH_OPTION_UNUSABLE;
  request->value = on ? HEARTH_DUMP_RESUME : HEARTH_DUMP_PAUSE;
  request->done = on ? "samples are taken" : "no sample is taken";
  return HEARTH_EXIT_OK;
}

static bool dump_parse(int argc, char **argv, request *ret, int *ret_operands, int *ret_code) {
  hearth_number_option signal = {.least = 1, .most = 64, .value = HEARTH_DUMP_SIGNAL};
  hearth_number_option timeout = {.least = 1, .most = 86400000, .value = 60000};
  const hearth_option options[] = {{.name = "PID", .help = "a process that is linked with Hearth's runtime"},
                                   HEARTH_TAKE("--sampling", 0, "on|off", "on or off", take_sampling, ret,
                                               "start or stop taking samples, and write no profile"),
                                   HEARTH_NUMBER("--signal", 0, "N", "a number from 1 to 64", &signal,
                                                 "the program's option dump_signal, if it was changed (default: 61)"),
                                   HEARTH_TAKE("--timeout", 0, "SECONDS", "a number of seconds from 0.001 to 86400",
                                               hearth_tool_take_seconds, &timeout,
                                               "wait so long at most until a profile is written (default: 60)"),
                                   {0}};
  *ret = (request){.value = HEARTH_DUMP_ASK, .done = "profile written"};
  if (!hearth_tool_parse(options, &help, argc, argv, ret_operands, ret_code))
    return false;
  ret->signal = (int)signal.value;
  ret->timeout_ms = (int)timeout.value;
  if (*ret_operands == 0)
    *ret_code = hearth_tool_usage_error("dump", "no process was given");
  return *ret_operands > 0;
}

int hearth_cmd_dump(int argc, char **argv) {
  request request;
  int count, code;
  if (!dump_parse(argc, argv, &request, &count, &code))
    return code;
  code = HEARTH_EXIT_OK;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, request.signal);
  sigprocmask(SIG_BLOCK, &set, NULL);
  for (int i = 1; i <= count; ++i) {
    int one = dump_dump(&request, argv[i]);
    code = one == HEARTH_EXIT_OK ? code : one;
  }
  int finished = hearth_tool_finish();
  return code == HEARTH_EXIT_OK ? finished : code;
}
