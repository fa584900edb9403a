/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes once where the counters lie; readers in other processes then read them by themselves. */
#include "status_page.h"

#include "block_cache.h"
#include "hearth/hotcold_status.h"

#include <stddef.h>

_Static_assert(sizeof(struct hearth_hotcold_status) <= HEARTH_PAGE_BYTES, "the status is one page");
_Static_assert(HEARTH_SIZE_CLASSES <= (int)HEARTH_HOTCOLD_STATUS_CLASSES, "all size classes fit");
_Static_assert(HEARTH_RANGES == (int)HEARTH_HOTCOLD_STATUS_RANGES, "all ranges fit");

static uint64_t address_of(const volatile void *counter) { return (uintptr_t)counter; }

static struct hearth_hotcold_range_status range_status(enum hearth_range range) {
  const struct hearth_region *region = &hearth_ranges.region[range];
  return (struct hearth_hotcold_range_status){
      .base = address_of(region->base),
      .bytes = (uint64_t)region->pages << HEARTH_PAGE_SHIFT,
      .is_on = range == HEARTH_RANGE_COLD ? hearth_ranges.cold_below > 0 : hearth_ranges.hot_from <= UINT8_MAX,
      .class_blocks = address_of(&region->bins[0].blocks),
      .class_blocks_stride = sizeof region->bins[0],
      .large_blocks = address_of(&region->large_blocks),
      .large_pages = address_of(&region->large_pages),
      .large_ever = address_of(&region->large_ever),
      .clean_pages = address_of(&region->clean_pages),
      .fallbacks = address_of(&hearth_ranges.fallbacks[range]),
  };
}

void hearth_status_write(void *page) {
  struct hearth_hotcold_status *status = page;
  status->version = HEARTH_HOTCOLD_STATUS_VERSION;
  status->bytes = sizeof *status;
  status->cold_below = hearth_ranges.cold_below;
  status->hot_from = hearth_ranges.hot_from;
  status->classes = HEARTH_SIZE_CLASSES;
  for (unsigned i = 0; i < HEARTH_SIZE_CLASSES; i++)
    status->class_bytes[i] = hearth_size_class_table[i].bytes;
  for (unsigned range = 0; range < HEARTH_RANGES; range++)
    status->range[range] = range_status((enum hearth_range)range);
  status->caches = address_of(&hearth_block_caches);
  status->cache_bytes = sizeof(struct hearth_block_cache);
  status->cache_ever_offset = offsetof(struct hearth_block_cache, ever);
  status->cache_count_offset = offsetof(struct hearth_block_cache, bins[0][0].count);
  status->cache_count_stride = sizeof(struct hearth_cache_bin);
  status->uncached_ever = address_of(hearth_uncached_ever);
  /* Last: a reader who finds the magic finds the rest. */
  atomic_thread_fence(memory_order_release);
  status->magic = HEARTH_HOTCOLD_STATUS_MAGIC;
}
