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
 * A coarse heap (shadow.h) takes chunks of multiples of 64 for all blocks, and leaves their last word unused: then
 * no two blocks share a line. A small span has chunks of one size class, until all are free. Any thread may call
 * anything. */
#ifndef HEARTH_RUNTIME_HEAP_H
#define HEARTH_RUNTIME_HEAP_H

#include "block.h"
#include "size_classes.h"
#include "thread_state.h"

#include "hearth/expect.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEARTH_MALLOC_ALIGNMENT ((size_t)16) /* of every user pointer: callers of malloc expect it */

#define HEARTH_HEAP_CLASSES 104 /* sizes of chunks in small spans */

#define HEARTH_NO_CLASS UINT8_MAX

#define HEARTH_LEAST_ROOM ((size_t)24) /* of a chunk, for the user's bytes */

/* Free chunks that one thread keeps for itself, for the user of the thread's cache (blocks.h). */
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

/* Take back the chunk of a block that hearth_heap_claim returned and that was recorded since; `cache` as above.
 * False: the caller is a signal handler that must not wait for the lock that this needs; nothing happened. */
bool hearth_heap_give(hearth_chunk chunk, hearth_heap_cache *cache);

/* Make all of a cache's chunks everyone's. */
void hearth_heap_cache_flush(hearth_heap_cache *cache);

/* Can a live or claimed block have another size in its chunk, without wasting more than half of it? The second: give
 * it that size, if it can. */
bool hearth_heap_can_resize(const hearth_header *header, size_t size);
bool hearth_heap_resize(hearth_header *header, size_t size);

typedef enum hearth_pointer_kind {
  HEARTH_POINTER_LIVE,   /* start of a live block */
  HEARTH_POINTER_FREED,  /* start of a block that was freed */
  HEARTH_POINTER_BAD,    /* in our range, but not the start of a block */
  HEARTH_POINTER_FOREIGN /* provably not ours */
} hearth_pointer_kind;

/* Look up a user pointer; *ret_block is set if it is LIVE. The second: and the chunk; both are set for a claimed
 * block, too. */
hearth_pointer_kind hearth_heap_find(const void *pointer, hearth_block *ret_block);
hearth_pointer_kind hearth_heap_find_chunk(const void *pointer, hearth_block *ret_block, hearth_chunk *ret_chunk);

/* The same, and make a live block the caller's: its state is then ENDING, until it is recorded. If several threads free
 * a block at once, none is refused: an atomic exchange would tell the threads apart, and cost each free a tenth of its
 * time. */
hearth_pointer_kind hearth_heap_claim(void *pointer, hearth_block *ret_block, hearth_chunk *ret_chunk);

/* Is this the user pointer of a live block that begins a chunk of a small span, for which the cache has room?
 * Returns its class, and HEARTH_NO_CLASS if not: then it is left to hearth_heap_claim. */
unsigned hearth_heap_find_fast(const void *pointer, const hearth_heap_cache *cache, hearth_block *ret_block);

/* The same as hearth_heap_give, for the chunk of such a block, which was recorded since, or has no record. If
 * several threads free it at once, none is refused. */
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

/* The threads are stopped (blocks.h). */
hearth_heap_usage hearth_heap_get_usage(void);

/* Stop allocation and deallocation that needs data shared by threads; also around fork. With signals blocked; not
 * recursive. Returns how many of them are within a critical section that they do not leave. */
unsigned hearth_heap_lock(void);
void hearth_heap_unlock(void);

/* -- spans ------------------------------------------------------------------------------------------------------------- */

/* The heap's address range, handed out in spans of slices. Words:
 *
 *   range   one reservation of address space; every block of ours lies in it, so that "is it ours?" is one comparison
 *   slice    64 KiB of the range; a table tells what each slice is used for
 *   span     neighbouring slices with one use
 *
 *   | small span | large span ........ | free span .... | small span | never used ...                                  |
 *   ^ range                                                      ^ frontier                                       ^ end
 */

#define HEARTH_SLICE ((size_t)65536)

typedef enum hearth_span_kind {
  HEARTH_SPAN_UNUSED, /* behind the frontier */
  HEARTH_SPAN_FREE,
  HEARTH_SPAN_SMALL, /* chunks of one size class */
  HEARTH_SPAN_LARGE, /* one block */
  HEARTH_SPAN_INNER  /* not the first slice of a used span */
} hearth_span_kind;

