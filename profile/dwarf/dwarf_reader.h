/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The inside of this folder, from the bytes up:
 *
 *   abbreviations -> entries (DIEs) of a unit -> split units in .dwo and .dwp files -> lines, functions of a body
 *
 * What others may ask is in include/. */
#ifndef HEARTH_DWARF_READER_H
#define HEARTH_DWARF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debug_info.h"
#include "id_table.h"
#include "object_file.h"

/* The shapes of a unit's DIEs: tag, and names and forms of the attributes. DWARF 2 to 5, section 7.5.3. A table is
 * read as far as it was asked for: most units are read only as far as the first DIE, whose shape is found without
 * keeping others. */

/* The sizes that depend on the unit. */
typedef struct hearth_dwarf_format {
  uint8_t version;
  uint8_t offset_size; /* 4 or 8 */
} hearth_dwarf_format;

/* How long values of a form are. */
typedef enum hearth_form_kind { HEARTH_FORM_FIXED, HEARTH_FORM_LEB, HEARTH_FORM_VARIES } hearth_form_kind;

typedef struct hearth_attribute_shape {
  int64_t value; /* of DW_FORM_implicit_const */
  uint32_t name;
  uint16_t form;
  uint8_t kind; /* hearth_form_kind */
  uint8_t size; /* of a value, in bytes; 0 unless its size is fixed */
  /* To pass over values that nobody wants: */
  uint32_t fixed;      /* count of the attributes behind this one whose size is fixed, up to the next other one */
  uint32_t fixed_size; /* of their values, in bytes */
} hearth_attribute_shape;

typedef struct hearth_abbreviation {
  uint64_t code;
  uint32_t first, count;      /* of its attributes, in the table */
  uint32_t fixed, fixed_size; /* as above, of its first attributes */
  uint32_t passes;            /* count of the attributes whose size is not fixed */
  uint16_t tag;
  bool has_children, has_sibling;
  bool has_addresses; /* DW_AT_low_pc or DW_AT_ranges */
} hearth_abbreviation;

/* All zero but for the first two: nothing was read so far. */
typedef struct hearth_abbreviations {
  hearth_bytes section;
  uint64_t at; /* offset of the next entry to read */
  hearth_abbreviation *rows;
  hearth_attribute_shape *attributes;
  size_t count, capacity, attribute_count, attribute_capacity;
  bool ended;
  bool unordered; /* some codes are not where they should be */
} hearth_abbreviations;

typedef enum hearth_dwarf_status { HEARTH_DWARF_OK, HEARTH_DWARF_DAMAGED, HEARTH_DWARF_NO_MEMORY } hearth_dwarf_status;

/* The shape of a unit's first DIE, which has this code; before any other is asked for.
 *   ret  its attributes belong to the table, and stay where they are in it */
hearth_dwarf_status hearth_abbreviations_root(hearth_abbreviations *table, hearth_dwarf_format format, uint64_t code,
                                              hearth_abbreviation *ret);

/* For hearth_abbreviations_find. */
hearth_dwarf_status hearth_abbreviations_search(hearth_abbreviations *table, hearth_dwarf_format format, uint64_t code,
                                                const hearth_abbreviation **ret);

/* The abbreviation with a code. Compilers number from 1 on without gaps: it is where its code says, or not read yet.
 *   ret  it and its attributes may move when another one is looked for */
static inline hearth_dwarf_status hearth_abbreviations_find(hearth_abbreviations *table, hearth_dwarf_format format,
                                                            uint64_t code, const hearth_abbreviation **ret) {
  if (code - 1 >= table->count || table->rows[code - 1].code != code)
    return hearth_abbreviations_search(table, format, code, ret);
  *ret = &table->rows[code - 1];
  return HEARTH_DWARF_OK;
}

void hearth_abbreviations_free(hearth_abbreviations *table);

/* ------------------------------------------------ entries ------------------------------------------------ */

