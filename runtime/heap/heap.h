/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The heap. Words:
 *
 *   chunk    memory that the heap hands out: a multiple of 64 bytes, aligned to 64
 *   header   32 bytes before the user's bytes (block.h). The header lies at the chunk's start, so the user's bytes are
 *            aligned to 32 and begin in the middle of a granule, and no two blocks share one
 *   granule  64 aligned bytes: the memory that one access counter stands for
 *
 *   | header | user bytes ............. |             most blocks
 *   | redirect | ... | header | user bytes ... |      alignment above 32: the redirect at the chunk's start leads to the
 *                                                     header, so that live blocks can be enumerated
 *
 * A chunk of a small tract is reused for chunks of its size class only. Any thread may call anything. */
#ifndef HEARTH_RUNTIME_HEAP_H
#define HEARTH_RUNTIME_HEAP_H

#include "block.h"
#include "headerless.h"

#define HEARTH_BLOCK_ALIGNMENT  ((size_t)32) /* of every user pointer behind a header */
#define HEARTH_MALLOC_ALIGNMENT ((size_t)16) /* of all others: callers of malloc expect it */

#define HEARTH_HEAP_CLASSES 36 /* sizes of chunks in small tracts */

/* Free chunks that one thread keeps for itself, for the user of the thread's cache (thread_cache.h). */
typedef struct hearth_heap_cache {
  struct {
    hearth_block *free;
    uint32_t count;
  } classes[HEARTH_HEAP_CLASSES];
  hearth_headerless_cache headerless;
} hearth_heap_cache;

/* Reserve the heap's address space; early, once. False: there is none. */
bool hearth_heap_create(void);

/* The same unless it was done before; the first call must not race with others. Ends the program if there is none. */
void hearth_ensure_heap(void);

/* A chunk for `size` bytes.
 *   alignment   a power of two; 32 if less
 *   cache       of this thread, in use; NULL: none
 *   ret_zeroed  whether the user's bytes are known to be zero
 * Returns its header, which has size set and is not live yet; NULL: no memory, or size beyond the address space. */
hearth_block *hearth_heap_take(size_t size, size_t alignment, hearth_heap_cache *cache, bool *ret_zeroed);

/* The same from the chunks of `cache`, with user pointers aligned to 32. NULL: the cache has no such chunk. */
hearth_block *hearth_heap_take_cached(size_t size, hearth_heap_cache *cache);

/* The same for a block that is not recorded; it is live at once. Small ones need no header: see headerless.h. */
hearth_block *hearth_heap_take_unrecorded(size_t size, hearth_heap_cache *cache);

/* All fields of the header are set: from now on the block is enumerated and can be claimed. */
static inline void hearth_block_publish(hearth_block *block) { hearth_block_set_state(block, HEARTH_BLOCK_LIVE); }

/* Where a block lies. */
typedef struct hearth_chunk {
  char *start;
  uint8_t size_class; /* HEARTH_NO_CLASS: it is a tract of its own */
} hearth_chunk;

/* The chunk of a block that is live or claimed. */
hearth_chunk hearth_heap_chunk(hearth_block *block);

/* Take back the chunk of a block that hearth_heap_claim returned and that was recorded since; `cache` as above. False: the
 * caller is a signal handler that must not wait for the lock that this needs; nothing happened. */
bool hearth_heap_give(hearth_chunk chunk, hearth_heap_cache *cache);

/* Make all of a cache's chunks everyone's. */
void hearth_heap_cache_flush(hearth_heap_cache *cache);

/* Bytes that the chunk of `block` has for its user, at least block->size. */
size_t hearth_heap_capacity(hearth_block *block);

/* Can a block of `size` bytes stay where it is, without wasting more than half of its chunk's capacity? */
static inline bool hearth_capacity_suits(size_t capacity, size_t size) {
  return size <= capacity && size >= capacity / 2;
}

typedef enum hearth_pointer_kind {
  HEARTH_POINTER_LIVE,   /* start of a live block */
  HEARTH_POINTER_FREED,  /* start of a block that was freed */
  HEARTH_POINTER_BAD,    /* in our range, but not the start of a block */
  HEARTH_POINTER_FOREIGN /* provably not ours */
} hearth_pointer_kind;

/* Look up a user pointer; *ret_block is set if it is LIVE. It knows freed blocks without header; a caller that may have
 * live ones calls hearth_headerless_find first. */
hearth_pointer_kind hearth_heap_find(const void *pointer, hearth_block **ret_block);

/* The same, and make a live block the caller's: its state is then ENDING, until it is recorded. If several threads free
 * a block at once, none is refused: an atomic exchange would tell the threads apart, and cost each free a tenth of its
 * time. */
hearth_pointer_kind hearth_heap_claim(void *pointer, hearth_block **ret_block, hearth_chunk *ret_chunk);

/* End the block of a user pointer into `cache`, if it is live, has no record, begins a chunk of a small tract, and the
 * cache has room. False: it is left to hearth_heap_claim. If several threads free such a block at once, none is
 * refused. */
bool hearth_heap_give_unrecorded(void *pointer, hearth_heap_cache *cache);

/* Is this the user pointer of a live block that begins a chunk of a small tract, for which the cache has room? False: it is left
 * to hearth_heap_claim. */
bool hearth_heap_has_fast_path(const void *pointer, const hearth_heap_cache *cache);

/* The same as hearth_heap_give, for the chunk of such a block, which was recorded since. */
void hearth_heap_give_fast(hearth_block *block, hearth_heap_cache *cache);

/* Give such a block another size. False: it is not such a block, or needs another chunk. */
bool hearth_heap_resize_unrecorded(void *pointer, size_t size);

/* Call `visit` for each block that is live or ending. The caller holds hearth_heap_lock. */
void hearth_heap_each(void (*visit)(hearth_block *block, void *closure), void *closure);

/* A block in a page, as a thread sees it that stops no other: its numbers may be of two blocks that had the chunk. */
typedef struct hearth_seen_block {
  uint64_t granules;       /* of the page's 64, those of the block's chunk */
  const char *begin, *end; /* the user's bytes in the page; none if equal */
  uint64_t alloc_ns;       /* of the block, unless it was freed */
  uint32_t context;
  uint32_t pages; /* that the block lies in, at least 1 */
  bool is_live;   /* else it was freed, and nothing is in its place yet */
} hearth_seen_block;

#define HEARTH_SEEN_MOST 64 /* chunks in a page */

/* Write the blocks with headers in the page that have any of the granules `wanted`; returns how many. */
uint32_t hearth_heap_see(const char *page, uint64_t wanted, hearth_seen_block *ret);

/* The block with header that has this byte; false: there is none. */
bool hearth_heap_see_byte(const char *byte, hearth_seen_block *ret);

/* The memory that the heap has taken from the system and handed out; sizes in bytes. */
typedef struct hearth_heap_usage {
  size_t small_tract_bytes, large_tract_bytes;
  size_t chunk_bytes; /* chunks of live blocks */
  size_t blocks, large_blocks;
} hearth_heap_usage;

/* The threads are stopped (thread_cache.h). */
hearth_heap_usage hearth_heap_get_usage(void);

/* Stop allocation and deallocation that needs data shared by threads; also around fork. With signals blocked; not
 * recursive. Returns how many of them are within a critical section that they do not leave. */
unsigned hearth_heap_lock(void);
void hearth_heap_unlock(void);

#endif
