/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All caches are in a list and are never unmapped: a thread that ends leaves its cache to the next one that begins. */
#include "blocks.h"

#include "history.h"
#include "os.h"
#include "running_profile.h"
#include "thread_state.h"

#include <pthread.h>
#include <string.h>

/* How long a store may stay unseen by other processors, where no barrier can be had: no store does so long. */
#define STORE_NS UINT64_C(1000000)

hearth_lock hearth_threads_stopper;
bool hearth_threads_fence;

static hearth_lock registry_lock; /* of the list, and of the idle caches */
static hearth_thread_cache *caches;
static pthread_key_t key; /* its destructor runs when a thread ends */
static bool key_exists;

static hearth_thread_cache *take_idle(void) {
  for (hearth_thread_cache *cache = caches; cache; cache = cache->next)
    if (cache->idle) {
      cache->idle = false;
      return cache;
    }
  return NULL;
}

static hearth_thread_cache *thread_cache_make(void) {
  hearth_thread_cache *cache = hearth_system_map_sparse(sizeof *cache);

  if (cache) {
    cache->next = caches;
    caches = cache;
  }
  return cache;
}

hearth_thread_cache *hearth_thread_cache_attach(void) {
  if (!hearth_rt.recording || hearth_this_thread.ends || hearth_reentry_is_nested() || hearth_this_thread_forks())
    return NULL;
  hearth_lock_take(&registry_lock);
  hearth_thread_cache *cache = take_idle();
  if (!cache)
    cache = thread_cache_make();
  hearth_lock_give(&registry_lock);
  if (cache && key_exists) {
    bool outer = hearth_guard_enter(&hearth_this_thread.in_runtime); /* the C library may allocate */
    pthread_setspecific(key, cache);
    hearth_guard_leave(&hearth_this_thread.in_runtime, outer);
  }
  hearth_this_thread.cache = cache;
  if (cache && !hearth_this_thread.signal_stack && hearth_rt.options.handle_signals)
    hearth_signal_stack_begin();
  return cache;
}

hearth_thread_cache *hearth_thread_cache_take_slowly(hearth_thread_cache *cache) {
  bool nested = hearth_reentry_is_nested();

  if (nested && cache->in_use)
    return NULL;
  for (;;) {
    hearth_thread_cache_mark(cache);
    if (!hearth_threads_are_stopped() || hearth_this_thread_forks())
      return cache;
    hearth_thread_cache_give(cache);
    if (nested)
      return NULL;
    while (hearth_threads_are_stopped())
      hearth_os_yield();
  }
}

/* Destructors of other libraries may still allocate: without cache. */
static void end_thread(void *closure) {
  hearth_reentry_enter();
  hearth_thread_cache *cache = hearth_thread_cache_take(hearth_this_thread.cache);
  hearth_this_thread.ends = true;
  if (cache && cache == closure) {
    hearth_heap_cache_flush(&cache->heap);
    hearth_mib_cache_flush(&cache->mibs, &hearth_rt.mibs);
    hearth_history_flush(cache->history);
    hearth_this_thread.cache = NULL;
    hearth_thread_cache_give(cache);
    hearth_lock_take(&registry_lock);
    hearth_frame_chain_forget(&cache->chain);
    cache->previous.count = 0; /* another thread's stack */
    hearth_stack_cache_forget(&cache->stacks);
    cache->idle = true;
    hearth_lock_give(&registry_lock);
  }
  if (hearth_recorder)
    hearth_recorder->end_thread();
  if (hearth_rt.counts_live)
    hearth_live_tell();
  hearth_signal_stack_end();
  hearth_reentry_leave();
}

/* Not in `start`, which comes too early for the C library. */
__attribute__((constructor)) static void watch_threads(void) { key_exists = pthread_key_create(&key, end_thread) == 0; }

void hearth_threads_begin(void) { hearth_threads_fence = !hearth_os_barrier_begin(); }

