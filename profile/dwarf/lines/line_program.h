/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program of a line table: which line an address is of. It is run once from end to end, and every so many rows the
 * machine's state is kept as a mark; to look an address up, the rows behind the mark before it are made again. So no
 * memory and little time is spent on rows that nobody asks for. DWARF 2 to 5, section 6.2. */
#ifndef HEARTH_LINE_PROGRAM_H
#define HEARTH_LINE_PROGRAM_H

#include "line_header.h"

typedef struct hearth_line_program hearth_line_program;

typedef struct hearth_line_row {
  uint64_t address;
  uint32_t line, column, discriminator; /* 0: none known */
} hearth_line_row;

typedef enum hearth_line_status { HEARTH_LINE_OK, HEARTH_LINE_DAMAGED, HEARTH_LINE_NO_MEMORY } hearth_line_status;

/* Read a program; the bytes that `source` names are borrowed until destroy. */
hearth_line_status hearth_line_program_create(const hearth_line_source *source, hearth_line_program **ret);
void hearth_line_program_destroy(hearth_line_program *program); /* accepts NULL */

/* The row that an address is of: the last one at or below it in its sequence. Of sequences with the same addresses the
 * first one counts; those that begin at 0 are of code that the linker dropped. False: there is none. */
bool hearth_line_program_find(const hearth_line_program *program, uint64_t address, hearth_line_row *ret);

#endif
