/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* HEARTH_MALLOC=stats=FILE: the contents of the memory when the program ends, as `hearth top --json` prints them. */
#ifndef HEARTH_MALLOC_STATISTICS_FILE_H
#define HEARTH_MALLOC_STATISTICS_FILE_H

/* From now on a line is appended to `path` when the process exits; "" for none. Shorter than HEARTH_MALLOC_PATH_BYTES;
 * copied, and relative to the working directory of now. */
__attribute__((visibility("hidden"))) void hearth_statistics_file_open(const char *path);

#endif
