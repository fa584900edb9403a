/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program's blocks: how one begins, ends, and changes its size. Allocation and release have a fast path, which
 * takes a block from the thread's cache or gives it back, and neither waits nor takes a lock, and a slow path for
 * all else: other sizes, new call stacks, signal handlers, stopped threads. hearth_rt.path tells which fast path
 * there is. */
#include "blocks.h"

#include "block.h"
#include "clock.h"
#include "heap.h"
#include "history.h"
#include "os.h"
#include "output.h"
#include "thread_state.h"

#include <string.h>

static void do_nothing_due(uint64_t now_ns) { (void)now_ns; }

static void watch_nothing(void) {}

hearth_heap_hooks hearth_hooks = {do_nothing_due, watch_nothing};
const hearth_recorder_table *hearth_recorder;

/* -- lives: moments, counters, record, and part of the live bytes; in critical sections ------------------------------- */

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
  return (int64_t)(block->size * hearth_mib_weight(block));
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

static inline void begin_life(hearth_header *header, size_t size, uint32_t context, hearth_moment birth) {
  if (context != HEARTH_NO_CONTEXT)
    hearth_shadow_clear(hearth_header_memory(header), size);
  block_publish(header, size, context, birth);
}

static __attribute__((noinline)) bool record_shared(const hearth_block *block, hearth_moment end) {
  hearth_mib one = hearth_mib_of_block(block, hearth_shadow_sum(hearth_header_memory(block->header), block->size), end);

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
  bool recorded =
      __builtin_expect(!cache || hearth_rt.mibs.histograms.by_context, false)
          ? record_shared(block, end)
          : hearth_mib_cache_record(&cache->mibs, &hearth_rt.mibs, block,
                                    hearth_shadow_sum(hearth_header_memory(block->header), block->size), end);
  if (recorded) {
    end_live(block);
    hearth_history_end(cache ? cache->history : NULL, block, end.ns);
  }
  if (recorded && cache)
    note_temporary(cache, block);
  return recorded;
}

/* -- slow ends -------------------------------------------------------------------------------------------------------- */

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
    hearth_block block;
    hearth_chunk chunk;
    hearth_heap_find_chunk(hearth_header_memory(header), &block, &chunk);
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

/* -- fast paths --------------------------------------------------------------------------------------------------------- */

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

