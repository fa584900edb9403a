/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the other parts of the installation are. */
#ifndef HEARTH_INSTALL_PATHS_H
#define HEARTH_INSTALL_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* The directory of plugin, libraries and archives: ../lib beside the directory of this executable, in the build tree as in
 * an installed prefix. False: it cannot be told, or does not fit. */
bool hearth_tool_library_directory(char *path, size_t size);

#endif
