#include "mib_cache.h"

#include "section.h"

static hearth_mib_run *run_of(hearth_mib_slot *slot) { return &slot->runs[slot->current]; }

static __attribute__((noinline)) void add_sampled(hearth_mib_run *to, const hearth_mib_run *run,
                                                  const hearth_block *block, hearth_access_sum accesses,
                                                  hearth_moment end, uint64_t mean_bytes) {
  hearth_mib one = hearth_mib_of_block(block, accesses, end);

  hearth_mib_weigh(&one, block, mean_bytes);
  *to = *run;
  hearth_mib_run_follow(to, &one);
}

inline bool hearth_mib_cache_record(hearth_mib_cache *cache, hearth_mib_table *table, hearth_block *block,
                                    hearth_access_sum accesses, hearth_moment end, uint64_t mean_bytes) {
  hearth_mib_slot *slot = &cache->slots[block->context % HEARTH_MIB_CACHE_SLOTS];
  hearth_mib_run *run = run_of(slot);

  if (run->sum.AllocCount > 0 && slot->context != block->context && !hearth_mib_table_append(table, slot->context, run))
    return false;
  slot->context = block->context; /* matters to nobody while the run is empty */
  uint64_t other = 1 - slot->current;
  if (__builtin_expect(mean_bytes == 0, true))
    hearth_mib_run_add(&slot->runs[other], run, block, accesses, end);
  else
    add_sampled(&slot->runs[other], run, block, accesses, end, mean_bytes);
  hearth_mib_update_make(&(hearth_mib_update){.word = &slot->current, .value = other, .block = block});
  return true;
}

void hearth_mib_cache_flush(hearth_mib_cache *cache, hearth_mib_table *table) {
  for (size_t i = 0; i < HEARTH_MIB_CACHE_SLOTS; ++i) {
    hearth_mib_slot *slot = &cache->slots[i];
    if (run_of(slot)->sum.AllocCount > 0)
      hearth_mib_table_append(table, slot->context, run_of(slot));
  }
}

void hearth_mib_cache_show(const hearth_mib_cache *cache, hearth_mib_view *view) {
  for (size_t i = 0; i < HEARTH_MIB_CACHE_SLOTS; ++i) {
    const hearth_mib_slot *slot = &cache->slots[i];
    const hearth_mib_run *run = &slot->runs[slot->current];
    if (run->sum.AllocCount > 0 && slot->context < view->count)
      hearth_mib_append(hearth_mib_view_change(view, slot->context), run);
  }
}

void hearth_mib_cache_forget(hearth_mib_cache *cache) {
  for (size_t i = 0; i < HEARTH_MIB_CACHE_SLOTS; ++i)
    run_of(&cache->slots[i])->sum.AllocCount = 0;
}
