/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A link is right if it leads to a hole of the same list: whoever writes to a freed block does not know the key. */
#include "secure_mode.h"

#include "malloc_messages.h"
#include "segments.h"

bool hearth_is_secure;

static void secure_pool(hearth_pool *pool, void *unused) {
  (void)unused;
  pool->is_listed = false;
  pool->is_checked = !pool->is_cold;
  hearth_pool_drop_lists(pool);
}

void hearth_secure_mode_open(void) {
  hearth_is_secure = true;
  hearth_heaps_for_each_pool(secure_pool, NULL);
}

void hearth_checked_push(hearth_pool *pool, void *hole, size_t granules) {
  ((hearth_block *)hole)->next = pool->checked[granules] ^ pool->key;
  pool->checked[granules] = (uintptr_t)hole;
}

static bool is_hole(const hearth_pool *pool, uintptr_t address, size_t granules) {
  hearth_segment *segment = hearth_segment_of((void *)address);
  return address % HEARTH_GRANULE == 0 && hearth_is_segment(hearth_kind_of((void *)address)) && segment->pool == pool &&
         hearth_map_get(hearth_map_of(segment), hearth_granule_of((void *)address)) == (HEARTH_FREE | granules);
}

void *hearth_checked_pop(hearth_pool *pool, size_t granules) {
  hearth_block *hole = (hearth_block *)pool->checked[granules];
  if (!hole)
    return NULL;
  uintptr_t next = hole->next ^ pool->key;
  if (next && !is_hole(pool, next, granules))
    hearth_fatal("a freed block was written to: ", hole);
  pool->checked[granules] = next;
  hearth_map_set(hearth_map_of(hearth_segment_of(hole)), hearth_granule_of(hole), granules);
  pool->budget += (int64_t)granules;
  return hole;
}
