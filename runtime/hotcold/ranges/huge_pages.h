/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The pages of a range: ordinary ones while there is little in it, huge ones where they pay.
 *
 *   piece   a huge page's worth of the range, aligned
 *
 * A huge page is filled by its first touch: opened for a handful of blocks, it would be 2 MiB for nothing. So each of the
 * first pieces becomes a huge page when it is nearly full. From 16 MiB on, or for a block that fills pieces, they are
 * huge from the first touch, as long as that costs little. Mostly it costs less than 512 ordinary pages. But the system may have to
 * move other pages away, or, in a virtual machine that gives its free memory back, ask the host for 2 MiB: 3.5 to 5.5 ms where
 * ordinary pages, of memory that the machine still has, take 0.6. So first touches are timed. What huge pages take more than
 * ordinary ones would is at most 4 ms and a 16th of the program's time so far. Other pieces begin with ordinary pages, and the
 * system may make them huge later, in the background (khugepaged): a program that runs for seconds does not pay for what only one
 * that runs for minutes gets back.
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
