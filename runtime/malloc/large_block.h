/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Large blocks: runs of pages in areas, which all threads share under one lock; those of cold blocks have areas of
 * their own.
 *
 *   area   a multiple of 2 MiB, aligned, of huge pages once there are many; opened as a whole
 *   run    neighbouring pages: one block, or free; no two free runs are neighbours
 *   page   an entry beside the area for each page; a run's first and last one say what it is
 *
 * Free runs wait in bins by size, four for each doubling. A run that was never used, or whose pages went back to the
 * system, reads as zero. */
#ifndef HEARTH_MALLOC_LARGE_BLOCK_H
#define HEARTH_MALLOC_LARGE_BLOCK_H

#include "lock.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Of more than HEARTH_MEDIUM_BYTES, or any size with an alignment of more than that; alignment: a power of two.
 * NULL: no memory. */
void *hearth_large_alloc(bool is_cold, size_t bytes, size_t alignment, bool *ret_zero);
void hearth_large_free(void *block);
/* In place, or by moving pages; NULL: no memory, and the block is as it was. */
void *hearth_large_resize(void *block, size_t bytes);
size_t hearth_large_usable(const void *block);

typedef struct hearth_large_stats {
  size_t areas, area_bytes, live, live_bytes, dirty_bytes; /* dirty: free and in memory */
} hearth_large_stats;
void hearth_large_count(bool is_cold, hearth_large_stats *ret_stats);
/* Where the numbers of live blocks and, behind it, of their pages lie, for readers outside of the process. */
const size_t *hearth_large_live(bool is_cold);
/* Segments are taken by pools, or given back: so many. */
void hearth_large_count_segments(bool is_cold, int change);
/* Gives free pages back. Returns whether there were any. */
bool hearth_large_trim(void);

extern hearth_lock hearth_large_lock; /* for fork */

#pragma GCC visibility pop

#endif
