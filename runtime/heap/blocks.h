/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Blocks of the program, with their profile: the operations behind malloc and operator new. `frame` is the frame of the
 * function that the program called; its caller is where the block's call stack begins. errno is left alone. */
#ifndef HEARTH_RUNTIME_BLOCKS_H
#define HEARTH_RUNTIME_BLOCKS_H

#include "running_profile.h"
#include "thread_cache.h"
#include "unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
