/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes once where the tables lie; readers in other processes then read them by themselves. */
#include "status_page.h"

#include "hearth/malloc_status.h"
#include "hints.h"
#include "large_block.h"
#include "segments.h"
#include "system_memory.h"

#include <stddef.h>

_Static_assert(sizeof(struct hearth_malloc_status) <= HEARTH_PAGE_BYTES, "the status is one page");
_Static_assert((int)HEARTH_POOL_MAIN == HEARTH_MALLOC_STATUS_MAIN &&
                   (int)HEARTH_POOL_COLD == HEARTH_MALLOC_STATUS_COLD &&
                   (int)HEARTH_POOL_FIRST == HEARTH_MALLOC_STATUS_FIRST &&
                   (int)HEARTH_POOLS == HEARTH_MALLOC_STATUS_PLACEMENTS &&
                   (int)HEARTH_KIND_LARGE == HEARTH_MALLOC_STATUS_LARGE &&
                   (int)HEARTH_KIND_LARGE_COLD == HEARTH_MALLOC_STATUS_LARGE_COLD,
               "numbers are the same");

static uint64_t address_of(const volatile void *data) { return (uintptr_t)data; }

void hearth_status_write(void) {
  char *pages = hearth_system_reserve(2 * HEARTH_PAGE_BYTES, HEARTH_PAGE_BYTES);
  if (!pages || !hearth_system_open(pages + HEARTH_PAGE_BYTES, HEARTH_PAGE_BYTES))
    return;
  struct hearth_malloc_status *status = (struct hearth_malloc_status *)(pages + HEARTH_PAGE_BYTES);
  hearth_kind_table kinds = hearth_kind_table_get();
  *status = (struct hearth_malloc_status){
      .version = HEARTH_MALLOC_STATUS_VERSION,
      .bytes = sizeof *status,
      .cold_below = hearth_hints_of_process.cold_below,
      .hot_from = hearth_hints_of_process.hot_from,
      .leaves = address_of(kinds.leaves),
      .leaf_count = (uint32_t)kinds.leaf_count,
      .leaf_bytes = (uint32_t)kinds.leaf_bytes,
      .piece_bytes = HEARTH_SEGMENT_BYTES,
      .used_offset = offsetof(hearth_segment, used_slots),
      .heaps = address_of(hearth_heaps_head()),
      .heap_bytes = sizeof(hearth_heap),
      .next_offset = offsetof(hearth_heap, next_of_all),
      .hinted_offset = offsetof(hearth_heap, hinted),
      .passed_on = address_of(&hearth_hints_of_process.passed_on),
      .fallbacks = address_of(&hearth_hints_of_process.fallbacks),
      .large = {address_of(hearth_large_live(false)), address_of(hearth_large_live(true))},
  };
  for (unsigned byte = 0; byte <= UINT8_MAX; byte++)
    status->granules[byte] = (uint16_t)hearth_class_granules(hearth_live_class((uint8_t)byte));
  /* Last: a reader that finds the magic finds the rest. */
  atomic_thread_fence(memory_order_release);
  status->magic = HEARTH_MALLOC_STATUS_MAGIC;
}
