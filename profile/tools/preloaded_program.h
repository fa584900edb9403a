/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that runs as it is, with a library of the installation in it: 'hearth record' and 'hearth run'. */
#ifndef HEARTH_PRELOADED_PROGRAM_H
#define HEARTH_PRELOADED_PROGRAM_H

#include <limits.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "command_line.h"

/* Exit codes of such a command, as those of env and nohup. */
enum { EXIT_REFUSED = 125, EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* After a message. */
#define HEARTH_REFUSE(...) (hearth_tool_error(__VA_ARGS__), EXIT_REFUSED)

typedef char hearth_preload_path[PATH_MAX + 32];

/* The library of the installation. HEARTH_EXIT_OK, or 125 after a message. */
int hearth_preload_find(const char *library, hearth_preload_path ret_path);

/* The same for `command`. After a message: 125 it cannot be preloaded there, 126 the command cannot be run, 127 it
 * does not exist. */
int hearth_preloaded_find(const char *command, const char *library, hearth_preload_path ret_path);

/* Take this process's place, with the library and this environment variable (NULL: none). Returns only if that
 * fails: 125 or 126. */
int hearth_preloaded_start(const hearth_preload_path library, const char *variable, const char *value, char **argv);

/* The exit code of a child, as a shell has it; `pid` is what fork returned. What the terminal sends reaches the
 * child by itself; what others send is passed on. */
int hearth_preloaded_await(pid_t pid, struct rusage *ret_usage);

/* Record a program that runs already: a library is loaded into it as a debugger would (attached_process.c; x86-64). It begins
 * with these settings, and goes on until the process ends, or SIGINT, SIGTERM or SIGHUP comes; then the process goes on as
 * it was before.
 *   begun   is called once it is recorded
 * Returns an exit code, after an error that it printed. */
int hearth_process_record(pid_t pid, const char *library, const char *settings, void (*begun)(void));

#endif
