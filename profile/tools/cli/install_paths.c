/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* /proc/self/exe leads to the executable, or where it is missing, the path that was executed; its folder leads to the
 * others: PREFIX/bin/hearth, PREFIX/lib/hearth/ with the libraries, PREFIX/lib/hearth/llvm-N/ with what is linked for one
 * release. In a build tree both are links to lib/. */
#include "install_paths.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"

#define _XOPEN_SOURCE 700 /* realpath */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { OLDEST_RELEASE = 14 };

bool hearth_tool_library_directory(char *path, size_t size) {
  char executable[PATH_MAX], folder[PATH_MAX + 16], real[PATH_MAX];
  const char *executed = (const char *)getauxval(AT_EXECFN);
  if (!realpath("/proc/self/exe", executable) && !(executed && realpath(executed, executable)))
    return false;
  char *name = strrchr(executable, '/');
  if (!name)
    return false;
  *name = '\0';
  snprintf(folder, sizeof folder, "%s/../lib/hearth", executable);
  return realpath(folder, real) && (size_t)snprintf(path, size, "%s", real) < size;
}

bool hearth_tool_release_file(int release, const char *name, char *path, size_t size) {
  char directory[PATH_MAX], file[PATH_MAX + 64], real[PATH_MAX];
  if (!hearth_tool_library_directory(directory, sizeof directory))
    return false;
  snprintf(file, sizeof file, "%s/llvm-%d/%s", directory, release, name);
  return realpath(file, real) && (size_t)snprintf(path, size, "%s", real) < size;
}

int hearth_tool_release_below(int limit, const char *name) {
  char path[PATH_MAX];
  for (int release = limit - 1; release >= OLDEST_RELEASE; release--)
    if (hearth_tool_release_file(release, name, path, sizeof path))
      return release;
  return 0;
}

/* The code that needs LLVM is in a program of its own, so that `hearth` runs where LLVM is not installed. */

static const char name[] = "hearth-ir";

int hearth_tool_run_ir(char **argv) {
  char path[PATH_MAX];
  if (!hearth_tool_release_file(hearth_tool_release_below(HEARTH_RELEASE_LIMIT, name), name, path, sizeof path))
    return hearth_tool_error("%s is not installed; it comes with the plugin for a release of LLVM", name);
  argv[0] = path;
  execv(path, argv);
  return hearth_tool_error("%s: %s", path, strerror(errno));
}
