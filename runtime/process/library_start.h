/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The start of a shared library (library_start.c). Each of them defines these two. */
#ifndef HEARTH_RUNTIME_LIBRARY_START_H
#define HEARTH_RUNTIME_LIBRARY_START_H

#include <stdbool.h>

/* Called first: is this process to be recorded? */
bool hearth_library_begins(char **environment);

/* Called once it is recorded. */
void hearth_library_has_begun(char **environment);

#endif