static void make_stores_seen(void) {
  if (hearth_threads_fence || hearth_os_barrier())
    return;
  for (uint64_t start_ns = hearth_os_now_ns(); hearth_os_now_ns() - start_ns < STORE_NS;)
    ;
}

/* The interrupted thread keeps a cache that it has in use, and so does a thread that does not give it up for long. */
static bool wait_for(hearth_thread_cache *cache) {
  hearth_patience patience = {0};

  while (cache != hearth_this_thread.cache && __atomic_load_n(&cache->in_use, __ATOMIC_ACQUIRE))
    if (!hearth_patience_left(&patience)) {
      cache->missed = true;
      return false;
    }
  return true;
}

unsigned hearth_threads_stop(void) {
  unsigned missed = !hearth_lock_take_or_keep(&registry_lock);

  if (hearth_lock_take_or_keep(&hearth_threads_stopper)) {
    make_stores_seen();
    for (hearth_thread_cache *cache = caches; cache; cache = cache->next)
      missed += !wait_for(cache);
  } else {
    ++missed;
  }
  missed += !hearth_allocators_lock();
  return missed + hearth_mib_table_lock(&hearth_rt.mibs) + hearth_heap_lock();
}

static void forget_missed(void) {
  for (hearth_thread_cache *cache = caches; cache; cache = cache->next) {
    if (cache->missed && hearth_lock_others_are_gone)
      hearth_thread_cache_give(cache);
    cache->missed = false;
  }
}

void hearth_threads_continue(void) {
  hearth_heap_unlock();
  hearth_mib_table_unlock(&hearth_rt.mibs);
  hearth_allocators_unlock();
  if (hearth_lock_is_mine(&hearth_threads_stopper))
    forget_missed();
  hearth_lock_give_or_keep(&hearth_threads_stopper);
  hearth_lock_give_or_keep(&registry_lock);
}

hearth_heap_usage hearth_threads_heap_usage(void) {
  uint64_t signals = hearth_os_block_signals();

  hearth_threads_stop();
  hearth_heap_usage usage = hearth_heap_get_usage();
  hearth_threads_continue();
  hearth_os_restore_signals(signals);
  return usage;
}

uint64_t hearth_threads_temporary_blocks(void) {
  uint64_t count = 0;

  for (const hearth_thread_cache *cache = caches; cache; cache = cache->next)
    count += cache->temporary_blocks;
  return count;
}

uint64_t hearth_threads_memory(void) {
  uint64_t size = 0;

  for (const hearth_thread_cache *cache = caches; cache; cache = cache->next)
    size += sizeof *cache;
  return size;
}

void hearth_threads_show_records(hearth_mib_view *view) {
  for (const hearth_thread_cache *cache = caches; cache; cache = cache->next)
    hearth_mib_cache_show(&cache->mibs, view);
}

void hearth_threads_flush_history(void) {
  for (hearth_thread_cache *cache = caches; cache; cache = cache->next)
    if (!cache->missed)
      hearth_history_flush(cache->history);
}

static void forget_cached_records(hearth_mib_cache *cache) {
  for (size_t i = 0; i < HEARTH_MIB_CACHE_SLOTS; ++i)
    cache->slots[i].series.mib.AllocCount = 0;
}

void hearth_threads_forget_records(void) {
  hearth_mib_table_forget(&hearth_rt.mibs);
  for (hearth_thread_cache *cache = caches; cache; cache = cache->next)
    if (!cache->missed) /* its thread may be changing it */
      forget_cached_records(&cache->mibs);
}

/* The owners see to what is left (capture, call_contexts.c), which they look at only if they find no context. */
void hearth_threads_forget_stacks(void) {
  uint64_t signals = hearth_os_block_signals();

  hearth_lock_take(&registry_lock);
  for (hearth_thread_cache *cache = caches; cache; cache = cache->next) {
    hearth_frame_chain_forget_contexts(&cache->chain);
    hearth_stack_cache_forget(&cache->stacks);
  }
  hearth_lock_give(&registry_lock);
  hearth_os_restore_signals(signals);
}

