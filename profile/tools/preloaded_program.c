/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LD_PRELOAD and exec, after a look whether the loader will heed it there. */
#define _GNU_SOURCE /* setenv under strict C */
#include "preloaded_program.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command_line.h"
#include "install_paths.h"

/* The library comes first, before those that are preloaded anyway. */
static bool preload(const char *library) {
  const char *others = getenv("LD_PRELOAD");
  char *all = NULL;
  bool any = others && *others;
  bool set =
      asprintf(&all, "%s%s%s", library, any ? ":" : "", any ? others : "") > 0 && setenv("LD_PRELOAD", all, 1) == 0;
  free(all);
  return set;
}

int hearth_preload_find(const char *library, hearth_preload_path ret_path) {
  char directory[PATH_MAX];
  if (!hearth_tool_library_directory(directory, sizeof directory))
    return HEARTH_REFUSE("the directory of the installation cannot be told (is /proc mounted?)");
  snprintf(ret_path, sizeof(hearth_preload_path), "%s/%s", directory, library);
  if (access(ret_path, R_OK) != 0)
    return HEARTH_REFUSE("%s: %s (is the installation complete?)", ret_path, strerror(errno));
  if (strpbrk(ret_path, ": "))
    return HEARTH_REFUSE("%s: a path with blanks or colons cannot be preloaded; move it", ret_path);
  return HEARTH_EXIT_OK;
}

int hearth_preloaded_find(const char *command, const char *library, hearth_preload_path ret_path) {
  char program[PATH_MAX], reason[1024];
  if (!hearth_program_find(command, program, sizeof program)) {
    int error = errno;
    hearth_tool_error("%s: %s", command, strerror(error));
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
  }
  if (!hearth_program_can_preload(program, reason, sizeof reason))
    return HEARTH_REFUSE("%s", reason);
  return hearth_preload_find(library, ret_path);
}

int hearth_preloaded_start(const hearth_preload_path library, const char *variable, const char *value, char **argv) {
  if (!preload(library) || (variable && setenv(variable, value, 1) != 0))
    return HEARTH_REFUSE("out of memory");
  execvp(argv[0], argv);
  hearth_tool_error("%s: %s", argv[0], strerror(errno));
  return EXIT_NOT_RUN;
}

static volatile sig_atomic_t child;

static void pass_on(int number) {
  if (child > 0)
    kill((pid_t)child, number);
}

int hearth_preloaded_await(pid_t pid, struct rusage *ret_usage) {
  int status;
  if (pid < 0)
    return HEARTH_REFUSE("cannot start the command: %s", strerror(errno));
  child = pid;
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  signal(SIGTERM, pass_on);
  signal(SIGHUP, pass_on);
  while (wait4(pid, &status, 0, ret_usage) < 0)
    if (errno != EINTR)
      return HEARTH_REFUSE("cannot wait for the command: %s", strerror(errno));
  child = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ------------------------------------------------ run ------------------------------------------------ */

/* `hearth run`: run an unchanged program with Hearth's allocator preloaded. The command takes this process's place:
 * input, output, exit and process id are its own. */

static const hearth_help help = {
    .usage = "run [OPTION...] [--] COMMAND [ARGUMENT...]",
    .about = "Run a dynamically linked program as it is, with Hearth's allocator.",
    .end =
        "HEARTH_MALLOC takes options of the allocator. Programs that the command starts inherit both.\n"
        "Exit code: the command's; 125 the allocator is not installed, 126 the command cannot be run, 127 it does not "
        "exist; 2 wrong usage."};

/* A gain shows beside a run without the allocator alone; `hearth tune` measures it. */
static int run_and_tell(const char *library, char **argv) {
  struct rusage usage;
  pid_t pid = fork();
  if (pid == 0)
    exit(hearth_preloaded_start(library, NULL, NULL, argv));
  int code = hearth_preloaded_await(pid, &usage);
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
      HEARTH_FLAG("--verbose", 'v', &tells,
                  "when the command has ended, say on standard error what it took; on a terminal, this is the default"),
      HEARTH_FLAG("--quiet", 'q', &is_quiet, "say nothing"),
      {0}};
  hearth_preload_path library;
  int operands, code;
  if (!hearth_tool_parse_command(options, &help, argc, argv, &operands, &code))
    return code;
  if (operands == 0)
    return hearth_tool_usage_error("run", "which command?");
  argv[operands + 1] = NULL;
  code = hearth_preloaded_find(argv[1], "libhearth_malloc.so", library);
  if (code != HEARTH_EXIT_OK)
    return code;
  return tells && !is_quiet ? run_and_tell(library, argv + 1) : hearth_preloaded_start(library, NULL, NULL, argv + 1);
}

#ifndef __x86_64__ /* attached_process.c knows the calling convention of one processor */
int hearth_process_record(pid_t pid, const char *library, const char *settings, void (*begun)(void)) {
  (void)library, (void)settings, (void)begun;
  return hearth_tool_error("%d: a program that runs can be recorded on x86-64 only; start it with 'hearth record'",
                           (int)pid);
}
#endif
