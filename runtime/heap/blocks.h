/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Blocks of the program, with their profile: what threads keep, and the operations behind malloc and operator new.
 * There, `frame` is the frame of the function that the program called; its caller is where the block's call stack
 * begins. errno is left alone. */
#ifndef HEARTH_RUNTIME_BLOCKS_H
#define HEARTH_RUNTIME_BLOCKS_H

#include "heap.h"
#include "history.h"
#include "known_stacks.h"
#include "mib_table.h"
#include "running_profile.h"
#include "scopes.h"
#include "thread_state.h"
#include "unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -- what a thread keeps ---------------------------------------------------------------------------------------------- */

/* A thread keeps free chunks, records and call stacks for itself, so that malloc and free need nothing that threads
 * share. Signal handlers that interrupt the owner while it uses its cache, and threads that have no cache (any more),
 * use the shared data.
 *
 * Owners use their caches without atomic operations. A thread that stops all others takes the stopper's lock, has each
 * running thread execute a barrier (hearth_os_barrier), and waits until no cache is in use; an owner marks its cache as
 * in use, and then looks whether anybody has that lock. The barrier orders the two for it. */

/* Records that one thread keeps for itself until they are added to the table: so that threads which allocate in the
 * same context do not wait for each other. The user of the thread's cache calls these. */

#define HEARTH_MIB_CACHE_SLOTS 256

typedef struct hearth_mib_slot {
  uint32_t context; /* of a series that is not empty */
  hearth_mib_series series;
} hearth_mib_slot;

typedef struct hearth_mib_cache {
  hearth_mib_slot slots[HEARTH_MIB_CACHE_SLOTS]; /* of context modulo their number */
} hearth_mib_cache;

/* End `block`, as hearth_mib_table_record does with its record. */
bool hearth_mib_cache_record(hearth_mib_cache *cache, hearth_mib_table *table, const hearth_block *block,
                             hearth_access_sum accesses, hearth_moment end);

/* Add all to the table. Records that a signal handler cannot add, because it must not wait, stay. */
void hearth_mib_cache_flush(hearth_mib_cache *cache, hearth_mib_table *table);

/* Add all to a view of the table; nothing changes here. */
void hearth_mib_cache_show(const hearth_mib_cache *cache, hearth_mib_view *view);

typedef struct hearth_thread_cache {
  bool in_use;                      /* heap and mibs are the owner's, for now; atomic */
  bool missed;                      /* it was in use for long: the stopper went on without it */
  bool idle;                        /* its thread has ended: the next one that begins takes it */
  struct hearth_thread_cache *next; /* of all there are */
  hearth_heap_cache heap;
  hearth_mib_cache mibs;
  hearth_history_memo history[HEARTH_HISTORY_MEMOS];
  /* For the summary of `hearth record`. */
  const hearth_header *newest_block; /* that the thread allocated; NULL: it has freed one since */
  uint64_t temporary_blocks;         /* that ended as the newest */
  /* The owner's alone, outside of its signal handlers; but see hearth_threads_forget_stacks. */
  uint32_t closings; /* hearth_mappings_closings, when something was remembered */
  hearth_frame_chain chain;
  hearth_previous_stack previous;
  hearth_stack_cache stacks;
  hearth_scope_cache scopes;
} hearth_thread_cache;

/* Give this thread a cache; to be called in a critical section. NULL: it can have none. */
hearth_thread_cache *hearth_thread_cache_attach(void);

/* This thread's cache, to be called in a critical section. NULL: none. */
static inline hearth_thread_cache *hearth_thread_cache_own(void) {
  if (!hearth_threads_known)
    return NULL;
  hearth_thread_cache *cache = hearth_this_thread.cache;
  return __builtin_expect(cache != NULL, true) ? cache : hearth_thread_cache_attach();
}

/* Its holder has stopped all threads, or is about to. */
extern hearth_lock hearth_threads_stopper __attribute__((visibility("hidden")));

/* The system has no hearth_os_barrier: owners need one of their own each time. */
extern bool hearth_threads_fence __attribute__((visibility("hidden")));

static inline bool hearth_threads_are_stopped(void) {
  return atomic_load_explicit(&hearth_threads_stopper.holder, memory_order_acquire) != 0;
}