void hearth_threads_forget_others(void) {
  for (hearth_thread_cache *cache = caches; cache; cache = cache->next) {
    memset(cache->history, 0, sizeof cache->history); /* its parent's */
    if (cache == hearth_this_thread.cache)
      continue;
    forget_cached_records(&cache->mibs);
    if (cache->idle || cache->missed)
      continue;
    hearth_heap_cache_flush(&cache->heap);
    hearth_frame_chain_forget(&cache->chain);
    hearth_stack_cache_forget(&cache->stacks);
    cache->idle = true;
  }
}

/* A direct-mapped cache: the slot of a context is its id modulo the number of slots. Another context in the slot
 * sends the old one's records to the table. */

/* Apart, so that its pointers stay in registers. */
static __attribute__((noinline)) void add_one(hearth_mib_series *series, const hearth_block *block, uint64_t accesses,
                                              uint64_t touched, uint64_t lines, hearth_moment end) {
  hearth_figures of =
      hearth_figures_with_lifetime(block, (hearth_access_sum){.accesses = accesses, .lines = lines, .touched = touched},
                                   hearth_mib_series_lifetime(series, block, end));

  hearth_mib_series_add(series, block, &of, end, 1);
}

static __attribute__((noinline)) void add_weighed(hearth_mib_series *series, const hearth_block *block,
                                                  hearth_access_sum accesses, hearth_moment end) {
  hearth_figures of = hearth_figures_of_block(block, accesses, end);

  hearth_mib_series_add(series, block, &of, end, hearth_mib_weight(block));
}

/* Make the slot one for the context of a block: its series goes to the table, unless that would have to wait. */
static __attribute__((noinline)) bool change_context(hearth_mib_slot *slot, hearth_mib_table *table, uint32_t context) {
  hearth_mib_series *series = &slot->series;

  if (series->mib.AllocCount > 0 && !hearth_mib_table_append(table, slot->context, series))
    return false;
  series->sample_lifetime = 0;
  slot->context = context; /* matters to nobody while the series is empty */
  return true;
}

inline bool hearth_mib_cache_record(hearth_mib_cache *cache, hearth_mib_table *table, const hearth_block *block,
                                    hearth_access_sum accesses, hearth_moment end) {
  hearth_mib_slot *slot = &cache->slots[block->context % HEARTH_MIB_CACHE_SLOTS];
  hearth_mib_series *series = &slot->series;

  if (__builtin_expect(slot->context != block->context, false) && !change_context(slot, table, block->context))
    return false;
  if (__builtin_expect(hearth_rt.options.sample == 0, true))
    add_one(series, block, accesses.accesses, accesses.touched, accesses.lines, end);
  else
    add_weighed(series, block, accesses, end);
  hearth_header_set_state(block->header, HEARTH_BLOCK_FREE);
  return true;
}

void hearth_mib_cache_flush(hearth_mib_cache *cache, hearth_mib_table *table) {
  for (size_t i = 0; i < HEARTH_MIB_CACHE_SLOTS; ++i) {
    hearth_mib_slot *slot = &cache->slots[i];
    if (slot->series.mib.AllocCount > 0)
      hearth_mib_table_append(table, slot->context, &slot->series);
  }
}

void hearth_mib_cache_show(const hearth_mib_cache *cache, hearth_mib_view *view) {
  for (size_t i = 0; i < HEARTH_MIB_CACHE_SLOTS; ++i) {
    const hearth_mib_slot *slot = &cache->slots[i];
    if (slot->series.mib.AllocCount > 0 && slot->context < view->count)
      hearth_mib_append(hearth_mib_view_change(view, slot->context), &slot->series);
  }
}
