#include "mib_cache.h"

#include "section.h"

static uint64_t *count_of(hearth_mib_run *run) { return &run->sums[run->current].count; }

/* Apart, so that its pointers stay in registers. */
static __attribute__((noinline)) void add_one(hearth_mib_run *run, const hearth_block *block, const hearth_figures *of,
                                              hearth_moment end) {
  hearth_mib_run_add(run, block, of, end, 1);
}

/* Make the slot one for the context of a block: its run goes to the table, unless that would have to wait. */
static __attribute__((noinline)) bool change_context(hearth_mib_slot *slot, hearth_mib_table *table, uint32_t context) {
  hearth_mib_run *run = &slot->run;

  if (*count_of(run) > 0 && !hearth_mib_table_append(table, slot->context, run, count_of(run)))
    return false;
  slot->context = context; /* matters to nobody while the run is empty */
  return true;
}

inline bool hearth_mib_cache_record(hearth_mib_cache *cache, hearth_mib_table *table, hearth_block *block,
                                    hearth_access_sum accesses, hearth_moment end, uint64_t mean_bytes) {
  hearth_mib_slot *slot = &cache->slots[block->context % HEARTH_MIB_CACHE_SLOTS];
  hearth_mib_run *run = &slot->run;

  if (__builtin_expect(slot->context != block->context, false) && !change_context(slot, table, block->context))
    return false;
  hearth_figures of = hearth_figures_of_block(block, accesses, end);
  if (__builtin_expect(mean_bytes == 0, true))
    add_one(run, block, &of, end);
  else
    hearth_mib_run_add(run, block, &of, end, hearth_mib_weight(block, mean_bytes));
  hearth_mib_update_make(&(hearth_mib_update){.word = &run->current, .value = 1 - run->current, .block = block});
  return true;
}

void hearth_mib_cache_flush(hearth_mib_cache *cache, hearth_mib_table *table) {
  for (size_t i = 0; i < HEARTH_MIB_CACHE_SLOTS; ++i) {
    hearth_mib_slot *slot = &cache->slots[i];
    if (*count_of(&slot->run) > 0)
      hearth_mib_table_append(table, slot->context, &slot->run, count_of(&slot->run));
  }
}

void hearth_mib_cache_show(const hearth_mib_cache *cache, hearth_mib_view *view) {
  for (size_t i = 0; i < HEARTH_MIB_CACHE_SLOTS; ++i) {
    const hearth_mib_slot *slot = &cache->slots[i];
    if (slot->run.sums[slot->run.current].count > 0 && slot->context < view->count)
      hearth_mib_append(hearth_mib_view_change(view, slot->context), &slot->run);
  }
}

void hearth_mib_cache_forget(hearth_mib_cache *cache) {
  for (size_t i = 0; i < HEARTH_MIB_CACHE_SLOTS; ++i)
    *count_of(&cache->slots[i].run) = 0;
}
