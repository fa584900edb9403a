/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* /proc/self/exe leads to the executable, and its folder to the others. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "install_paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool hearth_tool_library_directory(char *path, size_t size) {
  char link[PATH_MAX];
  char parent[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", link, sizeof link - 1);
  if (length < 0)
    return false;
  link[length] = '\0';
  for (int up = 0; up < 2; ++up) {
    char *slash = strrchr(link, '/');
    if (!slash)
      return false;
    *slash = '\0';
  }
  return realpath(*link ? link : "/", parent) && (size_t)snprintf(path, size, "%s/lib", parent) < size;
}
