/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which kind of instrumented code there is in the program. */
#ifndef HEARTH_RUNTIME_ACCESS_COUNTS_H
#define HEARTH_RUNTIME_ACCESS_COUNTS_H

#include <stdbool.h>

/* A file of instrumented code is there, which counts for part of the time (bursts.h) or all accesses. A message if files of
 * both kinds are; then the profile has no access counts. Ends the process if there are no counters. */
void hearth_access_counts_begin(bool in_bursts);

#endif