/* One from a call stack that the thread knows, where no sample is taken. */
static inline __attribute__((always_inline)) void *allocate_recorded(size_t size, size_t alignment,
                                                                     const hearth_frame *frame) {
  hearth_header *header = NULL;
  uint32_t context;

  hearth_thread_cache *cache = begin_fast();
  if (__builtin_expect(!cache, false))
    return NULL;
  if (__builtin_expect(alignment <= HEARTH_MALLOC_ALIGNMENT && !hearth_guard_is_held(&hearth_this_thread.in_runtime) &&
                           !hearth_threads_are_stopped() && hearth_find_known_context(cache, frame, false, &context),
                       true))
    header = hearth_heap_take_cached(size, &cache->heap);
  if (__builtin_expect(!header, false)) {
    leave_fast(cache);
    return NULL;
  }
  hearth_moment birth = birth_now();
  if (hearth_shadow_counts)
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

/* The block that `pointer` is of, unless it is none, is about to end: if that ends a peak, the dump of it is made
 * before. In a signal handler that interrupted the runtime it cannot be, and comes after. */
static __attribute__((noinline)) void keep_peak(void *pointer) {
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

static inline __attribute__((always_inline)) bool release_recorded(void *pointer) {
  unsigned class = HEARTH_NO_CLASS;
  bool counted = hearth_shadow_counts;
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
  hearth_access_sum sum = counted ? sum_counters(pointer, block.size) : (hearth_access_sum){.lines = 1};
  if (__builtin_expect(!hearth_mib_cache_record(&cache->mibs, &hearth_rt.mibs, &block, sum, end), false))
    return leave_fast(cache);
  end_live(&block);
  hearth_history_end(cache->history, &block, end.ns);
  if (!counted)
    note_temporary(cache, &block);
  hearth_heap_give_fast(block.header, class, &cache->heap);
  if (__builtin_expect(end_fast(cache), false))
    hearth_signals_resume();
  dump_after(end.ns);
  return true;
}

/* -- operations ------------------------------------------------------------------------------------------------------------ */

static __attribute__((noinline)) void *allocate_with(size_t size, size_t alignment, size_t spare, bool zeroed,
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

__attribute__((noinline)) void *hearth_allocate_recorded(size_t size, size_t alignment, const hearth_frame *frame) {
  void *memory = allocate_recorded(size, alignment, frame);

  return __builtin_expect(memory != NULL, true) ? memory : allocate_with(size, alignment, 0, false, frame);
}

static inline bool is_sampling(void) {
  return hearth_rt.path == HEARTH_PATH_SAMPLE || (hearth_rt.path == HEARTH_PATH_TRACE && hearth_rt.options.sample > 0);
}

inline void *hearth_allocate(size_t size, size_t alignment, const hearth_frame *frame) {
  bool samples = is_sampling();

  if (!samples && hearth_rt.path != HEARTH_PATH_SLOW)
    return hearth_allocate_recorded(size, alignment, frame);
  void *memory = samples ? allocate_unrecorded(size, alignment) : NULL;
  return memory ? memory : allocate_with(size, alignment, 0, false, frame);
}

void *hearth_allocate_zeroed(size_t count, size_t size, const hearth_frame *frame) {
  size_t total;

  if (__builtin_mul_overflow(count, size, &total))
    return NULL;
  void *memory = is_sampling()                        ? allocate_unrecorded(total, HEARTH_MALLOC_ALIGNMENT)
                 : hearth_rt.path != HEARTH_PATH_SLOW ? allocate_recorded(total, HEARTH_MALLOC_ALIGNMENT, frame)
                                                      : NULL;
  return memory ? memset(memory, 0, total) : allocate_with(total, HEARTH_MALLOC_ALIGNMENT, 0, true, frame);
}

static _Noreturn void block_refuse(const void *pointer, hearth_pointer_kind kind, const char *function) {
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
    keep_peak(pointer);
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
    block_refuse(pointer, kind, function);
}

__attribute__((noinline)) void hearth_release_recorded(void *pointer, const char *function) {
  if (!release_recorded(pointer))
    block_release(pointer, function);
}

inline void hearth_release(void *pointer, const char *function) {
  if (!pointer)
    return;
  if (hearth_rt.path == HEARTH_PATH_RECORD) {
    hearth_release_recorded(pointer, function);
    return;
  }
  bool released = hearth_rt.path == HEARTH_PATH_LIVE
                      ? release_live(pointer)
                      : hearth_rt.path != HEARTH_PATH_SLOW && release_unrecorded(pointer);
  if (!released)
    block_release(pointer, function);
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

/* -- realloc: a block that stays in its chunk ends, and another begins there; a large one that its own call stack makes larger goes
 * on; the others move ------------------------------------------------------------------------------------------------------ */

/* Most blocks of a program that is sampled are outside of the sample, and stay so: half of the instructions of the way
 * below. Code that looks at such a block meanwhile does not look at its size: no critical section is needed. */
static inline bool stays_unrecorded(void *pointer, size_t size) {
  hearth_block block;

  return hearth_heap_find(pointer, &block) == HEARTH_POINTER_LIVE && block.context == HEARTH_NO_CONTEXT &&
         hearth_heap_resize(block.header, size);
}

static inline bool resize_unrecorded(void *pointer, size_t size) {
  uint64_t left;

  if (!is_sampling() || !hearth_sampler_leaves(&hearth_this_thread.sampler, size, &left) ||
      !stays_unrecorded(pointer, size))
    return false;
  hearth_this_thread.sampler.bytes_left = left;
  return true;
}

/* A claimed block ends and another begins in its place, at the same moment. False: not possible in this signal
 * handler, or the chunk does not suit; then it is live again. */
static bool replace_in_place(const hearth_block *block, size_t size, uint32_t context, hearth_thread_cache *cache) {
  hearth_moment moment = moment_for(context != HEARTH_NO_CONTEXT ? context : block->context), end = moment;

  end.ns = hearth_header_round_time(end.ns) | HEARTH_CLOCK_KNOWN;
  if (!record_end(block, end, cache)) {
    hearth_header_set_state(block->header, HEARTH_BLOCK_LIVE);
    return false;
  }
  hearth_heap_resize(block->header, size);
  begin_life(block->header, size, context, moment);
  return true;
}

#define GROWING_LEAST ((size_t)32768) /* blocks of this size have address space for half as much again when they grow */

/* A large block that its own call stack makes larger goes on, with the counters it has: summing all of them at each
 * step would take as long as copying it. In a sample, each step is drawn anew. */
static inline bool block_goes_on(const hearth_block *block, size_t size, uint32_t context) {
  return block->size >= GROWING_LEAST && size >= block->size && context == block->context && is_counted_live(block) &&
         hearth_shadow_counts && hearth_rt.options.sample == 0;
}

/* The claimed block does so, and is live again. */
static void grow_block(const hearth_block *block, size_t size) {
  hearth_shadow_clear_added(hearth_header_memory(block->header), block->size, size);
  hearth_heap_resize(block->header, size);
  if (hearth_rt.counts_live)
    hearth_live_change((int64_t)(size - block->size));
  hearth_history_grow(block, size - block->size);
  hearth_header_set_state(block->header, HEARTH_BLOCK_LIVE);
}

/* The first `size` bytes of a live block, or the first `old_size`, in a new one. What grows by small steps is not
 * copied at each of them. */
static void *move_block(void *pointer, size_t old_size, size_t size, const hearth_frame *frame) {
  bool grows = size > old_size && size >= GROWING_LEAST;
  void *memory = grows ? allocate_with(size, HEARTH_MALLOC_ALIGNMENT, size / 2, false, frame)
                       : hearth_allocate(size, HEARTH_MALLOC_ALIGNMENT, frame);

  if (!memory)
    return NULL;
  memcpy(memory, pointer, old_size < size ? old_size : size);
  hearth_release(pointer, "realloc");
  return memory;
}

void *hearth_resize(void *pointer, size_t size, const hearth_frame *frame) {
  hearth_block block;
  hearth_chunk chunk;

  if (resize_unrecorded(pointer, size))
    return pointer;
  hearth_pointer_kind kind = hearth_heap_find(pointer, &block);
  if (kind != HEARTH_POINTER_LIVE)
    block_refuse(pointer, kind, "realloc");
  if (hearth_heap_can_resize(block.header, size)) {
    if (__builtin_expect(hearth_rt.tracks_peak, false) && size < block.size)
      keep_peak(pointer);
    hearth_reentry_enter();
    hearth_thread_cache *own = hearth_thread_cache_own();
    uint32_t context = hearth_find_context(size, frame, own);
    hearth_thread_cache *cache = hearth_thread_cache_take(own);
    kind = hearth_heap_claim(pointer, &block, &chunk);
    bool grows = kind == HEARTH_POINTER_LIVE && block_goes_on(&block, size, context);
    if (grows)
      grow_block(&block, size);
    bool replaced = !grows && kind == HEARTH_POINTER_LIVE && replace_in_place(&block, size, context, cache);
    hearth_thread_cache_give(cache);
    hearth_reentry_leave();
    if (kind != HEARTH_POINTER_LIVE)
      block_refuse(pointer, kind, "realloc");
    if (grows || replaced)
      return pointer;
  }
  return move_block(pointer, block.size, size, frame);
}
