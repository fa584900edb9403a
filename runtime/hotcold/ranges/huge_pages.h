/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The pages of a range: ordinary ones while there is little in it, huge ones where they pay.
 *
 *   piece   a huge page's worth of the range, aligned
 *
 * A huge page is filled by its first touch: opened for a handful of blocks, it would be 2 MiB for nothing. So each of the
 * first pieces becomes a huge page when it is nearly full. From 16 MiB on, or for a block that fills pieces, they are
 * huge from the first touch, unless that is very slow, as where the system has to move other pages away for it. The first
 * touches are timed; after a slow one some pieces get ordinary pages, four at first and then twice as many each time, until
 * the next trial. In a virtual machine that gives its free memory back, the host has to find 2 MiB again, page by page: 3.5 to
 * 5.5 ms where 512 ordinary pages of memory that the machine still has take 0.6. That is no reason: ordinary pages take as
 * long where the host has to find them.
 *
 * Memory for the blocks of pools is asked for at once, ordinary pages too: one call for many pages takes two thirds of the time of a
 * fault for each. */
#ifndef HEARTH_HUGE_PAGES_H
#define HEARTH_HUGE_PAGES_H

#include "region.h"

#define HEARTH_HUGE_PAGE_BYTES ((size_t)2 << 20)
#define HEARTH_HUGE_PIECES     ((size_t)32 << 10) /* of a range, at most */

/* For the use of the ranges' regions. */
extern const struct hearth_region_backing hearth_huge_pages_backing;

/* A range, whole huge pages, none touched. Before its region is in use; at most twice, upwards in memory. */
void hearth_huge_pages_open(char *start, size_t bytes);

#endif
