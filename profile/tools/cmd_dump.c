/* `hearth dump`: have a running program write its profile. */
#define _GNU_SOURCE /* sigtimedwait under strict C */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "hearth/dump_request.h"

static const char usage[] =
    "Usage: hearth dump [--signal=N] [--timeout=SECONDS] PID...\n"
    "Have running programs write the heap profile so far. Each replaces the profile it wrote before; it goes on.\n"
    "\n"
    "  PID                a process that is linked with Hearth's runtime\n"
    "  --signal=N         the program's option dump_signal, if it was changed (default: 61)\n"
    "  --timeout=SECONDS  how long to wait until a profile is written (default: 60)\n";

typedef struct request {
  long signal, timeout;
} request;

static bool parse_number(const char *text, long least, long most, long *ret) {
  char *end;
  errno = 0;
  *ret = strtol(text, &end, 10);
  return errno == 0 && *text && !*end && *ret >= least && *ret <= most;
}

/* Does the process handle the signal? If not, it would die of it. Returns false if there is no such process. */
static bool read_caught(long pid, long number, bool *ret_caught) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/%ld/status", pid);
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
static int wait_for_answer(const request *request, long pid) {
  struct timespec slice = {.tv_nsec = 100000000};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, (int)request->signal);
  for (long slices = request->timeout * 10; slices > 0; --slices) {
    siginfo_t info;
    if (sigtimedwait(&set, &info, &slice) > 0 && info.si_code == SI_QUEUE && info.si_pid == pid)
      return info.si_value.sival_int;
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
      return -2;
  }
  return -1;
}

static int dump(const request *request, const char *name) {
  long pid;
  bool caught;
  if (!parse_number(name, 1, INT32_MAX, &pid))
    return hearth_tool_usage_error("dump", "'%s' is not a process id", name);
  if (!read_caught(pid, request->signal, &caught))
    return hearth_tool_error("%ld: no such process", pid);
  if (!caught)
    return hearth_tool_error("%ld: does not handle signal %ld: it is not linked with Hearth's runtime, has not started "
                             "yet, or has another dump_signal (give that with --signal=N)",
                             pid, request->signal);
  if (sigqueue((pid_t)pid, (int)request->signal, (union sigval){.sival_int = HEARTH_DUMP_ASK}) != 0)
    return hearth_tool_error("%ld: cannot be sent a signal: %s", pid, strerror(errno));
  switch (wait_for_answer(request, pid)) {
  case 0:
    printf("%ld: profile written\n", pid);
    return HEARTH_EXIT_OK;
  case -1:
    return hearth_tool_error(
        "%ld: no answer within %ld s: all its threads block signal %ld, or it may not send signals "
        "to this process (the profile may be there)",
        pid, request->timeout, request->signal);
  case -2:
    return hearth_tool_error("%ld: ended meanwhile", pid);
  default:
    return hearth_tool_error("%ld: cannot write its profile; its standard error says why", pid);
  }
}

int hearth_cmd_dump(int argc, char **argv) {
  request request = {.signal = HEARTH_DUMP_SIGNAL, .timeout = 60};
  int count = 0, code = HEARTH_EXIT_OK;
  for (int i = 1; i < argc; ++i) {
    const char *value;
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      fputs(usage, stdout);
      return hearth_tool_finish();
    }
    if (hearth_tool_option(argv[i], "--signal", &value)) {
      if (!parse_number(value, 1, 64, &request.signal))
        return hearth_tool_usage_error("dump", "--signal= needs a number from 1 to 64");
    } else if (hearth_tool_option(argv[i], "--timeout", &value)) {
      if (!parse_number(value, 1, 86400, &request.timeout))
        return hearth_tool_usage_error("dump", "--timeout= needs a number of seconds from 1 to 86400");
    } else if (argv[i][0] == '-') {
      return hearth_tool_usage_error("dump", "unknown option '%s'", argv[i]);
    } else {
      argv[++count] = argv[i];
    }
  }
  if (count == 0)
    return hearth_tool_usage_error("dump", "no process was given");
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, (int)request.signal);
  sigprocmask(SIG_BLOCK, &set, NULL);
  for (int i = 1; i <= count; ++i) {
    int one = dump(&request, argv[i]);
    code = one == HEARTH_EXIT_OK ? code : one;
  }
  int finished = hearth_tool_finish();
  return code == HEARTH_EXIT_OK ? finished : code;
}
