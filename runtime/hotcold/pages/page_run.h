/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Page runs, consecutive pages inside a region: best fit over free lists, neighbours joined, memory given back. All functions need
 * the region's page_run_lock. */
#ifndef HEARTH_PAGE_RUN_H
#define HEARTH_PAGE_RUN_H

#include "region.h"

/* Make the whole region one clean free run. */
void hearth_page_run_init(struct hearth_region *region);

/* Write the two entries that describe a run, its first and its last one. */
void hearth_page_run_set(struct hearth_region *region, uint32_t first, uint32_t pages, uint8_t state);

/* First page of `pages` pages, aligned to `align_pages` (a power of two) in the address space, or HEARTH_NO_PAGE.
 * *ret_clean: the pages read as zero. The caller sets the state of the entries. */
uint32_t hearth_page_run_take(struct hearth_region *region, uint32_t pages, uint32_t align_pages, bool *ret_clean);

/* The same, of dirty pages only. */
uint32_t hearth_page_run_take_dirty(struct hearth_region *region, uint32_t pages, uint32_t align_pages);

/* Free a run. May give memory back to the system. */
void hearth_page_run_give(struct hearth_region *region, uint32_t first, uint32_t pages);

/* Take `pages` pages that begin at page `first`, if they are free. */
bool hearth_page_run_take_at(struct hearth_region *region, uint32_t first, uint32_t pages, bool *ret_clean);

/* First page of `pages` clean pages with room behind them, which are handed out by take_at only; HEARTH_NO_PAGE if address space
 * is short. Until `give_room`, which takes the page behind the pages in use. */
uint32_t hearth_page_run_take_with_room(struct hearth_region *region, uint32_t pages);
void hearth_page_run_give_room(struct hearth_region *region, uint32_t first);

/* Clean pages were taken, and their entries are written: as many dirty ones go, so that memory grows only with its use. */
void hearth_page_run_release_for(struct hearth_region *region, uint32_t pages);

#endif
