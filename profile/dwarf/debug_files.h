/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where debug information lies that is not in the program itself: a separate debug file, as `objcopy
 * --only-keep-debug` makes it, is found by build id or by debug link, as GDB does
 * (https://sourceware.org/gdb/current/onlinedocs/gdb.html/Separate-Debug-Files.html). */
#ifndef HEARTH_DEBUG_FILES_H
#define HEARTH_DEBUG_FILES_H

#include "debug_info.h"

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

#endif
