/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the other parts of the installation are. */
#ifndef HEARTH_INSTALL_PATHS_H
#define HEARTH_INSTALL_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* The directory of libraries and archives. False: it is not there, or does not fit. */
bool hearth_tool_library_directory(char *path, size_t size);

#define HEARTH_PLUGIN_NAME "hearth.so"

/* A file that is linked for one release of LLVM: the plugin. False: it is not installed for that release. */
bool hearth_tool_release_file(int release, const char *name, char *path, size_t size);

/* The newest release below the limit for which the file is installed; 0: none. */
int hearth_tool_release_below(int limit, const char *name);
enum { HEARTH_RELEASE_LIMIT = 100 };

/* ------------------------------------------------ program file ------------------------------------------------ */

/* The file of a program that is about to run. */

/* The path that execvp would run for `command`; false, with errno set, if there is none. */
bool hearth_program_find(const char *command, char *ret_path, size_t size);

/* Can a library be preloaded into the program, and stand for its allocator? Reads the ELF file; of a script, that of its
 * interpreter.
 *   ret_reason  why not, naming file and remedy */
bool hearth_program_can_preload(const char *path, char *ret_reason, size_t size);

/* Which builds the objects of a link are of (hearth/program_tables.h). */

/* Warn, once, if objects among the link's arguments are of another build than the link. `mode` as in HEARTH, or
 * "off"; `flags` are those for clang. Looked at: objects, modules of bitcode and archives, but thin ones, that are
 * named by path. */
void hearth_compile_marks_check(char *const *arguments, const char *mode, char *const *flags);

#endif
