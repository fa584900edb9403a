/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth run`: run an unchanged program with Hearth's allocator preloaded. The command takes this process's place: input,
 * output, exit and process id are its own. */
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "preloaded_program.h"

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
