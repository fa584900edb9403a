/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _GNU_SOURCE /* setenv under strict C */
#include "preloaded_program.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_line.h"
#include "install_paths.h"
#include "messages.h"
#include "program_file.h"

enum { EXIT_REFUSED = 125, EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* The library comes first, before those that are preloaded anyway. */
static bool preload(const char *library) {
  const char *others = getenv("LD_PRELOAD");
  bool any = others && *others;
  size_t size = strlen(library) + (any ? strlen(others) : 0) + 2;
  char *all = malloc(size);
  if (!all)
    return false;
  snprintf(all, size, "%s%s%s", library, any ? ":" : "", any ? others : "");
  bool set = setenv("LD_PRELOAD", all, 1) == 0;
  free(all);
  return set;
}

static int cannot_run(const char *path, int error) {
  hearth_tool_error("%s: %s", path, strerror(error));
  return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}

int hearth_preloaded_refuse(const char *format, ...) {
  char text[2 * PATH_MAX];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  hearth_tool_error("%s", text);
  return EXIT_REFUSED;
}

int hearth_preloaded_find(const char *command, const char *library, hearth_preloaded *ret) {
  char directory[PATH_MAX], reason[1024];
  if (!hearth_program_find(command, ret->program, sizeof ret->program))
    return cannot_run(command, errno);
  if (!hearth_program_can_preload(ret->program, reason, sizeof reason))
    return hearth_preloaded_refuse("%s", reason);
  if (!hearth_tool_library_directory(directory, sizeof directory))
    return hearth_preloaded_refuse("the directory of the installation cannot be told");
  snprintf(ret->library, sizeof ret->library, "%s/%s", directory, library);
  if (access(ret->library, R_OK) != 0)
    return hearth_preloaded_refuse("%s: %s (is the installation complete?)", ret->library, strerror(errno));
  if (strpbrk(ret->library, ": "))
    return hearth_preloaded_refuse("%s: a path with blanks or colons cannot be preloaded; move it", ret->library);
  return HEARTH_EXIT_OK;
}

int hearth_preloaded_start(const hearth_preloaded *program, const char *variable, const char *value, char **argv) {
  if (!preload(program->library) || (variable && setenv(variable, value, 1) != 0))
    return hearth_preloaded_refuse("out of memory");
  execvp(argv[0], argv);
  hearth_tool_error("%s: %s", program->program, strerror(errno));
  return EXIT_NOT_RUN;
}