static inline void hearth_thread_cache_mark(hearth_thread_cache *cache) {
  __atomic_store_n(&cache->in_use, true, __ATOMIC_RELAXED);
  HEARTH_SIGNAL_FENCE(); /* hearth_os_barrier keeps the processor from exchanging this and the next access */
  if (__builtin_expect(hearth_threads_fence, false))
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void hearth_thread_cache_give(hearth_thread_cache *cache) {
  if (cache)
    __atomic_store_n(&cache->in_use, false, __ATOMIC_RELEASE);
}

/* hearth_thread_cache_take for signal handlers, and while threads are stopped. */
hearth_thread_cache *hearth_thread_cache_take_slowly(hearth_thread_cache *cache);

/* Use this thread's cache until it is given. NULL: `own` is, or this signal handler interrupted its use. */
static inline hearth_thread_cache *hearth_thread_cache_take(hearth_thread_cache *own) {
  if (__builtin_expect(!own, false))
    return NULL;
  if (hearth_reentry_interrupted())
    return hearth_thread_cache_take_slowly(own);
  hearth_thread_cache_mark(own);
  if (__builtin_expect(hearth_threads_are_stopped(), false))
    return hearth_thread_cache_take_slowly(own);
  return own;
}

/* Before the first cache is made, and in a forked child. */
void hearth_threads_begin(void);

/* Stop allocation, deallocation and recording in all other threads, and complete the record that this thread was making
 * when it was interrupted; also around fork. With signals blocked; not recursive. Returns how many threads are within a
 * critical section that they do not leave. */
unsigned hearth_threads_stop(void);
void hearth_threads_continue(void);

/* Figures about the heap, for any caller. */
hearth_heap_usage hearth_threads_heap_usage(void);

/* Blocks that their thread freed before it allocated or freed another one; for any caller. */
uint64_t hearth_threads_temporary_blocks(void);

/* Memory of all threads' caches, in bytes. */
uint64_t hearth_threads_memory(void);

/* Add the threads' records to a view of the table. The caller has stopped the threads. */
void hearth_threads_show_records(hearth_mib_view *view);

/* For the same: all that they keep for the history (history.h) is in it then. */
void hearth_threads_flush_history(void);

/* For the same: forget all records. Those of a thread that did not stop stay in its cache. */
void hearth_threads_forget_records(void);

/* Code is not what it was (hearth_mappings_close): forget what stacks were remembered. */
void hearth_threads_forget_stacks(void);

/* In a forked child, which has one thread: take the caches of the others. */
void hearth_threads_forget_others(void);

/* -- operations ------------------------------------------------------------------------------------------------------- */

/* malloc itself, whatever the program finds by that name. */
extern void *hearth_own_malloc(size_t size) __attribute__((visibility("hidden")));

/* A block of `size` bytes (0 is allowed), aligned to `alignment`, a power of two (16 if less). NULL: no memory. */
void *hearth_allocate(size_t size, size_t alignment, const hearth_frame *frame);

/* The same for `count` zeroed objects of `size` bytes. */
void *hearth_allocate_zeroed(size_t count, size_t size, const hearth_frame *frame);

/* End a block. NULL and pointers into memory that was never ours are ignored; other wrong pointers end the program with
 * a message that names `function`. */
void hearth_release(void *pointer, const char *function);

/* The same where blocks are recorded one by one, as most programs have them. `pointer` is not NULL. */
void *hearth_allocate_recorded(size_t size, size_t alignment, const hearth_frame *frame);
void hearth_release_recorded(void *pointer, const char *function);

/* Change a block's size: a new block, with a stack and a record of its own, takes over the old one's bytes. If NULL is
 * returned, the old block does not change. A pointer that is not a block's ends the program. */
void *hearth_resize(void *pointer, size_t size, const hearth_frame *frame);

/* Note the type of a live block; other pointers are ignored. */
void hearth_block_set_type(const void *pointer, uint64_t type_id);

/* Bytes that were asked for; 0 for NULL and memory that is not ours. A block's chunk may have more, but these do not
 * belong to its granules. */
size_t hearth_block_size(const void *pointer);

/* The context of a call: its stack, folded, with the scopes of the thread; or that it is not to be recorded. `frame`
 * is the frame of the function that the program called. */

/* The context, without scopes, of a stack that the thread knows. False: it does not know it, or would have to wait
 * to be sure. */
bool hearth_find_known_context(hearth_thread_cache *cache, const hearth_frame *frame, bool may_wait,
                               uint32_t *ret_context);

/* The context of an allocation of `size` bytes; HEARTH_NO_CONTEXT: it is not to be recorded. `cache`: this thread's,
 * or NULL. */
uint32_t hearth_find_context(size_t size, const hearth_frame *frame, hearth_thread_cache *cache);

/* The context of the call to the function whose frame is given; HEARTH_NO_CONTEXT if nothing is recorded now. */
uint32_t hearth_context_of(const hearth_frame *frame);

/* The context of a block that begins now in another heap, of this pc; HEARTH_NO_CONTEXT: it is not to be recorded. In a
 * critical section; `cache`: this thread's. */
uint32_t hearth_block_context(size_t size, const hearth_frame *frame, uint64_t heap_pc, hearth_thread_cache *cache);

/* Blocks of the program's own allocators (hearth/allocator.h): a register by address for each allocator, as there is no
 * header before such a block. Registers are mapped, bounded (option allocator_blocks), and take memory as it is used. */

/* Call `visit` for each block that is live: the facts that its header would have, its address, and the accesses to it.
 * The caller holds hearth_allocators_lock. */
typedef void hearth_allocators_visit(const hearth_block *block, uint64_t address, hearth_access_sum accesses,
                                     void *closure);
void hearth_allocators_each(hearth_allocators_visit *visit, void *closure);

/* Keep others from changing the registers; with signals blocked. False: a thread does not give them. */
bool hearth_allocators_lock(void);
void hearth_allocators_unlock(void);

/* Memory that the registers have in use, in bytes. */
uint64_t hearth_allocators_memory(void);

/* The program's calls come here. They do the operations above, and record each where a trace is written, which only
 * the preloaded runtime does. */

/* For the functions below only. */
void *hearth_operate_allocate_slowly(hearth_trace_kind kind, size_t size, size_t alignment, const hearth_frame *frame);
void hearth_operate_release_slowly(hearth_trace_kind kind, void *pointer, const char *function,
                                   const hearth_frame *frame);

static inline void *hearth_operate_allocate(hearth_trace_kind kind, size_t size, size_t alignment,
                                            const hearth_frame *frame) {
  return __builtin_expect(hearth_rt.path == HEARTH_PATH_RECORD, true)
             ? hearth_allocate_recorded(size, alignment, frame)
             : hearth_operate_allocate_slowly(kind, size, alignment, frame);
}

static inline void hearth_operate_release(hearth_trace_kind kind, void *pointer, const char *function,
                                          const hearth_frame *frame) {
  if (!pointer)
    return;
  if (__builtin_expect(hearth_rt.path == HEARTH_PATH_RECORD, true))
    hearth_release_recorded(pointer, function);
  else
    hearth_operate_release_slowly(kind, pointer, function, frame);
}

#endif
