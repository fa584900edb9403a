/* The heap. Words:
 *
 *   chunk    what the heap hands out: a multiple of 64 bytes, aligned to 64
 *   header   32 bytes before the user's bytes; with the header at the chunk's start, these are aligned to 32 and begin
 *            in the middle of a granule, so that no two blocks share one
 *   granule  64 aligned bytes: what one access counter stands for
 *
 *   | header | user bytes ............. |             usual block
 *   | redirect | ... | header | user bytes ... |      alignment above 32: the redirect at the chunk's start leads to
 * the header, so that live blocks can be enumerated
 *
 * A chunk of a small run is reused for chunks of its size class only. Any thread may call anything. */
#ifndef HEARTH_RUNTIME_HEAP_H
#define HEARTH_RUNTIME_HEAP_H

#include "bare.h"

#define HEARTH_GRANULE          ((size_t)64)
#define HEARTH_BLOCK_ALIGNMENT  ((size_t)32) /* of every user pointer behind a header */
#define HEARTH_MALLOC_ALIGNMENT ((size_t)16) /* of all others: what callers of malloc expect */

typedef enum hearth_block_state {
  HEARTH_BLOCK_RAW = 0, /* memory never handed out, or not a header */
  HEARTH_BLOCK_LIVE = 0xa5,
  HEARTH_BLOCK_ENDING = 0x96, /* claimed, but not recorded yet */
  HEARTH_BLOCK_FREE = 0x5c,
  HEARTH_BLOCK_REDIRECT = 0xc3
} hearth_block_state;

#define HEARTH_NO_CONTEXT                                                                                              \
  UINT32_MAX /* block without record: allocated before the start, or by the runtime's callees  \
                                      */

/* Header of a block. The user's bytes follow it. */
typedef struct hearth_block {
  uint64_t size; /* requested bytes; in a redirect: distance of the header in bytes */
  union {
    uint64_t alloc_ns;              /* since the start of the run */
    struct hearth_block *next_free; /* in the list of a size class */
  };
  union {
    struct {
      uint32_t context; /* id in the depot, or HEARTH_NO_CONTEXT */
      uint16_t cpu;
      uint8_t state;      /* hearth_block_state; accessed atomically: live only while all other fields are valid */
      uint8_t size_class; /* of the chunk that the header begins; HEARTH_NO_CLASS: a large run, or behind a redirect */
    };
    uint64_t life; /* all four at once; atomic */
  };
  uint64_t data_type_id;
} hearth_block;

_Static_assert(sizeof(hearth_block) == 32, "user pointers are aligned to 32");

_Static_assert(offsetof(hearth_block, state) == offsetof(hearth_block, life) + 6, "as in HEARTH_LIFE_UNRECORDED");

static inline void *hearth_block_memory(hearth_block *block) { return block + 1; }

/* The life of a live block without record whose header begins a chunk of class 0; other classes are added from the bit
 * HEARTH_LIFE_CLASS_BIT on. */
#define HEARTH_LIFE_UNRECORDED ((uint64_t)HEARTH_BLOCK_LIVE << 48 | HEARTH_NO_CONTEXT)
#define HEARTH_LIFE_CLASS_BIT  56

#define HEARTH_NO_CLASS UINT8_MAX

#define HEARTH_HEAP_CLASSES 36 /* sizes of chunks in small runs */

/* Free chunks that one thread keeps for itself, for whoever uses the thread's cache (thread_cache.h). */
typedef struct hearth_heap_cache {
  struct {
    hearth_block *free;
    uint32_t count;
  } classes[HEARTH_HEAP_CLASSES];
  hearth_bare_cache bare;
} hearth_heap_cache;

/* Reserve the heap's address space; early, once. False: there is none. */
bool hearth_heap_create(void);

/* A chunk for `size` bytes.
 *   alignment   a power of two; 32 if less
 *   cache       of this thread, in use; NULL: none
 *   ret_zeroed  whether the user's bytes are known to be zero
 * Returns its header, which has size set and is not live yet; NULL: no memory, or size beyond the address space. */
hearth_block *hearth_heap_take(size_t size, size_t alignment, hearth_heap_cache *cache, bool *ret_zeroed);

/* The same from what `cache` has, with user pointers aligned to 32. NULL: the cache has no such chunk. */
hearth_block *hearth_heap_take_cached(size_t size, hearth_heap_cache *cache);

/* The same for a block that is not recorded; it is live at once. Small ones need no header: see bare.h. */
hearth_block *hearth_heap_take_unrecorded(size_t size, hearth_heap_cache *cache);

static inline uint8_t hearth_block_state_of(const hearth_block *block) {
  return __atomic_load_n(&block->state, __ATOMIC_ACQUIRE);
}

static inline void hearth_block_set_state(hearth_block *block, hearth_block_state state) {
  __atomic_store_n(&block->state, (uint8_t)state, __ATOMIC_RELEASE);
}

/* All fields of the header are set: from now on the block is enumerated and can be claimed. */
static inline void hearth_block_publish(hearth_block *block) { hearth_block_set_state(block, HEARTH_BLOCK_LIVE); }

/* Where a block lies. */
typedef struct hearth_chunk {
  char *start;
  uint8_t size_class; /* HEARTH_NO_CLASS: it is a run of its own */
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

/* Look up a user pointer; *ret_block is set if it is LIVE. Of blocks without header, those that were freed are known; who may
 * have live ones asks hearth_bare_find before. */
hearth_pointer_kind hearth_heap_find(const void *pointer, hearth_block **ret_block);

/* The same, and make a live block the caller's: its state is then ENDING, until it is recorded. Of threads that free a block
 * at once none is refused: an atomic exchange would tell them apart, and cost each free a tenth of its time. */
hearth_pointer_kind hearth_heap_claim(void *pointer, hearth_block **ret_block, hearth_chunk *ret_chunk);

/* End the block of a user pointer into `cache`, if it is live, has no record, begins a chunk of a small run, and the cache
 * has room. False: it is left to hearth_heap_claim. Of threads that free such a block at once none is refused. */
bool hearth_heap_give_unrecorded(void *pointer, hearth_heap_cache *cache);

/* Is this the user pointer of a live block that begins a chunk of a small run, for which the cache has room? False: it is left
 * to hearth_heap_claim. */
bool hearth_heap_is_usual(const void *pointer, const hearth_heap_cache *cache);

/* As hearth_heap_give, for the chunk of such a block, which was recorded since. */
void hearth_heap_give_usual(hearth_block *block, hearth_heap_cache *cache);

/* Give such a block another size. False: it is not such a block, or needs another chunk. */
bool hearth_heap_resize_unrecorded(void *pointer, size_t size);

/* Call `visit` for each block that is live or ending. The caller holds hearth_heap_lock. */
void hearth_heap_each(void (*visit)(hearth_block *block, void *closure), void *closure);

/* What the heap has taken from the system and handed out; sizes in bytes. */
typedef struct hearth_heap_usage {
  size_t small_run_bytes, large_run_bytes;
  size_t chunk_bytes; /* chunks of live blocks */
  size_t blocks, large_blocks;
} hearth_heap_usage;

/* The threads are stopped (thread_cache.h). */
hearth_heap_usage hearth_heap_get_usage(void);

/* Stop allocation and deallocation that needs what threads share; also around fork. With signals blocked; not recursive.
 * Returns how many of them are within a section that they do not leave. */
unsigned hearth_heap_lock(void);
void hearth_heap_unlock(void);

#endif
