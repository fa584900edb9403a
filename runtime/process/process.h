/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Start and end of recording in a process. */
#ifndef HEARTH_RUNTIME_PROCESS_H
#define HEARTH_RUNTIME_PROCESS_H

#include "entry_points.h"
#include "os.h"

#include <stdbool.h>

/* Before all constructors of the program, and after its destructors. */
void hearth_start(char **environment);
void hearth_finish(void);

/* After the end, for a program that a recorder is a guest in: begin another recording. */
void hearth_start_again(char **environment);

/* Of the start: libraries that are loaded and closed later. */
void hearth_loader_begin(void);

/* By the system's list of mappings. */
hearth_loader_find hearth_loader_find_own;

/* Instead of both, where the program's malloc is not the runtime's: instrumented code gets its counters, no more. */
void hearth_start_without_blocks(void);

#define HEARTH_RECORD_VARIABLE "HEARTH_RECORD" /* options that `hearth record` gives, as in HEARTH_OPTIONS */

/* The value of a variable in an environment; NULL: there is none. */
const char *hearth_environment_find(char *const *environment, const char *name);

/* The start of a shared library (library_entry.c). Each of them defines these two. */

/* Called first: is this process to be recorded? */
bool hearth_library_begins(char **environment);

/* Called once it is recorded. */
void hearth_library_has_begun(char **environment);

/* Signals: those that end the program write the profile first, one asks for it. */

/* Install handlers where the disposition is the default; by the main thread. */
void hearth_signals_begin(void);

#endif
