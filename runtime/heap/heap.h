/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The heap. Words:
 *
 *   chunk    memory that the heap hands out, of a multiple of 16 bytes, with its header. It begins 8 bytes before a multiple of
 *            16, so the user's bytes begin at one, and no two blocks share a granule of theirs
 *   header   64 bits before the user's bytes (block.h)
 *   far      of a header: the size of its block is in the word before
 *
 *   | header | user bytes ............. |                    most blocks
 *   size | header | user bytes ............. ' ' |           large ones: the last word is for the next one's size
 *   | redirect | ... | size | header | user bytes ... |      alignment above 16: the redirect at the chunk's start leads to the
 *                                                            header, so that live blocks can be enumerated
 *
 * A coarse heap (shadow.h) takes chunks of multiples of 64 for all blocks, and leaves their last word unused: then no two
 * blocks share a line. A small span has chunks of one size class, until all are free. Any thread may call anything. */
#ifndef HEARTH_RUNTIME_HEAP_H
#define HEARTH_RUNTIME_HEAP_H

#include "block.h"
#include "size_classes.h"
#include "spans.h"

#include <stdbool.h>
#include <stddef.h>

#define HEARTH_MALLOC_ALIGNMENT ((size_t)16) /* of every user pointer: callers of malloc expect it */

#define HEARTH_HEAP_CLASSES 104 /* sizes of chunks in small spans */

#define HEARTH_NO_CLASS UINT8_MAX

#define HEARTH_LEAST_ROOM ((size_t)24) /* of a chunk, for the user's bytes */

/* Free chunks that one thread keeps for itself, for the user of the thread's cache (thread_cache.h). */
typedef struct hearth_heap_cache {
  struct {
    hearth_header *free;
    uint32_t count;
    uint32_t seen; /* the count when the class's turn was last */
  } classes[HEARTH_HEAP_CLASSES];
  uint32_t turn;
} hearth_heap_cache;

/* Reserve the heap's address space; early, once. False: there is none. */
bool hearth_heap_create(void);

/* The same unless it was done before; the first call must not race with others. Ends the program if there is none. */
void hearth_ensure_heap(void);

/* A chunk for `size` bytes.
 *   alignment   a power of two; 16 if less
 *   spare       bytes that a large chunk has room for beyond these, if there is address space: the block may grow
 *   cache       of this thread, in use; NULL: none
 *   ret_zeroed  whether the user's bytes are known to be zero
 * Returns its header, which has the size and is RAW: hearth_header_publish follows. NULL: no memory, or size beyond the address
 * space. */
hearth_header *hearth_heap_take(size_t size, size_t alignment, size_t spare, hearth_heap_cache *cache,
                                bool *ret_zeroed);

/* The same from the chunks of `cache`, with user pointers aligned to 16. NULL: the cache has no such chunk. */
hearth_header *hearth_heap_take_cached(size_t size, hearth_heap_cache *cache);

/* Where a block lies: the header that its chunk begins with, which may be a redirect. */
typedef struct hearth_chunk {
  hearth_header *first;
  uint8_t size_class; /* HEARTH_NO_CLASS: it is a span of its own */
} hearth_chunk;

/* Read the header of a block that is live or claimed; and find its chunk. */
hearth_block hearth_heap_read(hearth_header *header, hearth_chunk *ret_chunk);

/* Take back the chunk of a block that hearth_heap_claim returned and that was recorded since; `cache` as above. False: the
 * caller is a signal handler that must not wait for the lock that this needs; nothing happened. */
bool hearth_heap_give(hearth_chunk chunk, hearth_heap_cache *cache);

/* Make all of a cache's chunks everyone's. */
void hearth_heap_cache_flush(hearth_heap_cache *cache);

/* Can a block of `size` bytes stay where it is, without wasting more than half of its chunk's capacity? */
static inline bool hearth_capacity_suits(size_t capacity, size_t size) {
  return size <= capacity && size >= capacity / 2;
}

/* Can a live or claimed block have another size in its chunk? The second: give it that size, if it can. */
bool hearth_heap_can_resize(const hearth_header *header, size_t size);
bool hearth_heap_resize(hearth_header *header, size_t size);

typedef enum hearth_pointer_kind {
  HEARTH_POINTER_LIVE,   /* start of a live block */
  HEARTH_POINTER_FREED,  /* start of a block that was freed */
  HEARTH_POINTER_BAD,    /* in our range, but not the start of a block */
  HEARTH_POINTER_FOREIGN /* provably not ours */
} hearth_pointer_kind;

/* Look up a user pointer; *ret_block is set if it is LIVE. */
hearth_pointer_kind hearth_heap_find(const void *pointer, hearth_block *ret_block);

/* The same, and make a live block the caller's: its state is then ENDING, until it is recorded. If several threads free
 * a block at once, none is refused: an atomic exchange would tell the threads apart, and cost each free a tenth of its
 * time. */
hearth_pointer_kind hearth_heap_claim(void *pointer, hearth_block *ret_block, hearth_chunk *ret_chunk);

/* Is this the user pointer of a live block that begins a chunk of a small span, for which the cache has room? Returns its class,
 * and HEARTH_NO_CLASS if not: then it is left to hearth_heap_claim. */