/* Debug information entries (DIEs) as they lie in .debug_info, and their attributes. DWARF 2 to 5, chapters 2 and 7;
 * only the shapes of DIEs are kept after reading. Little-endian, with addresses of 8 bytes. Words:
 *
 *   unit       a tree of DIEs with the values that its encoding depends on
 *   root       the first DIE of a unit
 *   alternate  the file to which dwz moved the DIEs that several files have in common */

/* Borrowed. */
typedef struct hearth_dwarf_sections {
  hearth_bytes info, abbreviations, strings, line_strings, string_offsets, addresses, lines;
  bool split; /* those of a .dwo or .dwp */
} hearth_dwarf_sections;

typedef struct hearth_dwarf_unit {
  uint64_t begin, root; /* offsets in .debug_info: of the header, of the first DIE */
  const struct hearth_entries *of;
  hearth_bytes contents; /* .debug_info up to the end of the unit */
  hearth_abbreviations abbreviations;
  hearth_abbreviation root_shape;
  uint64_t root_values;               /* where they are; 0: the root was not read so far */
  uint64_t id;                        /* of skeletons and split units */
  uint64_t string_base, address_base; /* where its part of .debug_str_offsets and .debug_addr begins */
  hearth_dwarf_format format;
  uint8_t type; /* DW_UT_... */
} hearth_dwarf_unit;

typedef struct hearth_entries {
  hearth_dwarf_sections sections;
  const struct hearth_entries *alternate; /* NULL: none */
  hearth_dwarf_unit *units;               /* by offset */
  size_t count, capacity;
} hearth_entries;

typedef struct hearth_die {
  hearth_dwarf_unit *unit;
  uint64_t offset, values; /* in .debug_info: of the DIE, of its attributes' values */
  hearth_abbreviation shape;
} hearth_die;

typedef struct hearth_attribute {
  hearth_dwarf_unit *unit;
  uint32_t name;
  uint16_t form;
  uint64_t at;     /* of the value, in .debug_info */
  uint64_t number; /* the value, if the form is one of a number of up to 8 bytes */
} hearth_attribute;

/* List the units. Its address must not change: units refer to it.
 *   alternate  borrowed; NULL: none
 * On failure there is nothing to be freed. */
hearth_dwarf_status hearth_entries_read(const hearth_dwarf_sections *sections, const hearth_entries *alternate,
                                        hearth_entries *ret);
void hearth_entries_free(hearth_entries *info);

hearth_dwarf_status hearth_die_root(hearth_dwarf_unit *unit, hearth_die *ret);
/* The DIE at an offset of .debug_info. DAMAGED also where a list of siblings ends. */
hearth_dwarf_status hearth_die_at(hearth_dwarf_unit *unit, uint64_t offset, hearth_die *ret);

/* Step through a unit, parents before their children. *at is where to read; it moves to the DIE's values, or behind the
 * end of a list of siblings.
 *   ret_end  here a list of siblings ends; there is no DIE */
hearth_dwarf_status hearth_die_next(hearth_dwarf_unit *unit, uint64_t *at, hearth_die *ret, bool *ret_end);
/* The place of the DIE's first child, or of the next DIE if it has none. */
hearth_dwarf_status hearth_die_pass(const hearth_die *die, uint64_t *ret);
/* Where the DIE's next sibling, or the end of the list, is. */
hearth_dwarf_status hearth_die_pass_tree(const hearth_die *die, uint64_t *ret);

/* The attributes of a DIE that tell where its code is, one by one: DW_AT_low_pc, DW_AT_high_pc, DW_AT_ranges. `*number`
 * counts all attributes; begin with 0, and with the DIE's `values` in *at. False: no more, or, if *number is not their
 * count, damaged. */
