/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where `hearth top` finds this process's counters (hearth/hotcold_status.h). */
#ifndef HEARTH_STATUS_PAGE_H
#define HEARTH_STATUS_PAGE_H

/* Write the status into `page`, zeroed memory that stays. Once, when the ranges are there. */
void hearth_status_write(void *page);

#endif
