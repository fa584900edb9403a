/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where `hearth top` finds this process's tables (hearth/malloc_status.h). */
#ifndef HEARTH_MALLOC_STATUS_PAGE_H
#define HEARTH_MALLOC_STATUS_PAGE_H

/* Once, when the options are known. Without memory for it, there is none. */
__attribute__((visibility("hidden"))) void hearth_status_write(void);

#endif