bool hearth_die_next_address(const hearth_die *die, uint32_t *number, uint64_t *at, hearth_attribute *ret);
/* The attribute `name` of a DIE. False: the DIE has none, or it cannot be read. */
bool hearth_die_attribute(const hearth_die *die, uint32_t name, hearth_attribute *ret);
/* The attribute `name` of a DIE, or else of the DIE that it is an instance of (DW_AT_abstract_origin) or completes
 * (DW_AT_specification). */
bool hearth_die_integrated(const hearth_die *die, uint32_t name, hearth_attribute *ret);

/* Values. False or NULL: it is of another form, or damaged. */
bool hearth_attribute_number(const hearth_attribute *attribute, uint64_t *ret);
bool hearth_attribute_address(const hearth_attribute *attribute, uint64_t *ret);
bool hearth_attribute_die(const hearth_attribute *attribute, hearth_die *ret);
const char *hearth_attribute_string(const hearth_attribute *attribute);

/* The number of a DIE's attribute, `none` if there is no such. */
uint64_t hearth_die_number(const hearth_die *die, uint32_t name, uint64_t none);
/* The string of a DIE's attribute, NULL if there is no such. */
const char *hearth_die_string(const hearth_die *die, uint32_t name);

/* ------------------------------------------------ debug files ------------------------------------------------ */

/* Where debug information lies that is not in the program itself: a separate debug file, as `objcopy
 * --only-keep-debug` makes it, is found by build id or by debug link, as GDB does
 * (https://sourceware.org/gdb/current/onlinedocs/gdb.html/Separate-Debug-Files.html). */

/* The separate debug file of a program or library.
 *   ret  to be closed by the caller; NULL: none is needed, the binary has debug information
 * Errors: E_NO_DEBUG_INFO, which names the files that were looked for, E_NOMEM. */
hearth_status hearth_debug_file_find(hearth_elf_file *binary, hearth_debug_directories directories,
                                     hearth_elf_file **ret, hearth_error *err);

/* The file to which dwz moved the debug information that several files have in common.
 *   ret  to be closed by the caller; NULL: `file` names none
 * Errors: E_NO_DEBUG_INFO (not found), E_NOMEM. */
hearth_status hearth_debug_alternate_find(hearth_elf_file *file, hearth_debug_directories directories,
                                          hearth_elf_file **ret, hearth_error *err);

/* "DIRECTORY/NAME", or NAME if that is absolute or there is no directory. The caller frees it; NULL: out of memory. */
char *hearth_path_join(const char *directory, const char *name);
/* The folder of a file, "." if the path names none. The caller frees it; NULL: out of memory. */
char *hearth_path_directory(const char *path);

/* ------------------------------------------------ split units ------------------------------------------------ */

/* Split debug information (-gsplit-dwarf, DWARF 5): the program has skeleton units, the bodies are in .dwo files or, packed
 * together, in a .dwp file. */

typedef struct hearth_split_units hearth_split_units;

typedef struct hearth_split_unit {
  hearth_die root;
  hearth_bytes range_lists; /* .debug_rnglists that the unit's DIEs refer to */
  bool has_files;           /* a table of source files of its own; else the skeleton's is meant */
} hearth_split_unit;

/* All borrowed until destroy.
 *   binary       names the folder and the package to look for
 *   debug_file   with the skeletons: `binary` or its debug file, unpacked
 * NULL when out of memory. */
hearth_split_units *hearth_split_units_create(hearth_elf_file *binary, hearth_elf_file *debug_file,
                                              hearth_debug_directories directories);
void hearth_split_units_destroy(hearth_split_units *units); /* accepts NULL */

/* The unit that a skeleton stands for; lives until destroy. Looks for BINARY.dwp, then for the .dwo where the compiler
 * put it and beside the binary. Errors: E_NO_DEBUG_INFO (not found, of another build, damaged), E_NOMEM. */
hearth_status hearth_split_units_find(hearth_split_units *units, const hearth_die *skeleton, hearth_split_unit *ret,
                                      hearth_error *err);

