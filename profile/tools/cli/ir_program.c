/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The code that needs LLVM is in a program of its own, so that `hearth` runs where LLVM is not installed. It lies
 * beside ours. */
#include "ir_program.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"

int hearth_tool_run_ir(char **argv) {
  char path[PATH_MAX + sizeof "-ir"];
  ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
  if (length < 0)
    return hearth_tool_error("/proc/self/exe: %s", strerror(errno));
  strcpy(path + length, "-ir");
  argv[0] = path;
  execv(path, argv);
  return hearth_tool_error("%s: %s; it is built and installed with hearth", path, strerror(errno));
}
