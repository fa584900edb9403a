/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Start and end of recording in a process. */
#ifndef HEARTH_RUNTIME_PROCESS_H
#define HEARTH_RUNTIME_PROCESS_H

#include "exported.h"

/* Before all constructors of the program, and after its destructors. */
void hearth_start(char **environment);
void hearth_finish(void);

/* Of the start: libraries that are loaded and closed later. */
void hearth_loader_begin(void);

/* Instead of both, where the program's malloc is not the runtime's: instrumented code gets its counters, no more. */
void hearth_start_without_blocks(void);

/* Another program is about to take this one's place: write the profile. A message says if that one is not recorded. */
void hearth_leave_for(const char *program);

#define HEARTH_RECORD_VARIABLE "HEARTH_RECORD" /* options that `hearth record` gives, as in HEARTH_OPTIONS */

/* The value of a variable in an environment; NULL: there is none. */
const char *hearth_environment_find(char *const *environment, const char *name);

#endif