/* ------------------------------------------------ lines ------------------------------------------------ */

/* The header of a line table: how its program is encoded, and its source files. DWARF 2 to 5, section 6.2.4. */

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

/* ------------------------------------------------ body pieces ------------------------------------------------ */

/* Which body an address is in. Ranges of bodies are added in any order; they may nest, overlap and be equal. Once
 * they are put in order they are disjoint pieces, each labelled with its innermost body, so that a look-up is one
 * binary search:
 *
 *     main    |-----------------------------|            pieces   main foo bar foo  main
 *     foo          |-------------|                                |---|---|---|----|-----|
 *     bar               |---|
 */

#define HEARTH_NO_BODY UINT32_MAX

/* Addresses [start, end). */
typedef struct hearth_body_piece {
  uint64_t start, end;
  uint32_t body;
} hearth_body_piece;

/* All zero: there are none. */
typedef struct hearth_body_pieces {
  hearth_body_piece *rows; /* ranges of bodies; then pieces by address */
  size_t count, capacity;
} hearth_body_pieces;

/* Add a range of a body, which is not empty. Bodies are numbered from the outside to the inside. False: out of memory. */
bool hearth_body_pieces_add(hearth_body_pieces *pieces, uint64_t start, uint64_t end, uint32_t body);
/* Once, behind the last range. False: out of memory; they may be freed only. */
bool hearth_body_pieces_order(hearth_body_pieces *pieces);
/* The innermost body of an address, or HEARTH_NO_BODY. */
uint32_t hearth_body_pieces_find(const hearth_body_pieces *pieces, uint64_t address);
void hearth_body_pieces_free(hearth_body_pieces *pieces);

/* ------------------------------------------------ units ------------------------------------------------ */

/* The units of a file's debug information: which of them an address may belong to, and where their bodies are. Only
 * each unit's own description is read at first; a unit's tree, or split debug information, when it is asked for. */

/* Reading range lists: .debug_ranges of DWARF up to 4 and .debug_rnglists of DWARF 5 (section 7.25). */

/* The sections and bases that the lists of one unit refer to. */
typedef struct hearth_range_source {
  hearth_bytes lists;     /* the section */
  hearth_bytes addresses; /* .debug_addr, from the unit's first entry on */
  uint64_t low_pc;        /* of the unit, that offsets count from */
  uint64_t index_base;    /* where the unit's array of offsets of lists begins; these count from here, too */
  uint8_t offset_size;    /* of the unit: 4 or 8 */
  unsigned version;       /* of DWARF */
} hearth_range_source;

typedef struct hearth_range_cursor {
  const hearth_range_source *source;
  uint64_t offset, base;
} hearth_range_cursor;

typedef enum hearth_range_step { HEARTH_RANGE_NEXT, HEARTH_RANGE_END, HEARTH_RANGE_DAMAGED } hearth_range_step;

/* Offset of a list in the section from its number in the unit (DW_FORM_rnglistx). False: there is no such. */
bool hearth_range_list_offset(const hearth_range_source *source, uint64_t number, uint64_t *ret);

/* A cursor at the list that begins at `offset` of the section; `source` is borrowed. */
hearth_range_cursor hearth_range_begin(const hearth_range_source *source, uint64_t offset);
/* NEXT: a half-open range, possibly empty. */
hearth_range_step hearth_range_next(hearth_range_cursor *cursor, uint64_t *ret_start, uint64_t *ret_end);

typedef struct hearth_units hearth_units;

typedef struct hearth_unit {
  hearth_die lines; /* root with the line table: the unit in the program, or in its debug file */
  hearth_die tree;  /* root of the bodies: the same DIE, or that of the split unit */
  hearth_die files; /* root with the table of source files that the tree's DIEs refer to */
  hearth_range_source ranges;
  hearth_line_program *program; /* of `lines`, for hearth_units_line; NULL: not read yet, or there is none */
  bool skeleton, opened, program_read;
} hearth_unit;

