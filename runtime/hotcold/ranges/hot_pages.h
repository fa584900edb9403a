/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The pages of the hot range: ordinary ones while there is little in it, huge ones where they pay.
 *
 *   piece   a huge page's worth of the range, aligned
 *
 * A huge page is filled by its first touch: opened for a handful of blocks, it would be 2 MiB for nothing. So each of the
 * first pieces becomes a huge page when it is nearly full; from 16 MiB on, or for a block that fills pieces, they are huge
 * from the first touch, which is twice as fast as to fill and collapse them. */
#ifndef HEARTH_HOT_PAGES_H
#define HEARTH_HOT_PAGES_H

#include "region.h"

#define HEARTH_HUGE_PAGE_BYTES ((size_t)2 << 20)

/* For the region's use, under its page_run_lock. */
extern const struct hearth_region_backing hearth_hot_pages_backing;

/* The range, whole huge pages, none touched. Once, before the region is in use. */
void hearth_hot_pages_open(char *start, size_t bytes);

#endif
