/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each operation has a fast path, which takes a block from the thread's cache and neither waits nor takes a lock, and a
 * slow path for all else: other sizes, new call stacks, signal handlers, stopped threads. hearth_rt.path tells which
 * fast path there is. Those of instrumented programs are tried first (hearth_allocate_fast). The conditions of `hearth
 * record` and of heap dumps are tested after them. */
#include "blocks.h"

#include "block_life.h"
#include "message.h"
#include "os.h"
#include "thread_state.h"
#include "watched.h"

#include <string.h>

static void do_nothing_due(uint64_t now_ns) { (void)now_ns; }

static void watch_nothing(void) {}

hearth_heap_hooks hearth_hooks = {do_nothing_due, watch_nothing};
const hearth_recorder_table *hearth_recorder;

/* Blocks that signal handlers freed while a lock that this needs was taken. The list is kept in their memory;
 * every block has room for it. */
typedef struct aside {
  hearth_header *next;
  hearth_moment end;
} aside;

static hearth_header *set_aside;

_Static_assert(sizeof(aside) <= HEARTH_LEAST_ROOM, "the least block has room");

static __attribute__((noinline)) void put_aside(hearth_header *block, hearth_moment end) {
  aside *note = hearth_header_memory(block);

  note->end = end;
  note->next = __atomic_load_n(&set_aside, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&set_aside, &note->next, block, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    ;
}

/* End a claimed block. */
static inline void end_life(const hearth_block *block, hearth_chunk chunk, hearth_moment end,
                            hearth_thread_cache *cache) {
  bool recorded = hearth_header_state(block->header) == HEARTH_BLOCK_FREE || record_end(block, end, cache);

  if (!recorded || !hearth_heap_give(chunk, cache ? &cache->heap : NULL))
    put_aside(block->header, end);
}

static __attribute__((noinline)) void end_blocks_set_aside(hearth_thread_cache *cache) {
  hearth_header *header = __atomic_exchange_n(&set_aside, NULL, __ATOMIC_ACQUIRE);

  while (header) {
    aside note = *(aside *)hearth_header_memory(header);
    hearth_chunk chunk;
    hearth_block block = hearth_heap_read(header, &chunk);
    end_life(&block, chunk, note.end, cache);
    header = note.next;
  }
}

/* Threads that allocate or free something do the periodic dumps, outside of all critical sections: a part
 * would count a block twice that an interrupted critical section is about to record. */
static __attribute__((noinline)) void dump_what_is_due(uint64_t now_ns) {
  if (hearth_this_thread.depth > 0 || hearth_guard_is_held(&hearth_this_thread.in_runtime) ||
      hearth_this_thread_forks())
    return;
  hearth_hooks.dump_due(now_ns);
}

static __attribute__((noinline)) void *resume_signals(void *result) {
  hearth_signals_resume();
  return result;
}

/* Most calls take this path: a block comes from this thread's cache, or goes back into it. Nothing waits here. Where a
 * wait would be needed, there is no cache, or the result is NULL or false, and nothing happened. The slow path follows,
 * and its critical section resumes signals. */
static inline hearth_thread_cache *begin_fast(void) {
  hearth_thread_cache *cache = hearth_this_thread.cache;

  if (__builtin_expect(!cache || hearth_this_thread.depth > 0, false))
    return NULL;
  hearth_reentry_enter_first();
  hearth_thread_cache_mark(cache);
  return cache;
}

/* Returns whether signals came meanwhile. */
static inline bool end_fast(hearth_thread_cache *cache) {
  hearth_thread_cache_give(cache);
  return hearth_reentry_leave_first();
}

/* Nothing happened: the slow path follows. */
static __attribute__((noinline)) bool leave_fast(hearth_thread_cache *cache) {
  end_fast(cache);
  return false;
}

/* One that is not in the sample. */
static inline void *allocate_unrecorded(size_t size, size_t alignment) {
  hearth_header *header = NULL;
  uint64_t left;

  if (alignment > HEARTH_MALLOC_ALIGNMENT || !hearth_sampler_leaves(&hearth_this_thread.sampler, size, &left))
    return NULL;
  hearth_thread_cache *cache = begin_fast();
  if (__builtin_expect(!cache, false))
    return NULL;
  if (__builtin_expect(!hearth_threads_are_stopped(), true))
    header = hearth_heap_take_cached(size, &cache->heap);
  if (__builtin_expect(!header, false)) {
    leave_fast(cache);
    return NULL;
  }
  hearth_header_publish(header, hearth_header_life(HEARTH_NO_CONTEXT, 0, 0));
  hearth_this_thread.sampler.bytes_left = left;
  return end_fast(cache) ? resume_signals(hearth_header_memory(header)) : hearth_header_memory(header);
}

static inline void block_clear_counters(const void *memory, size_t size) {
  if (__builtin_expect(hearth_shadow_is_coarse || size > HEARTH_FEW_BYTES, false))
    hearth_shadow_clear(memory, size);
  else
    hearth_shadow_clear_block(memory, size);
}

static inline hearth_access_sum sum_counters(const void *memory, size_t size) {
  return __builtin_expect(hearth_shadow_is_coarse, false) ? hearth_shadow_sum(memory, size)
                                                          : hearth_shadow_sum_block(memory, size);
}

static __attribute__((noinline)) void *finish_slowly(void *memory, uint64_t now_ns, bool signalled) {
  if (now_ns >= hearth_rt.next_due_ns)
    dump_what_is_due(now_ns);
  return signalled ? resume_signals(memory) : memory;
}

/* One from a call stack that the thread knows. Compiled for each of the paths, where no sample is taken. */
static inline __attribute__((always_inline)) void *allocate_recorded(size_t size, size_t alignment,
                                                                     const hearth_frame *frame, bool has_counters) {
  hearth_header *header = NULL;
  uint32_t context;

  hearth_thread_cache *cache = begin_fast();
  if (__builtin_expect(!cache, false))
    return NULL;
  if (__builtin_expect(alignment <= HEARTH_MALLOC_ALIGNMENT && !hearth_guard_is_held(&hearth_this_thread.in_runtime) &&
                           !hearth_threads_are_stopped() && hearth_find_known_context(cache, frame, &context),
                       true))
    header = hearth_heap_take_cached(size, &cache->heap);
  if (__builtin_expect(!header, false)) {
    leave_fast(cache);
    return NULL;
  }
  hearth_moment birth = birth_now();
  if (has_counters)
    block_clear_counters(hearth_header_memory(header), size);
  else
    cache->newest_block = header;
  block_publish(header, size, hearth_scopes_apply(context, &cache->scopes), birth);
  bool signalled = end_fast(cache);
  if (__builtin_expect(signalled || birth.ns >= hearth_rt.next_due_ns, false))
    return finish_slowly(hearth_header_memory(header), birth.ns, signalled);
  return hearth_header_memory(header);
}

/* A block without record. */
static inline bool give_unrecorded(void *pointer, hearth_heap_cache *cache) {
  hearth_block block;
  unsigned class = hearth_heap_find_fast(pointer, cache, &block);

  if (class == HEARTH_NO_CLASS || block.context != HEARTH_NO_CONTEXT)
    return false;
  hearth_header_set_state(block.header, HEARTH_BLOCK_FREE);
  hearth_heap_give_fast(block.header, class, cache);
  return true;
}

static inline bool release_unrecorded(void *pointer) {
  hearth_thread_cache *cache = begin_fast();

  if (__builtin_expect(!cache, false))
    return false;
  bool released = !hearth_threads_are_stopped() && give_unrecorded(pointer, &cache->heap);
  if (end_fast(cache) && released)
    hearth_signals_resume();
  return released;
}

static inline void dump_after(uint64_t end_ns) {
  if (__builtin_expect(end_ns >= hearth_rt.next_due_ns, false))
    dump_what_is_due(end_ns);
}

__attribute__((noinline)) void hearth_block_keep_peak(void *pointer) {
  hearth_block block;

  if (hearth_heap_find(pointer, &block) == HEARTH_POINTER_LIVE && may_end_peak(&block)) {
    hearth_live_tell_before();
    dump_what_is_due(0);
  }
}

/* In live mode, a block that ends leaves no record, and the clock is not read for it. */
static __attribute__((noinline)) bool release_live(void *pointer) {
  unsigned class = HEARTH_NO_CLASS;
  hearth_block block;

  hearth_thread_cache *cache = begin_fast();
  if (__builtin_expect(!cache, false))
    return false;
  bool released = !hearth_threads_are_stopped() && !set_aside &&
                  (class = hearth_heap_find_fast(pointer, &cache->heap, &block)) != HEARTH_NO_CLASS &&
                  !(hearth_rt.tracks_peak && may_end_peak(&block));
  if (__builtin_expect(released, true)) {
    end_live(&block);
    hearth_header_set_state(block.header, HEARTH_BLOCK_FREE);
    hearth_heap_give_fast(block.header, class, &cache->heap);
  }
  if (end_fast(cache) && released)
    hearth_signals_resume();
  return released;
}

static inline __attribute__((always_inline)) bool release_recorded(void *pointer, bool has_counters) {
  unsigned class = HEARTH_NO_CLASS;
  hearth_block block;

  hearth_thread_cache *cache = begin_fast();
  if (__builtin_expect(!cache, false))
    return false;
  if (__builtin_expect(hearth_threads_are_stopped() || set_aside ||
                           (class = hearth_heap_find_fast(pointer, &cache->heap, &block)) == HEARTH_NO_CLASS ||
                           !block_is_recorded(&block),
                       false))
    return leave_fast(cache);
  hearth_moment end = end_now(&block);
  hearth_access_sum sum = has_counters ? sum_counters(pointer, block.size) : (hearth_access_sum){.granules = 1};
  if (__builtin_expect(!hearth_mib_cache_record(&cache->mibs, &hearth_rt.mibs, &block, sum, end, 0), false))
    return leave_fast(cache);
  end_live(&block);
  hearth_history_end(cache->history, &block, end.ns);
  if (!has_counters)
    note_temporary(cache, &block);
  hearth_heap_give_fast(block.header, class, &cache->heap);
  if (__builtin_expect(end_fast(cache), false))
    hearth_signals_resume();
  dump_after(end.ns);
  return true;
}

__attribute__((noinline)) void *hearth_allocate_with(size_t size, size_t alignment, size_t spare, bool zeroed,
                                                     const hearth_frame *frame) {
  bool is_zero;

  if (__builtin_expect(!hearth_threads_known, false)) /* the start has made sure */
    hearth_ensure_heap();
  hearth_reentry_enter();
  hearth_thread_cache *own = hearth_thread_cache_own();
  uint32_t context = hearth_find_context(size, frame, own);
  hearth_thread_cache *cache = hearth_thread_cache_take(own);
  bool is_watched = spare == 0 && context < hearth_rt.mibs.count &&
                    (hearth_rt.path == HEARTH_PATH_SAMPLE || hearth_rt.path == HEARTH_PATH_RECORD);
  hearth_header *block = is_watched ? hearth_watched_take(size, alignment, context, &is_zero) : NULL;
  hearth_moment birth = moment_for(context);
  if (__builtin_expect(!block, true))
    block = hearth_heap_take(size, alignment, spare, cache ? &cache->heap : NULL, &is_zero);
  if (block) {
    if (zeroed && !is_zero)
      memset(hearth_header_memory(block), 0, size);
    if (cache)
      cache->newest_block = block;
    begin_life(block, size, context, birth);
  }
  hearth_thread_cache_give(cache);
  hearth_reentry_leave();
  if (!block)
    return NULL;
  if (__builtin_expect(birth.ns >= hearth_rt.next_due_ns, false))
    dump_what_is_due(birth.ns);
  return hearth_header_memory(block);
}

static __attribute__((noinline)) void *allocate_counted(size_t size, size_t alignment, const hearth_frame *frame) {
  return allocate_recorded(size, alignment, frame, true);
}

static __attribute__((noinline)) void *allocate_uncounted(size_t size, size_t alignment, const hearth_frame *frame) {
  return allocate_recorded(size, alignment, frame, false);
}

/* On the paths that hearth_allocate_fast does not know. Clearing counters that mean nothing does no harm. */
static inline void *allocate_otherwise(size_t size, size_t alignment, const hearth_frame *frame) {
  uint8_t path = hearth_rt.path;

  if (path == HEARTH_PATH_TRACE && hearth_rt.options.sample > 0)
    return allocate_unrecorded(size, alignment);
  if (path != HEARTH_PATH_UNCOUNTED && path != HEARTH_PATH_LIVE && path != HEARTH_PATH_TRACE)
    return NULL;
  return __hearth_counters && !hearth_recorder ? allocate_counted(size, alignment, frame)
                                               : allocate_uncounted(size, alignment, frame);
}

/* Each of the two apart, with its slow path, so that malloc has no registers to save. */
__attribute__((noinline)) void *hearth_allocate_as_recorded(size_t size, size_t alignment, const hearth_frame *frame) {
  void *memory = allocate_recorded(size, alignment, frame, true);

  return __builtin_expect(memory != NULL, true) ? memory : hearth_allocate_with(size, alignment, 0, false, frame);
}

__attribute__((noinline)) void *hearth_allocate_sampled(size_t size, size_t alignment, const hearth_frame *frame) {
  void *memory = allocate_unrecorded(size, alignment);

  return __builtin_expect(memory != NULL, true) ? memory : hearth_allocate_with(size, alignment, 0, false, frame);
}

inline void *hearth_allocate_slowly(size_t size, size_t alignment, const hearth_frame *frame) {
  void *memory = allocate_otherwise(size, alignment, frame);

  return memory ? memory : hearth_allocate_with(size, alignment, 0, false, frame);
}

void *hearth_allocate(size_t size, size_t alignment, const hearth_frame *frame) {
  return hearth_rt.path == HEARTH_PATH_RECORD   ? hearth_allocate_as_recorded(size, alignment, frame)
         : hearth_rt.path == HEARTH_PATH_SAMPLE ? hearth_allocate_sampled(size, alignment, frame)
                                                : hearth_allocate_slowly(size, alignment, frame);
}

static inline void *allocate_fast(size_t size, size_t alignment, const hearth_frame *frame) {
  if (__builtin_expect(hearth_rt.path == HEARTH_PATH_RECORD, true))
    return allocate_counted(size, alignment, frame);
  return hearth_rt.path == HEARTH_PATH_SAMPLE ? allocate_unrecorded(size, alignment)
                                              : allocate_otherwise(size, alignment, frame);
}

void *hearth_allocate_zeroed(size_t count, size_t size, const hearth_frame *frame) {
  size_t total;

  if (__builtin_mul_overflow(count, size, &total))
    return NULL;
  void *memory = allocate_fast(total, HEARTH_MALLOC_ALIGNMENT, frame);
  return memory ? memset(memory, 0, total) : hearth_allocate_with(total, HEARTH_MALLOC_ALIGNMENT, 0, true, frame);
}

_Noreturn void hearth_block_refuse(const void *pointer, hearth_pointer_kind kind, const char *function) {
  const char *reason = kind == HEARTH_POINTER_FREED ? "the block was freed before"
                       : kind == HEARTH_POINTER_BAD ? "no block begins there; it may have been freed before"
                                                    : "the block does not come from this heap";

  hearth_message("%s(%x): %s", function, (uint64_t)(uintptr_t)pointer, reason);
  hearth_os_abort();
}

static __attribute__((noinline)) void block_release(void *pointer, const char *function) {
  hearth_block block;
  hearth_chunk chunk;
  uint64_t end_ns = 0;

  if (__builtin_expect(hearth_rt.tracks_peak, false))
    hearth_block_keep_peak(pointer);
  hearth_reentry_enter();
  hearth_thread_cache *cache = hearth_thread_cache_take(hearth_thread_cache_own());
  hearth_pointer_kind kind = hearth_heap_claim(pointer, &block, &chunk);
  if (kind == HEARTH_POINTER_LIVE) {
    hearth_moment end = moment_of_end(&block);
    end_ns = end.ns;
    end_life(&block, chunk, end, cache);
    if (__builtin_expect(set_aside != NULL, false) && !hearth_reentry_is_nested())
      end_blocks_set_aside(cache);
  }
  hearth_thread_cache_give(cache);
  hearth_reentry_leave();
  dump_after(end_ns);
  if (kind != HEARTH_POINTER_LIVE && kind != HEARTH_POINTER_FOREIGN)
    hearth_block_refuse(pointer, kind, function);
}

/* Each of the two apart: neither is to save the registers that the other needs. */
static __attribute__((noinline)) void release_as_recorded(void *pointer, const char *function) {
  if (!release_recorded(pointer, true))
    block_release(pointer, function);
}

static __attribute__((noinline)) void release_sampled(void *pointer, const char *function) {
  if (!release_unrecorded(pointer))
    block_release(pointer, function);
}

/* On the paths that hearth_release_fast does not know. */
static inline bool release_otherwise(void *pointer) {
  uint8_t path = hearth_rt.path;

  if (path == HEARTH_PATH_UNCOUNTED)
    return release_recorded(pointer, false);
  if (path == HEARTH_PATH_TRACE) /* the trace has all to record */
    return release_unrecorded(pointer);
  return path == HEARTH_PATH_LIVE && release_live(pointer);
}

inline bool hearth_release_fast(void *pointer, const char *function) {
  if (__builtin_expect(hearth_rt.path == HEARTH_PATH_RECORD, true))
    release_as_recorded(pointer, function);
  else if (hearth_rt.path == HEARTH_PATH_SAMPLE)
    release_sampled(pointer, function);
  else
    return false;
  return true;
}

inline void hearth_release_slowly(void *pointer, const char *function) {
  if (!release_otherwise(pointer))
    block_release(pointer, function);
}

void hearth_release(void *pointer, const char *function) {
  if (pointer && !hearth_release_fast(pointer, function))
    hearth_release_slowly(pointer, function);
}

size_t hearth_block_size(const void *pointer) {
  hearth_block block;

  return hearth_heap_find(pointer, &block) == HEARTH_POINTER_LIVE ? block.size : 0;
}

void hearth_block_set_type(const void *pointer, uint64_t type_id) {
  hearth_block block;
  uint64_t *type;

  if (hearth_heap_find(pointer, &block) == HEARTH_POINTER_LIVE &&
      (type = hearth_granule_word_make(&hearth_block_types, (uintptr_t)pointer)))
    *type = type_id;
}