/* The state of a slice. In the first slice of a used span, `length` is the number of the span's slices; in the
 * others, it is the distance to the first. The first and last slice of a free span hold kind and length, the first
 * also the links. */
typedef struct hearth_slice {
  uint8_t kind;        /* hearth_span_kind */
  uint8_t size_class;  /* of a small span, in all its slices; of a large one HEARTH_NO_CLASS */
  uint16_t free_count; /* chunks in `free_chunks` */
  uint32_t length;
  struct hearth_slice *previous; /* in a list: of free spans of similar length, or of its class */
  struct hearth_slice *next;
  void *free_chunks; /* of a span of chunks, those that no thread has: a list of the heap's */
} hearth_slice;

/* Lists of spans, by their first slices. */
static inline void hearth_slice_link(hearth_slice **list, hearth_slice *slice) {
  slice->previous = NULL;
  slice->next = *list;
  if (*list)
    (*list)->previous = slice;
  *list = slice;
}

static inline void hearth_slice_unlink(hearth_slice **list, hearth_slice *slice) {
  hearth_expect(slice->previous ? slice->previous->next == slice : *list == slice);
  hearth_expect(!slice->next || slice->next->previous == slice);
  *(slice->previous ? &slice->previous->next : list) = slice->next;
  if (slice->next)
    slice->next->previous = slice->previous;
}

/* A used span, seen from outside. */
typedef struct hearth_span {
  hearth_span_kind kind;
  uint8_t size_class;
  char *start;
  size_t size; /* bytes */
} hearth_span;

/* Reserve the range; once, before all other calls. False: there is no address space. */
bool hearth_spans_create(void);

/* A span of at least `size` bytes, usable and zero. NULL: the range is full, or there is no memory. */
char *hearth_span_take(hearth_span_kind kind, uint8_t size_class, size_t size);

/* Give a span back that has no block, its pages and those of its counters to the system. `start` as from
 * hearth_span_take. */
void hearth_span_give(char *start);

/* The slice of an address; NULL if it is not in our range. */
hearth_slice *hearth_slice_of(const void *address);

/* The first slice of the used span that an address lies in; and where such a span starts. */
hearth_slice *hearth_span_first_slice(const void *address);
char *hearth_span_start(const hearth_slice *first);

/* Does `address` lie in a small span? Then its class, and the distance from the span's start. */
bool hearth_span_find_small(const void *address, unsigned *ret_class, uint32_t *ret_offset);

/* The span of an address in our range. */
hearth_span hearth_span_of(const void *address);

/* Without a lock, for a thread that only looks: the addresses of spans that were ever used; and the span
 * that `address` lies in, or lay in a moment ago. What it holds may change at any time. */
size_t hearth_spans_extent(char **ret_start);
bool hearth_span_peek(const void *address, hearth_span *ret_span);

/* Used spans in ascending order: begin with *slice = 0; false at the end. The caller holds hearth_spans_lock. */
bool hearth_span_next(uint32_t *slice, hearth_span *ret_span);

/* With signals blocked. */
void hearth_spans_lock(void);
void hearth_spans_unlock(void);

/* The spans of one size class: which have free chunks that any thread may take, and which may go back to the system.
 * All calls are made while the class is locked. */

/* Zero at first. */
typedef struct hearth_class_spans {
  hearth_slice *partial;       /* some chunks are free: the list of their first slices */
  hearth_slice *empty;         /* all are free */
  hearth_slice *leaving;       /* the same, out of use: linked by `next` alone */
  uint32_t count, empty_count; /* of spans in use; of those in `empty` */
  uint32_t left, staying;      /* spans that went back, less those taken since; empty ones that may stay */
} hearth_class_spans;

/* A span to take a chunk from; NULL: no chunk is free. Those that are fullest come first, so that others get empty. */
static inline hearth_slice *hearth_class_spans_first(const hearth_class_spans *spans) {
  return spans->partial ? spans->partial : spans->empty;
}

/* The class got one more. */
void hearth_class_spans_note_new(hearth_class_spans *spans, const hearth_slice *span);

