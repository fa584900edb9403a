/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The header of a line table: how its program is encoded, and its source files. DWARF 2 to 5, section 6.2.4. */
#ifndef HEARTH_LINE_HEADER_H
#define HEARTH_LINE_HEADER_H

#include "bytes.h"
#include "entries.h"

/* Where a unit's line table is. All borrowed. */
typedef struct hearth_line_source {
  hearth_bytes lines, line_strings, strings; /* .debug_line, .debug_line_str, .debug_str */
  uint64_t offset;                           /* in `lines` */
  const char *directory;                     /* of the compilation; NULL: unknown */
} hearth_line_source;

typedef struct hearth_line_header {
  hearth_line_source source;
  hearth_bytes table;            /* all of it, up to the end of its program */
  uint64_t files, program;       /* offsets in `table`: of the lists of directories and files, of the program */
  const uint8_t *operand_counts; /* of standard opcode 1, 2, ... first_special - 1 */
  unsigned version;              /* of DWARF */
  uint8_t offset_size;           /* 4 or 8 */
  uint8_t instruction_bytes;     /* addresses are multiples of it */
  uint8_t first_special;         /* opcode */
  int8_t line_base;              /* least change of the line by a special opcode */
  uint8_t line_range;            /* number of line changes that special opcodes have; not 0 */
} hearth_line_header;

/* False: the header is damaged, or of an unknown version. */
bool hearth_line_header_read(const hearth_line_source *source, hearth_line_header *ret);

/* The path of a source file by its number in DW_AT_decl_file: as the compiler was given it, behind its directory if it is
 * relative, and that behind the compilation's if it is relative, too.
 *   ret  to be freed by the caller; NULL: there is no such file, or the list is damaged
 * False: out of memory. */
bool hearth_line_header_path(const hearth_line_header *header, uint64_t number, char **ret);

/* The program of a line table: which line an address is of. It is run once from end to end, and at regular numbers
 * of rows the machine's state is kept as a mark; to look an address up, the rows behind the mark before it are made
 * again. So no memory and little time is spent on rows that nobody asks for. DWARF 2 to 5, section 6.2. */

typedef struct hearth_line_program hearth_line_program;

typedef struct hearth_line_row {
  uint64_t address;
  uint32_t line, column, discriminator; /* 0: none known */
} hearth_line_row;

typedef enum hearth_line_status { HEARTH_LINE_OK, HEARTH_LINE_DAMAGED, HEARTH_LINE_NO_MEMORY } hearth_line_status;

/* Read a program; the bytes that `source` names are borrowed until destroy. */
hearth_line_status hearth_line_program_create(const hearth_line_source *source, hearth_line_program **ret);
void hearth_line_program_destroy(hearth_line_program *program); /* accepts NULL */

/* The row of an address: the last one at or below it in its sequence. Of sequences with the same addresses the first
 * counts; sequences that begin at 0 are of code that the linker dropped. False: there is no row. */
bool hearth_line_program_find(const hearth_line_program *program, uint64_t address, hearth_line_row *ret);

/* Where the line table of a unit is. */

/* The line table that a unit's root names; for a split unit, the one with its source files. Lives as long as the bytes
 * that the unit was read from. False: it has none. */
bool hearth_line_source_find(const hearth_die *root, hearth_line_source *ret);

#endif
