/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* HEARTH_HOTCOLD=stats=FILE: the contents of the ranges when the program ends, as `hearth top --json` prints them. */
#ifndef HEARTH_STATISTICS_FILE_H
#define HEARTH_STATISTICS_FILE_H

/* From now on a line is appended to `path` when the process exits; "" for none. Shorter than HEARTH_HOTCOLD_PATH_BYTES;
 * copied, and relative to the working directory of now. */
void hearth_statistics_file_open(const char *path);

#endif
