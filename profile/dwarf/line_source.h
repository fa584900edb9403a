/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the line table of a unit is. */
#ifndef HEARTH_LINE_SOURCE_H
#define HEARTH_LINE_SOURCE_H

#include "entries.h"
#include "line_header.h"

/* The line table that a unit's root names; for a split unit, the one with its source files. Lives as long as the bytes
 * that the unit was read from. False: it has none. */
bool hearth_line_source_find(const hearth_die *root, hearth_line_source *ret);

#endif
