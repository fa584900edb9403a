/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The heaps of threads. A heap is busy while a thread owns it, and is never taken apart: a thread that ends leaves
 * it, a thread that starts takes one that was left. After fork, the heaps of the threads that the child does not
 * have stay busy for ever: they may have been in the middle of a change. */
#define _GNU_SOURCE
#include "heap_memory.h"

#include "hearth/lowered_calls.h"
#include "hints.h"
#include "machine.h"

#include <pthread.h>
#include <string.h>

_Thread_local hearth_pool *hearth_main_pool __attribute__((tls_model("initial-exec"))) = &hearth_no_heap.main;
hearth_heap hearth_no_heap;

static hearth_heap *_Atomic heaps; /* all, by next_of_all */
static pthread_key_t key_of_end;
static _Atomic bool has_key;

bool hearth_heap_try_take(hearth_heap *heap) {
  uint32_t idle = 0;
  return !atomic_load_explicit(&heap->is_busy, memory_order_relaxed) &&
         atomic_compare_exchange_strong_explicit(&heap->is_busy, &idle, 1, memory_order_acquire, memory_order_relaxed);
}

void hearth_heap_give(hearth_heap *heap) { atomic_store_explicit(&heap->is_busy, 0, memory_order_release); }

hearth_heap *hearth_heap_create(void) {
  hearth_heap *heap = hearth_system_reserve(HEARTH_HEAP_ROOM, HEARTH_PAGE_BYTES);
  if (!heap || !hearth_system_open(heap, HEARTH_POOLS_AT))
    return NULL;
  hearth_pool_init(&heap->main, heap, HEARTH_POOL_MAIN);
  heap->pool[HEARTH_POOL_MAIN] = &heap->main;
  atomic_store_explicit(&heap->is_busy, 1, memory_order_relaxed);
  heap->next_of_all = atomic_load_explicit(&heaps, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&heaps, &heap->next_of_all, heap, memory_order_release,
                                                memory_order_relaxed))
    ;
  return heap;
}

hearth_pool *hearth_heap_pool(hearth_heap *heap, unsigned placement) {
  hearth_pool *pool = atomic_load_explicit(&heap->pool[placement], memory_order_relaxed);
  if (pool)
    return pool;
  pool = (hearth_pool *)((char *)heap + HEARTH_POOLS_AT + placement * HEARTH_POOL_ROOM);
  if (!hearth_system_open(pool, HEARTH_POOL_ROOM))
    return NULL;
  hearth_pool_init(pool, heap, placement);
  atomic_store_explicit(&heap->pool[placement], pool, memory_order_release);
  return pool;
}

static void for_each_pool(hearth_heap *heap, void (*function)(hearth_pool *pool)) {
  for (unsigned i = HEARTH_POOL_MAIN; i < HEARTH_POOLS; i++) {
    hearth_pool *pool = atomic_load_explicit(&heap->pool[i], memory_order_relaxed);
    if (pool)
      function(pool);
  }
}

hearth_heap *_Atomic *hearth_heaps_head(void) { return &heaps; }

void hearth_heaps_for_each_pool(void (*function)(hearth_pool *pool)) {
  for (hearth_heap *heap = atomic_load_explicit(&heaps, memory_order_acquire); heap; heap = heap->next_of_all)
    for_each_pool(heap, function);
}

void hearth_heap_collect(hearth_heap *heap) { for_each_pool(heap, hearth_pool_collect); }

/* The fast path of the program. */

_Static_assert((int)HEARTH_FAST_GRANULE == HEARTH_GRANULE && (int)HEARTH_FAST_CLASSES == HEARTH_SMALL_CLASSES &&
                   (int)HEARTH_FAST_SEGMENT == HEARTH_SEGMENT_BYTES && offsetof(hearth_pool, list) == 0 &&
                   offsetof(hearth_pool, budget) == HEARTH_FAST_BUDGET && offsetof(hearth_pool, key) == HEARTH_FAST_KEY,
               "another layout has another number in its names");

HEARTH_EXPORT _Thread_local hearth_pool *hearth_fast_pools_3[HEARTH_FAST_FAMILIES]
    __attribute__((tls_model("initial-exec"))) = {&hearth_no_heap.main, &hearth_no_heap.main};
static bool has_fast_path[HEARTH_FAST_FAMILIES], has_neutral_pool; /* from the program's start on */

/* Of this thread's main pool, which is an empty one where the thread has no heap. */
static void publish(void) {
  hearth_heap *heap = hearth_main_pool->heap;
  for (int family = 0; family < HEARTH_FAST_FAMILIES; family++)
    hearth_fast_pools_3[family] = has_fast_path[family] ? hearth_main_pool : &hearth_no_heap.main;
  if (heap && has_neutral_pool)
    atomic_store_explicit(&heap->pool[HEARTH_POOL_NONE], &heap->main, memory_order_relaxed);
}

void hearth_heaps_open_fast_path(bool has_malloc, bool has_new, bool has_neutral) {
  has_fast_path[HEARTH_FAST_OF_MALLOC] = has_malloc;
  has_fast_path[HEARTH_FAST_OF_NEW] = has_new;
  has_neutral_pool = has_neutral;
  publish();
}

/* Threads. */

static void leave_heap(void *left) {
  hearth_heap *heap = left;
  hearth_main_pool = &hearth_no_heap.main;
  publish();
  for_each_pool(heap, hearth_pool_collect_if_worth);
  hearth_heap_give(heap);
}

hearth_heap *hearth_heap_of_thread(void) {
  if (hearth_main_pool->heap)
    return hearth_main_pool->heap;
  hearth_heap *heap = atomic_load_explicit(&heaps, memory_order_acquire);
  while (heap && !hearth_heap_try_take(heap))
    heap = heap->next_of_all;
  if (!heap)
    heap = hearth_heap_create();
  if (!heap)
    return NULL;
  hearth_main_pool = &heap->main;
  publish();
  if (atomic_load_explicit(&has_key, memory_order_acquire))
    pthread_setspecific(key_of_end, heap);
  return heap;
}

/* Fork: the child has one thread, and the locks as they were. */

static uintptr_t outer_fork;

static void before_fork(void) {
  hearth_lock_take(&hearth_large_lock);
  hearth_lock_take(&hearth_segments_lock);
  hearth_cold_memory_before_fork();
  outer_fork = hearth_fork_enter();
}

static void after_fork(void) {
  hearth_fork_leave(outer_fork);
  hearth_cold_memory_after_fork();
  hearth_lock_give(&hearth_segments_lock);
  hearth_lock_give(&hearth_large_lock);
}

static void after_fork_in_child(void) {
  after_fork();
  hearth_cold_thread_after_fork();
}

__attribute__((constructor(101))) static void open_threads(void) {
  has_key = pthread_key_create(&key_of_end, leave_heap) == 0;
  if (has_key && hearth_main_pool->heap)
    pthread_setspecific(key_of_end, hearth_main_pool->heap);
  pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
