/* What a thread keeps for itself, so that malloc and free need nothing that threads share: free chunks, records, call
 * stacks. Signal handlers that interrupt the owner while it has the lock, and threads that have no cache (any more), use
 * what is shared. */
#ifndef HEARTH_RUNTIME_THREAD_CACHE_H
#define HEARTH_RUNTIME_THREAD_CACHE_H

#include "heap.h"
#include "mib_cache.h"
#include "section.h"
#include "stack_cache.h"

typedef struct hearth_thread_cache {
  hearth_lock lock;                 /* of heap and mibs; the owner's, but for who stops all threads */
  struct hearth_thread_cache *next; /* of all there are */
  bool idle;                        /* its thread has ended: the next one that begins takes it */
  hearth_heap_cache heap;
  hearth_mib_cache mibs;
  hearth_stack_cache stacks; /* the owner's alone, outside of its signal handlers */
} hearth_thread_cache;

/* Give this thread a cache; to be called in a section. NULL: it can have none. */
hearth_thread_cache *hearth_thread_cache_attach(void);

/* This thread's cache, to be called in a section. NULL: none. */
static inline hearth_thread_cache *hearth_thread_cache_own(void) {
  if (!hearth_threads_known)
    return NULL;
  hearth_thread_cache *cache = hearth_this_thread.cache;
  return __builtin_expect(cache != NULL, true) ? cache : hearth_thread_cache_attach();
}

/* The same, locked. NULL also in a signal handler that interrupted who has the lock. */
static inline hearth_thread_cache *hearth_thread_cache_take(void) {
  hearth_thread_cache *cache = hearth_thread_cache_own();

  return cache && hearth_section_take(&cache->lock) ? cache : NULL;
}

static inline void hearth_thread_cache_give(hearth_thread_cache *cache) {
  if (cache)
    hearth_lock_give(&cache->lock);
}

/* Stop allocation, deallocation and recording in all other threads, and complete what this thread was recording when it
 * was interrupted; also around fork. With signals blocked; not recursive. Returns how many threads are within a section
 * that they do not leave. */
unsigned hearth_threads_stop(void);
void hearth_threads_continue(void);

/* Figures about the heap, for whoever asks. */
hearth_heap_usage hearth_threads_heap_usage(void);

/* For who has stopped the threads: the records [0, count) of all threads and of the table. */
void hearth_threads_copy_records(hearth_mib *to, uint32_t count);

/* For the same: forget all records. Those of a thread that did not stop stay in its cache. */
void hearth_threads_forget_records(void);

/* In a forked child, which has one thread: take the caches of the others. */
void hearth_threads_forget_others(void);

#endif
