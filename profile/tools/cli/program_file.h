/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The file of a program that is about to run. */
#ifndef HEARTH_PROGRAM_FILE_H
#define HEARTH_PROGRAM_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The path that execvp would run for `command`; false, with errno set, if there is none. */
bool hearth_program_find(const char *command, char *ret_path, size_t size);

/* Can a library be preloaded into the program, and stand for its allocator? Reads the ELF file; of a script, that of its
 * interpreter.
 *   ret_reason  why not, naming file and remedy */
bool hearth_program_can_preload(const char *path, char *ret_reason, size_t size);

#endif
