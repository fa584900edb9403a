/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth run`: run an unchanged program with Hearth's allocator preloaded. The command takes this process's place: input,
 * output, exit and process id are its own. */
#include "command_line.h"
#include "commands.h"
#include "preloaded_program.h"

static const hearth_help help = {
    .usage = "run [--] COMMAND [ARGUMENT...]",
    .about = "Run a dynamically linked program as it is, with Hearth's allocator.",
    .end =
        "HEARTH_MALLOC takes options of the allocator. Programs that the command starts inherit both.\n"
        "Exit code: the command's; 125 the allocator is not installed, 126 the command cannot be run, 127 it does not "
        "exist; 2 wrong usage."};

int hearth_cmd_run(int argc, char **argv) {
  const hearth_option options[] = {{0}};
  hearth_preloaded program;
  int operands, code;
  if (!hearth_tool_parse_command(options, &help, argc, argv, &operands, &code))
    return code;
  if (operands == 0)
    return hearth_tool_usage_error("run", "which command?");
  argv[operands + 1] = NULL;
  code = hearth_preloaded_find(argv[1], "libhearth_malloc.so", &program);
  return code == HEARTH_EXIT_OK ? hearth_preloaded_start(&program, NULL, NULL, argv + 1) : code;
}
