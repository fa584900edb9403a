/* Where the line table of a unit is. */
#ifndef HEARTH_SYMBOLISE_LINE_SOURCE_H
#define HEARTH_SYMBOLISE_LINE_SOURCE_H

#include <elfutils/libdw.h>

#include "symbolise/line_header.h"

/* The line table that a unit's DIE names; of a split unit, the one with its source files. Lives as long as the DIE. False:
 * it has none. */
bool hearth_line_source_find(Dwarf_Die *unit, hearth_line_source *ret);

#endif
