/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of functions from the symbol table: GCC gives local C++ functions no linkage name in debug information. */
#ifndef HEARTH_SYMBOLS_H
#define HEARTH_SYMBOLS_H

#include <string.h>

#include "elf_file.h"

typedef struct hearth_symbol {
  uint64_t address;
  const char *name; /* in the file's .strtab */
} hearth_symbol;

/* Sorted by address. All zero: not read yet. */
typedef struct hearth_symbols {
  hearth_symbol *rows;
  size_t count;
  bool read;
} hearth_symbols;

/* The mangled C++ name of the function that begins at this address; NULL if there is none. Reads the table of `file`
 * (unpacked) when first called; then the names live as long as `file`.
 *   ret_memory  false: out of memory */
const char *hearth_symbols_name(hearth_symbols *symbols, hearth_elf_file *file, uint64_t address, bool *ret_memory);
void hearth_symbols_free(hearth_symbols *symbols);

/* The rows of an ELF file's symbol table. */

typedef struct hearth_symbol_table {
  hearth_bytes rows, names;
  size_t at; /* byte of the next row */
} hearth_symbol_table;

/* The sections of a table and of its names, as ".symtab" and ".strtab"; a file without them has no rows. */
static inline hearth_symbol_table hearth_symbol_table_open(hearth_elf_file *file, const char *rows, const char *names) {
  return (hearth_symbol_table){.rows = hearth_elf_file_section(file, rows),
                               .names = hearth_elf_file_section(file, names)};
}

/* Rows that the table can have. */
static inline size_t hearth_symbol_table_count(const hearth_symbol_table *table) {
  return table->rows.size / sizeof(Elf64_Sym);
}

/* The next row; false behind the last. *ret_name, in the file: NULL if it does not end there. */
static inline bool hearth_symbol_table_next(hearth_symbol_table *table, Elf64_Sym *ret, const char **ret_name) {
  if (table->rows.size - table->at < sizeof *ret)
    return false;
  memcpy(ret, table->rows.data + table->at, sizeof *ret);
  table->at += sizeof *ret;
  *ret_name = hearth_bytes_string(table->names, ret->st_name);
  return true;
}

/* Names of functions where debug information has none: from the symbol tables, and of functions that are in none, from
 * where .eh_frame_hdr says that they begin. Enough to read a list of frames, not to find a place in source. */

typedef struct hearth_code_names hearth_code_names;

/* Reads `file` and, if it is not NULL, its separate debug file, which has the symbols that were stripped; both are borrowed.
 * Errors: E_NO_DEBUG_INFO (they name no function), E_NOMEM. */
hearth_status hearth_code_names_create(hearth_elf_file *file, hearth_elf_file *debug_file, hearth_code_names **ret,
                                       hearth_error *err);
void hearth_code_names_destroy(hearth_code_names *names); /* accepts NULL */

/* The name of the function that an ELF address lies in: of a symbol, or "FILE+0xBEGIN". NULL: none is known. Lives until the
 * next call. */
const char *hearth_code_names_find(hearth_code_names *names, uint64_t address);

#endif
