/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of functions where debug information has none: from the symbol tables, and of functions that are in none, from
 * where .eh_frame_hdr says that they begin. Enough to read a list of frames, not to find a place in source. */
#ifndef HEARTH_CODE_NAMES_H
#define HEARTH_CODE_NAMES_H

#include "elf_file.h"

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
