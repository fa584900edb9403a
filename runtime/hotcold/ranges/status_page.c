/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes once where the counters lie; readers in other processes then read them by themselves. */
#include "status_page.h"

#include "hearth/hotcold_status.h"
#include "ranges.h"
#include "thread_pools.h"

#include <stddef.h>

_Static_assert(sizeof(struct hearth_hotcold_status) <= HEARTH_PAGE_BYTES, "the status is one page");
_Static_assert(HEARTH_RANGES == (int)HEARTH_HOTCOLD_STATUS_RANGES, "all ranges fit");
_Static_assert(HEARTH_QUANTUM_BYTES == (int)HEARTH_HOTCOLD_STATUS_QUANTUM_BYTES, "quanta are the same");
_Static_assert(offsetof(struct hearth_thread_pools, next) == 0, "pools of threads begin with the link");
_Static_assert(offsetof(struct hearth_pool, counts) == 0, "pools begin with their counts");

static uint64_t address_of(const volatile void *counter) { return (uintptr_t)counter; }

static struct hearth_hotcold_range_status range_status(enum hearth_range range) {
  const struct hearth_region *region = &hearth_ranges.region[range];
  return (struct hearth_hotcold_range_status){
      .base = address_of(region->base),
      .bytes = (uint64_t)region->pages << HEARTH_PAGE_SHIFT,
      .is_on = range == HEARTH_RANGE_COLD ? hearth_ranges.cold_below > 0 : hearth_ranges.has_pools,
      .large = address_of(region->large),
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
  for (unsigned range = 0; range < HEARTH_RANGES; range++)
    status->range[range] = range_status((enum hearth_range)range);
  status->threads = address_of(&hearth_all_thread_pools);
  status->thread_bytes = offsetof(struct hearth_thread_pools, bins);
  status->passed_on_offset = offsetof(struct hearth_thread_pools, passed_on);
  status->pools_offset = offsetof(struct hearth_thread_pools, pool);
  status->pool_bytes = sizeof(struct hearth_pool);
  /* Last: a reader that finds the magic finds the rest. */
  atomic_thread_fence(memory_order_release);
  status->magic = HEARTH_HOTCOLD_STATUS_MAGIC;
}
