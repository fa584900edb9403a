/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Split debug information (-gsplit-dwarf): the program has skeleton units, the bodies are in .dwo files or, packed
 * together, in a .dwp file. */
#ifndef HEARTH_SPLIT_UNITS_H
#define HEARTH_SPLIT_UNITS_H

#include "debug_files.h"
#include "entries.h"

typedef struct hearth_split_units hearth_split_units;

typedef struct hearth_split_unit {
  hearth_die root;
  hearth_bytes range_lists; /* .debug_ranges or .debug_rnglists that the unit's DIEs refer to */
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

#endif
