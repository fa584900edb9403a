/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of functions from the symbol table: GCC gives local C++ functions no linkage name in debug information. */
#ifndef HEARTH_SYMBOLS_H
#define HEARTH_SYMBOLS_H

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

#endif