/* A chunk of the span was taken from those that are free, or added to them. The span has `chunks` in all; 2 at least. */
void hearth_class_spans_note_taken(hearth_class_spans *spans, hearth_slice *span, uint32_t chunks);
void hearth_class_spans_note_given(hearth_class_spans *spans, hearth_slice *span, uint32_t chunks);

/* Unlock the class, and then give those of its spans back that have left it. */
void hearth_class_spans_unlock(hearth_class_spans *spans, hearth_lock *lock);

/* -- watched blocks --------------------------------------------------------------------------------------------------- */

/* Watched blocks: some blocks of the sample, on pages that they share with no other block, so that the accessed bits of
 * these pages tell whether the block was touched. The system counts accessed pages by mapping (touch_looks.c). So there
 * is one for each context's small blocks, with a page for each block, and one for each larger block:
 *
 *   | page page ... page | gap | page page ... page | gap | ...  large | gap | large | gap |
 *     small slot               small slot                   slots of one block
 *
 * All lie in one range at low addresses, which the system lists first; nothing is reserved, and only slots in use are
 * mapped. */

#define HEARTH_WATCHED_SMALL_SLOTS 384u
#define HEARTH_WATCHED_SMALL_PAGES 63u /* of a small slot; a bit for each */
#define HEARTH_WATCHED_CLASSES     13u /* larger blocks have up to 2, 4 ... 8192 pages */
#define HEARTH_WATCHED_CLASS_SLOTS 24u
#define HEARTH_WATCHED_SLOTS       (HEARTH_WATCHED_SMALL_SLOTS + HEARTH_WATCHED_CLASSES * HEARTH_WATCHED_CLASS_SLOTS)

/* A larger block's memory is being given back. */
#define HEARTH_WATCHED_ENDING UINT64_C(2)

/* Of a larger block, only the lowest bits count. */
typedef struct hearth_watched_slot {
  char *start;         /* of the mapping; NULL: there is none */
  uint32_t pages;      /* of the mapping */
  uint32_t context;    /* HEARTH_NO_CONTEXT: it is free */
  uint32_t high_pages; /* pages from the first one on that were ever used, since they were given back */
  uint64_t used;       /* pages with a block, as bits, ended ones included */
  uint64_t fresh;      /* of these: the block began after the last look */
  uint64_t ended; /* of these: the block has ended, and HEARTH_WATCHED_ENDING; atomic, all else is under the lock */
  uint8_t offsets[HEARTH_WATCHED_SMALL_PAGES]; /* of a page's block, in lines */
  uint16_t sizes
      [HEARTH_WATCHED_SMALL_PAGES]; /* of a page's block, in bytes: its header is not read, as that would touch it */
} hearth_watched_slot;

/* Of all that follows; an allocation never waits for it. */
extern hearth_lock hearth_watched_lock __attribute__((visibility("hidden")));

/* Once, before there are blocks. False: no memory. */
bool hearth_watched_create(void);

/* Begin and stop placing blocks; those that are there stay. */
void hearth_watched_switch(bool on);

/* A chunk for a block of the sample, or for some of all blocks if there is none, as hearth_heap_take; NULL: it is to
 * lie among all others. */
hearth_header *hearth_watched_take(size_t size, size_t alignment, uint32_t context, bool *ret_zeroed);

/* Does an address lie in the range? Never before it is created. */
bool hearth_watched_contains(const void *address);

/* The block that a user pointer in the range is of; NULL: of none. Its state is to be looked at. */
hearth_header *hearth_watched_find(const void *pointer);

/* The block has ended. Its page is not used again before the next look. */
void hearth_watched_give(hearth_header *block);

/* Call `visit` for each block, live or not; under the lock. */
void hearth_watched_each(void (*visit)(hearth_header *block, void *closure), void *closure);

/* For the thread that looks, under the lock: the slots, the range as far as it may be mapped, and the slot of a
 * mapping, NULL if it is none of ours. */
hearth_watched_slot *hearth_watched_slots(void);
void hearth_watched_range(char **ret_start, char **ret_end);
hearth_watched_slot *hearth_watched_slot_of(const void *address);
bool hearth_watched_is_small(const hearth_watched_slot *slot);

/* The same, after a look: pages of ended blocks are free from now on. */
void hearth_watched_settle(void);

#endif
