/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A direct-mapped cache: the slot of a context is its id modulo the number of slots. Another context in the slot sends the
 * old one's records to the table. */
#include "mib_cache.h"

#include "reentry.h"

static uint64_t *count_of(hearth_mib_series *series) { return &hearth_mib_series_sums(series)->count; }

/* Apart, so that its pointers stay in registers. */
static __attribute__((noinline)) void add_one(hearth_mib_series *series, const hearth_block *block, uint64_t accesses,
                                              uint64_t touched, uint64_t granules, hearth_moment end) {
  hearth_figures of = hearth_figures_with_lifetime(
      block, (hearth_access_sum){.accesses = accesses, .granules = granules, .touched = touched},
      hearth_mib_series_lifetime(series, block, end));

  hearth_mib_series_add(series, block, &of, end, 1);
}

static __attribute__((noinline)) void add_weighed(hearth_mib_series *series, const hearth_block *block,
                                                  hearth_access_sum accesses, hearth_moment end, uint64_t mean_bytes) {
  hearth_figures of = hearth_figures_of_block(block, accesses, end);

  hearth_mib_series_add(series, block, &of, end, hearth_mib_weight(block, mean_bytes));
}

/* Make the slot one for the context of a block: its series goes to the table, unless that would have to wait. */
static __attribute__((noinline)) bool change_context(hearth_mib_slot *slot, hearth_mib_table *table, uint32_t context) {
  hearth_mib_series *series = &slot->series;

  if (*count_of(series) > 0 && !hearth_mib_table_append(table, slot->context, series, count_of(series)))
    return false;
  series->sample_lifetime = 0;
  slot->context = context; /* matters to nobody while the series is empty */
  return true;
}

inline bool hearth_mib_cache_record(hearth_mib_cache *cache, hearth_mib_table *table, const hearth_block *block,
                                    hearth_access_sum accesses, hearth_moment end, uint64_t mean_bytes) {
  hearth_mib_slot *slot = &cache->slots[block->context % HEARTH_MIB_CACHE_SLOTS];
  hearth_mib_series *series = &slot->series;

  if (__builtin_expect(slot->context != block->context, false) && !change_context(slot, table, block->context))
    return false;
  if (__builtin_expect(mean_bytes == 0, true))
    add_one(series, block, accesses.accesses, accesses.touched, accesses.granules, end);
  else
    add_weighed(series, block, accesses, end, mean_bytes);
  hearth_mib_update_make(&(hearth_mib_update){
      .word = &series->current, .value = hearth_mib_series_other(series), .header = block->header});
  return true;
}

void hearth_mib_cache_flush(hearth_mib_cache *cache, hearth_mib_table *table) {
  for (size_t i = 0; i < HEARTH_MIB_CACHE_SLOTS; ++i) {
    hearth_mib_slot *slot = &cache->slots[i];
    if (*count_of(&slot->series) > 0)
      hearth_mib_table_append(table, slot->context, &slot->series, count_of(&slot->series));
  }
}

void hearth_mib_cache_show(const hearth_mib_cache *cache, hearth_mib_view *view) {
  for (size_t i = 0; i < HEARTH_MIB_CACHE_SLOTS; ++i) {
    const hearth_mib_slot *slot = &cache->slots[i];
    if (hearth_mib_series_sums_of(&slot->series)->count > 0 && slot->context < view->count)
      hearth_mib_append(hearth_mib_view_change(view, slot->context), &slot->series);
  }
}

void hearth_mib_cache_forget(hearth_mib_cache *cache) {
  for (size_t i = 0; i < HEARTH_MIB_CACHE_SLOTS; ++i)
    *count_of(&cache->slots[i].series) = 0;
}
