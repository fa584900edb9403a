/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A plan whose bits nothing sets: allocations of the program take their hints by them, but no decision site of the plan
 * is in the program; and programs that have some files with another plan, which make leaves behind. Each is worth a
 * message, once. */
#ifndef HEARTH_MISSING_SITES_H
#define HEARTH_MISSING_SITES_H

#include <stdbool.h>

/* Whether to say so. */
__attribute__((visibility("hidden"))) void hearth_missing_sites_open(bool warn);

#endif
