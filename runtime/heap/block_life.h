/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How the life of a block begins and ends: its moments, counters, record, and part of the live bytes. For blocks.c, in
 * critical sections. */
#ifndef HEARTH_RUNTIME_BLOCK_LIFE_H
#define HEARTH_RUNTIME_BLOCK_LIFE_H

#include "clock.h"
#include "history.h"
#include "running_profile.h"
#include "sample.h"
#include "thread_cache.h"

/* On the fast paths. */
static inline hearth_moment birth_now(void) {
  return (hearth_moment){hearth_clock_birth_ns() - hearth_rt.start_ns, hearth_os_cpu()};
}

/* As exact as births are, which headers round: lifetimes have no bias. */
static inline hearth_moment rounded(uint64_t end_ns) {
  return (hearth_moment){hearth_header_round_time(end_ns), hearth_os_cpu()};
}

static inline hearth_moment end_now(const hearth_block *block) {
  uint64_t start_ns = hearth_rt.start_ns;

  return rounded(hearth_clock_end_ns(block->alloc_ns + start_ns) - start_ns);
}

/* On the others, when a block begins, or ends. One without record may do so before the clock can be read. */
static inline hearth_moment moment_for(uint32_t context) {
  return context == HEARTH_NO_CONTEXT
             ? (hearth_moment){0, 0}
             : (hearth_moment){hearth_clock_read_for_birth() - hearth_rt.start_ns, hearth_os_cpu()};
}

static inline hearth_moment moment_of_end(const hearth_block *block) {
  uint64_t start_ns = hearth_rt.start_ns;

  return block->context == HEARTH_NO_CONTEXT
             ? (hearth_moment){0, 0}
             : rounded(hearth_clock_read_for_end(block->alloc_ns + start_ns) - start_ns);
}

static __attribute__((noinline)) int64_t estimate_live_bytes(const hearth_block *block) {
  return (int64_t)(block->size * hearth_mib_weight(block, hearth_rt.options.sample));
}

/* The bytes that a block with a context counts for the peak. */
static inline int64_t live_bytes_of(const hearth_block *block) {
  return __builtin_expect(hearth_rt.options.sample > 0, false) ? estimate_live_bytes(block) : (int64_t)block->size;
}

/* The same when it begins: as its header will tell. */
static __attribute__((noinline)) int64_t estimate_new_bytes(hearth_header *header, size_t size, uint32_t context,
                                                            uint64_t birth_ns) {
  hearth_block block = {
      .header = header, .size = size, .context = context, .alloc_ns = hearth_header_round_time(birth_ns)};

  return estimate_live_bytes(&block);
}

static __attribute__((noinline)) void forget_type(const hearth_header *header) {
  uint64_t *type = hearth_granule_word(&hearth_block_types, (uintptr_t)(header + 1));

  if (type)
    *type = 0;
}

/* A block begins its life: its header is complete. */
static inline void block_publish(hearth_header *header, size_t size, uint32_t context, hearth_moment birth) {
  if (__builtin_expect(hearth_block_types.any, false))
    forget_type(header);
  if (hearth_rt.counts_live && context != HEARTH_NO_CONTEXT)
    hearth_live_change(__builtin_expect(hearth_rt.options.sample > 0, false)
                           ? estimate_new_bytes(header, size, context, birth.ns)
                           : (int64_t)size);
  hearth_header_publish(header, hearth_header_life(context, birth.cpu, birth.ns));
}

static inline void begin_life_in_place(hearth_header *header, size_t size, uint32_t context, hearth_moment birth) {
  if (context != HEARTH_NO_CONTEXT)
    hearth_shadow_clear_in_place(hearth_header_memory(header), size);
  block_publish(header, size, context, birth);
}

static inline void begin_life(hearth_header *header, size_t size, uint32_t context, hearth_moment birth) {
  if (context != HEARTH_NO_CONTEXT)
    hearth_shadow_clear(hearth_header_memory(header), size);
  block_publish(header, size, context, birth);
}

static __attribute__((noinline)) bool record_shared(const hearth_block *block, hearth_moment end) {
  hearth_mib one = hearth_mib_of_block(block, hearth_shadow_sum(hearth_header_memory(block->header), block->size), end);

  hearth_mib_weigh(&one, block, hearth_rt.options.sample);
  if (!hearth_mib_table_record(&hearth_rt.mibs, block, &one))
    return false;
  hearth_header_set_state(block->header, HEARTH_BLOCK_FREE);
  return true;
}

/* A child's blocks that its parent allocated are not. */
static inline bool block_is_recorded(const hearth_block *block) {
  return block->context < hearth_rt.mibs.count && block->alloc_ns >= hearth_rt.fork_ns;
}

static inline bool is_counted_live(const hearth_block *block) {
  return block->context != HEARTH_NO_CONTEXT && block->alloc_ns >= hearth_rt.fork_ns;
}

/* For the peak: a block ends. */
static inline void end_live(const hearth_block *block) {
  if (hearth_rt.counts_live && is_counted_live(block))
    hearth_live_change(-live_bytes_of(block));
}

/* A block ends: did its thread do nothing else since it allocated it? */
static inline void note_temporary(hearth_thread_cache *cache, const hearth_block *block) {
  cache->temporary_blocks += block->header == cache->newest_block;
  cache->newest_block = NULL;
}

/* Is a dump of the peak to be looked after before this block ends? */
static inline bool may_end_peak(const hearth_block *block) {
  return __atomic_load_n(&hearth_live_gate, __ATOMIC_RELAXED) ||
         (is_counted_live(block) && hearth_live_falls(live_bytes_of(block)));
}

/* Record a claimed block. False: not possible in this signal handler. */
static inline bool record_end(const hearth_block *block, hearth_moment end, hearth_thread_cache *cache) {
  hearth_watch_forks();
  if (__builtin_expect(!block_is_recorded(block), false)) {
    end_live(block);
    hearth_header_set_state(block->header, HEARTH_BLOCK_FREE);
    return true;
  }
  bool recorded = __builtin_expect(!cache || hearth_rt.mibs.histograms.by_context, false)
                      ? record_shared(block, end)
                      : hearth_mib_cache_record(&cache->mibs, &hearth_rt.mibs, block,
                                                hearth_shadow_sum(hearth_header_memory(block->header), block->size),
                                                end, hearth_rt.options.sample);
  if (recorded) {
    end_live(block);
    hearth_history_end(cache ? cache->history : NULL, block, end.ns);
  }
  if (recorded && cache)
    note_temporary(cache, block);
  return recorded;
}

#endif