unsigned hearth_heap_find_fast(const void *pointer, const hearth_heap_cache *cache, hearth_block *ret_block);

/* The same as hearth_heap_give, for the chunk of such a block, which was recorded since, or has no record. If several threads
 * free it at once, none is refused. */
void hearth_heap_give_fast(hearth_header *header, unsigned size_class, hearth_heap_cache *cache);

/* Call `visit` for each block that is live or ending. The caller holds hearth_heap_lock. */
void hearth_heap_each(void (*visit)(const hearth_block *block, void *closure), void *closure);

/* A block in a page, as a thread sees it that stops no other: its numbers may be of two blocks that had the chunk. */
typedef struct hearth_seen_block {
  const char *begin, *end; /* the user's bytes in the page */
  uint64_t alloc_ns;       /* of the block, unless it was freed */
  uint32_t context;
  bool is_live; /* else it was freed, and nothing is in its place yet */
} hearth_seen_block;

/* The block with header that has this byte; false: there is none. */
bool hearth_heap_see_byte(const char *byte, hearth_seen_block *ret);

/* The memory that the heap has taken from the system and handed out; sizes in bytes. */
typedef struct hearth_heap_usage {
  size_t small_span_bytes, large_span_bytes;
  size_t chunk_bytes; /* chunks of live blocks */
  size_t blocks, large_blocks;
} hearth_heap_usage;

/* The threads are stopped (thread_cache.h). */
hearth_heap_usage hearth_heap_get_usage(void);

/* Stop allocation and deallocation that needs data shared by threads; also around fork. With signals blocked; not
 * recursive. Returns how many of them are within a critical section that they do not leave. */
unsigned hearth_heap_lock(void);
void hearth_heap_unlock(void);

/* Size classes of chunks, and where chunks of a small span lie: for the files of the heap. */

#define CHUNK_SMALL_MOST   ((size_t)32768) /* largest chunk of a size class; larger blocks have a span of their own */
#define CHUNK_FINE_CLASSES HEARTH_SMALL_CLASSES /* up to here one class for each multiple of 16 */
#define CHUNK_FIRST        ((size_t)8)          /* from the start of a span to its first header */
#define CHUNK_CLASSES      HEARTH_HEAP_CLASSES

/* One line of cache each: classes are locked independently. */
struct hearth_size_class {
  hearth_lock lock;
  hearth_class_spans spans;
  char *fresh, *fresh_end; /* of the class's newest span: chunks never handed out */
  char *ready;             /* pages of it before this are there, so far as this is above `fresh` */
  bool is_common;          /* it is not the class's first */
} __attribute__((aligned(64)));
extern struct hearth_size_class hearth_size_classes[CHUNK_CLASSES] __attribute__((visibility("hidden")));

/* Facts about a class that are known from the beginning. */
struct hearth_class_facts {
  uint32_t size;     /* of its chunks */
  uint32_t capacity; /* of these, for the user's bytes */
  uint32_t batch;    /* chunks that are moved at once; 0: threads keep none */
  uint32_t chunks;   /* of a span */
  uint64_t
      reciprocal; /* 2^32 / granules of a chunk, rounded up: multiplying by it divides offsets in small spans exactly */
};
extern struct hearth_class_facts hearth_class_facts[CHUNK_CLASSES] __attribute__((visibility("hidden")));

/* Do the chunks of a class have far headers? */
static inline bool chunk_is_far(unsigned class) { return class >= CHUNK_FINE_CLASSES; }

/* Small, so that they get empty; with room for some chunks. */
static inline size_t span_size(unsigned class) { return chunk_is_far(class) ? 4 * HEARTH_SLICE : HEARTH_SLICE; }

/* Bytes from a span's start that its chunks may take, the first CHUNK_FIRST bytes included. */
static inline size_t span_end(unsigned class) {
  return span_size(class) + (chunk_is_far(class) ? CHUNK_FIRST : 0); /* the last word is for no next one */
}

/* The least class whose chunks have `size` bytes; size in [1, CHUNK_SMALL_MOST]. Classes are those of size_classes.h, from 0. */
static inline unsigned chunk_class_of(size_t size) { return (unsigned)hearth_class_of(size) - 1; }

static inline hearth_header *chunk_follow(hearth_header *first) {
  uint64_t word = hearth_header_load(first);

  return (word & HEARTH_STATE_MASK) == HEARTH_BLOCK_REDIRECT
             ? (hearth_header *)((char *)first + (word >> HEARTH_STATE_BITS))
             : first;
}

/* Bytes from the first header of a chunk to its end, for the user of the chunk. */
static inline size_t chunk_room_of(const hearth_span *span) {
  return span->kind == HEARTH_SPAN_LARGE ? span->size - CHUNK_FIRST
                                         : hearth_class_facts[span->size_class].capacity + sizeof(hearth_header);
}

/* The slack of a header that does not begin its chunk is always far. */
static inline size_t chunk_capacity_of(const hearth_span *span) {
  return span->kind == HEARTH_SPAN_SMALL ? hearth_class_facts[span->size_class].capacity : 0;
}

#endif
