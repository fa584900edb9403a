/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Most calls come from a stack that the thread knows, by its frame chain or its cache of stacks. The others are
 * unwound, folded, and put into the depot. */
#include "blocks.h"

#include "block.h"
#include "mappings.h"
#include "os.h"
#include "running_profile.h"
#include "thread_state.h"

/* A signal handler that interrupts this draws from the same numbers: no harm. */
static inline bool is_sampled(uint64_t mean_bytes, size_t size) {
  hearth_sampler *sampler = &hearth_this_thread.sampler;

  if (__builtin_expect(sampler->random == 0, false))
    hearth_sampler_begin(sampler, mean_bytes, hearth_os_now_ns() ^ hearth_os_thread_pointer() ^ hearth_rt.pid << 48);
  return hearth_sampler_take(sampler, mean_bytes, size);
}

/* Write the call stack, folded if that is wanted. Returns its depth. */
static size_t find_stack(const hearth_frame *frame, hearth_thread_cache *cache, uint64_t *ret_pcs,
                         hearth_trail *ret_trail) {
  size_t most = hearth_rt.options.stack_depth;
  bool folds = hearth_rt.options.recursion == HEARTH_RECURSION_FOLD;
  hearth_previous_stack *previous = cache ? &cache->previous : NULL;
  hearth_known_stack known = previous ? hearth_previous_stack_keep(previous, frame) : (hearth_known_stack){NULL, NULL};
  size_t depth = hearth_unwind(frame, &known, ret_pcs, most, ret_trail);

  if (previous && hearth_previous_stack_set(previous, ret_pcs, depth, most, ret_trail))
    return hearth_previous_stack_copy(previous, folds, most, ret_pcs);
  if (ret_trail->ends_at) /* too deep with the rest */
    depth = hearth_unwind(frame, NULL, ret_pcs, most, ret_trail);
  return folds ? hearth_fold_recursion(ret_pcs, depth) : depth;
}

/* Did frame pointers alone lead to the root? Then they are followed without unwinding from now on. */
static void learn_chain(hearth_frame_chain *chain, const hearth_frame *frame, const hearth_trail *trail) {
  size_t most = hearth_rt.options.stack_depth;

  if (trail->lasts && trail->frame_count > 0 && trail->frame_count < most)
    hearth_frame_chain_end(
        chain, frame, trail->frame_count,
        (hearth_chain_manner){.most = most, .folds = hearth_rt.options.recursion == HEARTH_RECURSION_FOLD});
}

/* Forget what was remembered of code that has changed since (hearth_threads_forget_stacks). */
static void forget_old_code(hearth_thread_cache *cache) {
  uint32_t closings = __atomic_load_n(&hearth_mappings_closings, __ATOMIC_ACQUIRE);

  if (__builtin_expect(cache->closings == closings, true))
    return;
  cache->closings = closings;
  hearth_frame_chain_forget(&cache->chain);
  cache->previous.count = cache->previous.word_count = 0;
}

/* The context of a call stack that is not among those that the thread knows. */
static __attribute__((noinline)) uint32_t capture(const hearth_frame *frame, hearth_thread_cache *cache) {
  uint64_t pcs[HEARTH_DEPTH_MOST];
  hearth_trail trail;
  bool is_new;

  if (cache)
    forget_old_code(cache);
  bool is_chain = cache && cache->chain.complete;
  size_t depth = is_chain ? hearth_frame_chain_copy(&cache->chain, pcs) : find_stack(frame, cache, pcs, &trail);
  hearth_mappings_tell_apart(pcs, depth, true);
  uint32_t context = hearth_depot_insert(&hearth_rt.depot, pcs, (uint32_t)depth, &is_new);
  if (is_new && hearth_rt.options.unwind == HEARTH_UNWIND_FP) /* reading rules covers them, too */
    hearth_mappings_cover(pcs, depth);
  if (!cache || context == 0) /* a stack without room is counted each time */
    return context;
  if (is_chain) {
    hearth_frame_chain_set_context(&cache->chain, context);
    return context;
  }
  learn_chain(&cache->chain, frame, &trail);
  hearth_stack_cache_add(&cache->stacks, frame, &trail, context);
  return context;
}

