/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The code that needs LLVM is in a program of its own, so that `hearth` runs where LLVM is not installed. */
#include "ir_program.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "install_paths.h"
#include "messages.h"

static const char name[] = "hearth-ir";

int hearth_tool_run_ir(char **argv) {
  char path[PATH_MAX];
  if (!hearth_tool_release_file(hearth_tool_release_below(HEARTH_RELEASE_LIMIT, name), name, path, sizeof path))
    return hearth_tool_error("%s is not installed; it comes with the plugin for a release of LLVM", name);
  argv[0] = path;
  execv(path, argv);
  return hearth_tool_error("%s: %s", path, strerror(errno));
}
