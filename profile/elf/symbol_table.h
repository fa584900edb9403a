/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rows of an ELF file's symbol table. */
#ifndef HEARTH_SYMBOL_TABLE_H
#define HEARTH_SYMBOL_TABLE_H

#include <string.h>

#include "elf_file.h"

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

#endif
