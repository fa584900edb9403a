/* Line programs that are certain to be needed, run in a thread of their own while the scopes of the same units are
 * indexed: each takes about half of the time of reading debug information, and neither needs the other. */
#ifndef HEARTH_SYMBOLISE_LINES_AHEAD_H
#define HEARTH_SYMBOLISE_LINES_AHEAD_H

#include "symbolise/dwarf_units.h"

typedef struct hearth_lines_ahead hearth_lines_ahead;

/* Begin to read the line programs of units.
 *   units    borrowed until the end; of the units listed nothing but their trees may be asked for until then
 *   numbers  taken over, for free
 * NULL: it is not worth a thread, or there is none; the programs are read when they are asked for. */
hearth_lines_ahead *hearth_lines_ahead_begin(hearth_units *units, uint32_t *numbers, size_t count);
/* Wait until they are read. Those that cannot be read are tried, and reported, again when they are asked for. */
void hearth_lines_ahead_end(hearth_lines_ahead *ahead); /* accepts NULL */

#endif
