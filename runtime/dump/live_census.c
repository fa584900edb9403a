/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A walk over all live blocks, summed up in rows. The rows of a context are chained, one for each type of its blocks. */
#include "live_census.h"

#include "allocators.h"
#include "clock.h"
#include "context_names.h"
#include "os.h"
#include "running_profile.h"
#include "thread_cache.h"

#include "hearth/raw.h"

#include <string.h>

#define FIRST_ROOM 1024u /* rows */

static size_t rows_size(uint32_t room) { return hearth_os_whole_pages(room * sizeof(hearth_live_row)); }

static bool grow(hearth_live_census *live) {
  uint32_t room = live->row_room ? live->row_room * 2 : FIRST_ROOM;
  hearth_live_row *rows = hearth_os_map(rows_size(room));

  if (!rows)
    return false;
  if (live->rows) {
    memcpy(rows, live->rows, live->row_count * sizeof *rows);
    hearth_os_unmap(live->rows, rows_size(live->row_room));
  }
  live->rows = rows;
  live->row_room = room;
  return true;
}

/* The row of a context and type; NULL: no memory. */
static hearth_live_row *row_of(hearth_live_census *live, uint32_t context, uint64_t type) {
  uint32_t last = 0;

  for (uint32_t row = live->first[context]; row; row = live->rows[row - 1].next) {
    if (live->rows[row - 1].mib.DataTypeId == type)
      return &live->rows[row - 1];
    last = row;
  }
  if (live->row_count == live->row_room && !grow(live))
    return NULL;
  uint32_t added = ++live->row_count;
  *(last ? &live->rows[last - 1].next : &live->first[context]) = added;
  return &live->rows[added - 1];
}

static void add(hearth_live_census *live, uint32_t context, const hearth_mib *mib, const hearth_residency *residency) {
  hearth_live_row *row = row_of(live, context, mib->DataTypeId);

  if (!row) {
    live->incomplete = true;
    return;
  }
  hearth_mib_merge(&row->mib, mib);
  row->residency.resident += residency->resident;
  row->residency.swapped += residency->swapped;
  row->residency.unwritten += residency->unwritten;
}

typedef struct visit {
  hearth_live_census *live;
  hearth_page_map *pages;
  hearth_moment now;
} visit;

static void add_block(const hearth_block *block, uint64_t address, hearth_access_sum accesses, void *closure) {
  const visit *visit = closure;
  hearth_residency residency = {0};

  if (block->context >= visit->live->context_count || block->alloc_ns < hearth_rt.fork_ns)
    return;
  hearth_mib one = hearth_allocators_mib(block, address, accesses, visit->now);
  hearth_mib_set_live(&one);
  if (visit->pages) {
    residency = hearth_page_map_find(visit->pages, (uintptr_t)address, block->size);
    residency.resident *= one.AllocCount; /* a sampled block stands for others */
    residency.swapped *= one.AllocCount;
    residency.unwritten *= one.AllocCount;
  }
  add(visit->live, block->context, &one, &residency);
}

static void add_own_block(const hearth_block *block, void *closure) {
  void *memory = hearth_header_memory(block->header);

  if (hearth_header_state(block->header) == HEARTH_BLOCK_LIVE)
    add_block(block, (uintptr_t)memory, hearth_shadow_sum(memory, block->size), closure);
}

bool hearth_live_census_take(hearth_live_census *live, hearth_page_map *pages) {
  uint32_t count = hearth_depot_limit(&hearth_rt.depot);
  visit visit = {live, pages, {hearth_clock_now_ns() - hearth_rt.start_ns, hearth_os_cpu()}};

  *live = (hearth_live_census){.first = hearth_os_map(hearth_os_whole_pages(count * sizeof *live->first)),
                               .context_count = count};
  if (!live->first)
    return false;
  hearth_heap_each(add_own_block, &visit);
  hearth_allocators_each(add_block, &visit);
  return true;
}

void hearth_live_census_add(hearth_live_census *live, uint32_t context, const hearth_mib *mib) {
  add(live, context, mib, &(hearth_residency){0});
}

void hearth_live_census_destroy(hearth_live_census *live) {
  if (live->first)
    hearth_os_unmap(live->first, hearth_os_whole_pages(live->context_count * sizeof *live->first));
  if (live->rows)
    hearth_os_unmap(live->rows, rows_size(live->row_room));
  *live = (hearth_live_census){0};
}