/* The context of a call stack that the thread knows. */
inline bool hearth_find_known_context(hearth_thread_cache *cache, const hearth_frame *frame, bool may_wait,
                                      uint32_t *ret_context) {
  *ret_context = hearth_frame_chain_find(&cache->chain, frame, may_wait);
  if (__builtin_expect(*ret_context > 0, true))
    return true;
  return !cache->chain.complete && hearth_stack_cache_find(&cache->stacks, frame, ret_context);
}

/* Compare with what unwinding the whole stack gives, without what the thread remembers. */
static __attribute__((noinline)) uint32_t verify(const hearth_frame *frame, uint32_t context) {
  uint64_t pcs[HEARTH_DEPTH_MOST];
  hearth_trail trail;
  bool is_new;

  size_t depth = find_stack(frame, NULL, pcs, &trail);
  hearth_mappings_tell_apart(pcs, depth, true);
  uint32_t unwound = hearth_depot_insert(&hearth_rt.depot, pcs, (uint32_t)depth, &is_new);
  __atomic_fetch_add(&hearth_rt.verified_contexts, 1, __ATOMIC_RELAXED);
  if (unwound != context)
    __atomic_fetch_add(&hearth_rt.differing_contexts, 1, __ATOMIC_RELAXED);
  return unwound;
}

/* The context of a call stack. `cache` may be NULL. */
static inline uint32_t find_stack_context(const hearth_frame *frame, hearth_thread_cache *cache) {
  uint32_t context;

  if (cache && hearth_find_known_context(cache, frame, true, &context))
    return context;
  return capture(frame, cache);
}

/* The context of an allocation, without scopes; HEARTH_NO_CONTEXT: it is not to be recorded. */
static inline uint32_t find_call_context(size_t size, const hearth_frame *frame, hearth_thread_cache *cache) {
  if (!hearth_rt.recording)
    return HEARTH_NO_CONTEXT;
  hearth_watch_forks();
  uint64_t mean_bytes = hearth_rt.options.sample;
  if (__builtin_expect(mean_bytes != 0, false) &&
      (!is_sampled(mean_bytes, size) || __atomic_load_n(&hearth_rt.paused, __ATOMIC_RELAXED)))
    return HEARTH_NO_CONTEXT;
  if (hearth_guard_is_held(&hearth_this_thread.in_runtime)) {
    __atomic_fetch_add(&hearth_rt.dropped_blocks, 1, __ATOMIC_RELAXED);
    return HEARTH_NO_CONTEXT;
  }
  if (hearth_reentry_interrupted())
    cache = NULL;
  uint32_t context = find_stack_context(frame, cache);
  return __builtin_expect(hearth_rt.options.verify_contexts > 0, false) ? verify(frame, context) : context;
}

/* The cache of contexts that the thread's scopes made lately; a signal handler that interrupted the runtime has
 * none. */
static inline hearth_scope_cache *scope_cache(hearth_thread_cache *cache) {
  return cache && !hearth_reentry_interrupted() ? &cache->scopes : NULL;
}

inline uint32_t hearth_find_context(size_t size, const hearth_frame *frame, hearth_thread_cache *cache) {
  uint32_t context = find_call_context(size, frame, cache);

  return __builtin_expect(hearth_rt.recording, true) ? hearth_scopes_apply(context, scope_cache(cache)) : context;
}

uint32_t hearth_context_of(const hearth_frame *frame) {
  hearth_reentry_enter();
  uint32_t context = hearth_find_context(0, frame, hearth_thread_cache_own());
  hearth_reentry_leave();
  return context;
}

uint32_t hearth_block_context(size_t size, const hearth_frame *frame, uint64_t heap_pc, hearth_thread_cache *cache) {
  return hearth_scopes_extend(find_call_context(size, frame, cache), heap_pc, scope_cache(cache));
}