#define HEARTH_NO_UNIT HEARTH_NO_BODY

/* All borrowed until destroy.
 *   binary      its segments tell where code is
 *   debug_file  of `binary`, or `binary` itself; unpacked
 * Errors: E_NO_DEBUG_INFO, E_FORMAT, E_NOMEM. */
hearth_status hearth_units_create(hearth_elf_file *binary, hearth_elf_file *debug_file,
                                  hearth_debug_directories directories, hearth_units **ret, hearth_error *err);
void hearth_units_destroy(hearth_units *units); /* accepts NULL */

/* Units are numbered from 0. */
uint32_t hearth_units_count(const hearth_units *units);
/* The unit with this address, or of several the innermost, as of bodies; HEARTH_NO_UNIT: there is none. */
uint32_t hearth_units_at(const hearth_units *units, uint64_t address);

/* A unit with its tree, which lives until destroy. Errors: those of hearth_split_units_find. */
hearth_status hearth_units_open(hearth_units *units, uint32_t unit, hearth_unit **ret, hearth_error *err);

/* The row of the unit's line table that an address is of.
 *   ret  all zero: there is none
 * Errors: E_NO_DEBUG_INFO (damaged), E_NOMEM. */
hearth_status hearth_units_line(const hearth_units *units, hearth_unit *unit, uint64_t address, hearth_line_row *ret,
                                hearth_error *err);

/* Called with each range of addresses that has code; false ends the visit: out of memory. */
typedef bool hearth_range_visitor(void *context, uint64_t start, uint64_t end);
/* Visit the ranges of a DIE of the unit's tree. Functions that the linker dropped keep their debug information, with
 * addresses around 0 or at the very top; they are left out.
 *   ret_dropped  set if there were such
 * Errors: E_NO_DEBUG_INFO (damaged), E_NOMEM. */
hearth_status hearth_units_visit_ranges(const hearth_units *units, const hearth_unit *unit, const hearth_die *die,
                                        hearth_range_visitor *visitor, void *context, bool *ret_dropped,
                                        hearth_error *err);

/* E_NO_DEBUG_INFO: "what" cannot be read. */
hearth_status hearth_units_damaged(const hearth_units *units, const char *what, hearth_error *err);
/* Convert the status of reading DIEs. E_NO_DEBUG_INFO, E_NOMEM. */
hearth_status hearth_units_status(const hearth_units *units, hearth_dwarf_status status, hearth_error *err);

/* ------------------------------------------------ body functions ------------------------------------------------ */

/* The functions that bodies are of. Bodies that were made from one function (its copies inlined here and there) share
 * it. */

typedef struct hearth_body_functions {
  hearth_debug_function *rows;
  struct hearth_body_origin *origins; /* rows of DIEs */
  id_table by_die;                    /* of these */
  hearth_code_names *names;           /* of their file; borrowed */
  char **paths;                       /* that rows name */
  const void *files_of;               /* the unit that `files` is of, if it has them */
  hearth_line_header files;
  bool has_files;
  const char *last_path; /* of `files`, by last_number; NULL: none */
  uint64_t last_number;  /* asked for last */
  size_t count, capacity, origin_count, origin_room, path_count, path_capacity;
} hearth_body_functions;

/* The function of a body's DIE.
 *   files    root of the unit whose table of source files counts
 *   inlined  the body has no address of its own
 *   ret      HEARTH_DEBUG_NO_FUNCTION: name or first line is unknown
 * False: out of memory. */
bool hearth_body_functions_get(hearth_body_functions *functions, const hearth_die *die, const hearth_die *files,
                               bool inlined, uint32_t *ret);
/* Does a function's DIE tell its first line? */
bool hearth_body_functions_has_line(const hearth_die *die);
void hearth_body_functions_free(hearth_body_functions *functions);

#endif
