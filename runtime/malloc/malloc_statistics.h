/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HEARTH_MALLOC_STATISTICS_H
#define HEARTH_MALLOC_STATISTICS_H

#pragma GCC visibility push(hidden)

/* HEARTH_MALLOC=stats=FILE: from now on, as the process exits, the contents of the memory are appended to `path` as a line, as
 * `hearth top --json` prints them; "" for none. Shorter than HEARTH_MALLOC_PATH_BYTES; copied, and relative to the working
 * directory of now. */
void hearth_statistics_file_open(const char *path);

/* Where `hearth top` finds this process's tables (hearth/malloc_status.h). Once, when the options are known. Without memory for
 * it, there is none. */
void hearth_status_write(void);

#pragma GCC visibility pop

#endif
