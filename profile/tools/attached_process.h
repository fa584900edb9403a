/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Recording of a program that runs already: a library is loaded into it as a debugger would. x86-64. */
#ifndef HEARTH_TOOL_ATTACHED_PROCESS_H
#define HEARTH_TOOL_ATTACHED_PROCESS_H

#include <sys/types.h>

/* Load the library and begin with these settings; go on until the process ends, or SIGINT, SIGTERM or SIGHUP comes; then
 * the process goes on as it was before.
 *   begun   is called once it is recorded
 * Returns an exit code, after an error that it printed. */
int hearth_process_record(pid_t pid, const char *library, const char *settings, void (*begun)(void));

#endif
