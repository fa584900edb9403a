/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of files. */
#ifndef HEARTH_PATH_NAME_H
#define HEARTH_PATH_NAME_H

/* Base name of a path: the part behind the last '/' or '\\'. A pointer into `path`. */
const char *hearth_base_name(const char *path);

#endif
