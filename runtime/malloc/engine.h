/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The heap: every block of the program.
 *
 *   heap      of a thread: its pools. A thread that ends leaves its heap, with all blocks, to a thread that starts.
 *   pool      blocks that lie together: one for each placement. Its memory: segments.
 *   segment   2 MiB, aligned: a huge page. A byte for each granule of it, its own ones included (the map), then 30 slots.
 *   slot      64 KiB of a segment, for blocks of one range of sizes. Neighbouring slots of one range may share a block.
 *   range     sizes whose blocks lie in the order of their requests: from a cursor, through fresh slots and holes.
 *             Before a pool grows, it lends holes of one range to another.
 *   granule   16 bytes, the smallest block and the alignment of all. Blocks have no header.
 *   class     sizes that are rounded to one: each granule up to 1 KiB, then eight for each doubling up to 128 KiB (size_classes.h).
 *   large     a block above that: page by page, from areas (heap_memory.h).
 *
 *   segment   |head |map: a byte for each granule ...      |slot 2        |slot 3        |...            |slot 31       |
 *             0     8 KiB (= the map's bytes of the map)   128 KiB
 *   slot      |aaaa|bb|cccccc|dd|..hole..|eeee|ff|          the map's bytes: 4000 2 0 6 00000 2 0 H.. 0 ...
 *             order of requests -->   cursor ^
 *
 *   byte of the map    0                within a block or a hole, or never used
 *                      1 to 64          a live block of this class begins here: free finds it by the sign
 *                      HEARTH_FREE | c  a freed block of class c, or a hole of c granules (c <= 64); above: a live block of class c
 *                      HEARTH_FREE      a longer hole: its granules in the next three bytes, the next hole in four more,
 *                                       six bits each beside HEARTH_FREE
 *                      HEARTH_FREED_MEDIUM, HEARTH_REMOTE_MEDIUM, HEARTH_REMOTE
 *                                       a freed block, whose class follows: above 64, and there without these; freed by another
 *                                       thread; the same, of at most 64. Of one granule: HEARTH_REMOTE_GRANULE
 *
 * A freed block waits in its pool's list of its class (the link lies in the block, encoded), or is only marked in
 * the map: if another thread freed it, if the pool is of cold memory, which nobody writes to after its end, or if
 * its segment is being swept. When a quarter of a pool is free (of the heap, in the main pool), the lists are
 * dropped; the segments are swept one by one as memory is needed: neighbouring freed blocks become holes, empty
 * slots and segments go back. So frees and requests that go in circles meet in the lists, last freed first used, and
 * never pay for sweeps; requests of other sizes, or after many frees, find memory in the order of addresses.
 *
 * Back to the system:
 *
 *   segments      in which no slot is in use: sweeps find them, once a quarter of the pool is free. A twentieth of the
 *                 most that were in use at once is kept (segments.c)
 *   large blocks  free pages in memory, from an eighth of the live ones on; more may stay where requests keep coming, up
 *                 to half of the live ones, a tenth of the peak, or 32 MiB. With live pages and segments, they never
 *                 are more than the peak of these, if that is above 32 MiB (large_block.c)
 *   slots         in no use, when a large block is about to make a new peak: as many as it has pages for
 *   malloc_trim   the calling thread's heap is swept; no segment is kept, nor a free page of large blocks
 *
 * Threads: a pool belongs to the thread of its heap. The others mark freed blocks in the map, whose bytes belong to
 * whoever may free the block, and queue the slots where many are (sweep.c). Locks, outermost first, as a fork takes
 * them (thread_heaps.c): of large blocks, of segments and their table, of the file of cold memory. */
#ifndef HEARTH_MALLOC_ENGINE_H
#define HEARTH_MALLOC_ENGINE_H

#include "hearth/expect.h"
#include "lock.h"
#include "machine.h"
#include "size_classes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEARTH_HIDDEN              __attribute__((visibility("hidden")))
#define HEARTH_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define HEARTH_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Weak: a program may have functions of its own under these names, and links with the archive all the same. */
#define HEARTH_EXPORT __attribute__((visibility("default"), weak))

#pragma GCC visibility push(hidden)

enum {
  HEARTH_SEGMENT_BYTES = 2 << 20,
  HEARTH_SLOT_BYTES = 64 << 10,
  HEARTH_SLOTS = HEARTH_SEGMENT_BYTES / HEARTH_SLOT_BYTES,
  HEARTH_MAP_SLOTS = HEARTH_SEGMENT_BYTES / HEARTH_GRANULE / HEARTH_SLOT_BYTES, /* that the map takes */
  HEARTH_SEGMENT_GRANULES = HEARTH_SEGMENT_BYTES / HEARTH_GRANULE,
  HEARTH_SLOT_GRANULES = HEARTH_SLOT_BYTES / HEARTH_GRANULE,
  HEARTH_FIRST_GRANULE = HEARTH_MAP_SLOTS * HEARTH_SLOT_GRANULES,
  HEARTH_HEAD_BYTES = HEARTH_FIRST_GRANULE / HEARTH_GRANULE,
  HEARTH_FREE = 0x80,
  HEARTH_FREED_MEDIUM = 0xfc,
  HEARTH_REMOTE_MEDIUM = 0xfd, /* the first of the remote ones */
  HEARTH_REMOTE = 0xfe,
  HEARTH_REMOTE_GRANULE = 0xff,
  HEARTH_CHAINED_GRANULES = 8, /* of a hole whose bytes in the map hold its length and the next hole */
};

/* Where a block lies: a pool of each heap. */
enum {
  HEARTH_POOL_NONE, /* of a neutral hint, which asks for what the plain function does: the main pool, or no pool */
  HEARTH_POOL_MAIN,
  HEARTH_POOL_COLD,
  HEARTH_POOL_FIRST, /* of the 31 pools of a plan */
  HEARTH_POOLS = HEARTH_POOL_FIRST + 31,
};

typedef struct hearth_block hearth_block;
typedef struct hearth_segment hearth_segment;
typedef struct hearth_pool hearth_pool;
typedef struct hearth_heap hearth_heap;

/* Freed, in a list: the next block, or NULL, plus the pool's key. So one subtraction decodes it and tells whether it
 * is one. */
struct hearth_block {
  uintptr_t next;
};

/* Added to the address of its pool, which owns it: free finds the one word that says both. */
typedef enum hearth_segment_state {
  HEARTH_LISTED = 0, /* freed blocks go to the lists */
  HEARTH_MARKED = 1, /* freed blocks are only marked: it is to be swept, or its pool has no lists */
} hearth_segment_state;

struct hearth_segment {
  _Atomic uintptr_t owner; /* its pool plus its state */
  uint64_t zero[2];        /* a pointer that is not aligned reads a word between here: never an owner */
  hearth_pool *pool;
  hearth_segment *next, *previous; /* of the pool, in the order of addresses as far as the system gives them so */
  hearth_segment *next_with_holes[HEARTH_RANGES];
  uint32_t holes[HEARTH_RANGES];     /* granule of the first hole of each range, 0: none */
  uint32_t usable_slots, used_slots; /* bit for each */
  uint32_t run_starts;               /* slots at whose start a block or hole begins */
  uint32_t clean_slots;              /* unused, and not in memory since a discard */
  uint32_t open_slots;               /* from the first one on: readable and writable */
  uint32_t freed_granules;           /* since it was marked; by its thread only */
  bool is_huge, is_cold;
  bool to_sweep;                 /* its freed blocks are in no list; its holes are not known */
  bool has_holes[HEARTH_RANGES]; /* is among the pool's segments with holes */
  uint8_t range_of_slot[HEARTH_SLOTS];
  /* By threads that free blocks here. */
  _Alignas(64) _Atomic uint16_t remote_granules[HEARTH_SLOTS]; /* that they marked */
  _Atomic uint32_t remote_slots;                               /* to be received */
  hearth_segment *next_remote;                                 /* in the pool's queue */
};
_Static_assert(sizeof(hearth_segment) <= HEARTH_HEAD_BYTES, "the head is the map's bytes of the map");

typedef struct hearth_cursor {
  char *at, *end; /* fresh memory, or a hole: all zero in the map */
} hearth_cursor;

struct hearth_pool {
  uintptr_t list[HEARTH_CLASSES]; /* the last freed block of each class plus the key; entry 0 is always empty */
  int64_t budget;                 /* granules that may still be freed before the lists are dropped */
  hearth_cursor cursor[HEARTH_RANGES];
  hearth_segment *with_holes[HEARTH_RANGES];
  hearth_segment *first, *last;  /* all segments */
  hearth_segment *next_to_sweep; /* NULL: all are swept */
  size_t segments;
  int64_t whole_budget;                       /* with empty lists: the difference is in the lists */
  size_t used_granules;                       /* of slots in use */
  size_t marked_granules;                     /* freed in segments that are to be swept */
  size_t paid_granules;                       /* freed in segments that are to be swept, since a free swept one */
  size_t hole_granules;                       /* in holes of swept segments */
  size_t received_granules;                   /* that other threads freed, in holes and unused slots */
  size_t unused_slots;                        /* of swept segments */
  uintptr_t checked[HEARTH_CHAINED_GRANULES]; /* lists of holes, by granules, in the secure mode */
  /* Never changed; read by threads that free the pool's blocks. */
  _Alignas(64) uintptr_t key;
  hearth_heap *heap;
  uint8_t placement;
  bool is_cold;    /* freed blocks are never written to */
  bool is_listed;  /* freed blocks go to the lists */
  bool is_checked; /* of the secure mode, whose own lists come before the cursor */
  _Alignas(64) _Atomic int64_t
      freed_elsewhere;            /* granules that other threads marked, by pages, and no sweep has found */
  hearth_segment *_Atomic remote; /* queue of segments with slots to be received */
};

struct hearth_heap {
  hearth_pool main;                        /* first: what the thread's variable points to */
  hearth_pool *_Atomic pool[HEARTH_POOLS]; /* NULL until used */
  uint64_t hinted[HEARTH_POOLS];           /* requests with a hint for each; by its thread only */
  size_t used_granules;                    /* of all pools */
  hearth_heap *next_of_all;
  _Atomic uint32_t is_busy; /* an idle heap is being worked on by some thread */
};

/* Behind a heap lies the room for its other pools, so that one comparison tells whether a pool is of the heap. */
#define HEARTH_POOL_ROOM HEARTH_WHOLE_PAGES(sizeof(hearth_pool))
#define HEARTH_POOLS_AT  HEARTH_WHOLE_PAGES(sizeof(hearth_heap))
#define HEARTH_HEAP_ROOM (HEARTH_POOLS_AT + HEARTH_POOLS * HEARTH_POOL_ROOM)
static inline bool hearth_heap_has(const hearth_heap *heap, uintptr_t pool) {
  return pool - (uintptr_t)heap < HEARTH_HEAP_ROOM;
}

/* The thread's main pool; before its first request, an empty one, in which nothing is found. */
extern _Thread_local hearth_pool *hearth_main_pool __attribute__((tls_model("initial-exec")));
extern hearth_heap hearth_no_heap;

static inline hearth_segment *hearth_segment_of(const void *block) {
  return (hearth_segment *)((uintptr_t)block & ~(uintptr_t)(HEARTH_SEGMENT_BYTES - 1));
}
static inline size_t hearth_granule_of(const void *block) {
  return (uint32_t)(uintptr_t)block / HEARTH_GRANULE % HEARTH_SEGMENT_GRANULES;
}
/* Of a pointer that may be none of ours, or not aligned: then it is no pool's. */
static inline uintptr_t hearth_owner_of(const hearth_segment *segment) {
  return atomic_load_explicit(&segment->owner, memory_order_relaxed);
}
typedef _Atomic uint8_t hearth_map;
static inline hearth_map *hearth_map_of(hearth_segment *segment) { return (hearth_map *)segment; }
static inline uint8_t hearth_map_get(hearth_map *map, size_t granule) {
  return atomic_load_explicit(&map[granule], memory_order_relaxed);
}
static inline void hearth_map_set(hearth_map *map, size_t granule, size_t value) {
  atomic_store_explicit(&map[granule], (uint8_t)value, memory_order_relaxed);
}
/* Of a live block. */
static inline size_t hearth_live_byte(size_t class) {
  return class > HEARTH_SMALL_CLASSES ? HEARTH_FREE | class : class;
}
/* 0: no live block begins here. */
static inline size_t hearth_live_class(uint8_t byte) {
  size_t class = byte & (HEARTH_FREE - 1);
  return class < HEARTH_CLASSES && byte == hearth_live_byte(class) ? class : 0;
}
/* A mark of two bytes: a class is no live block's, whoever frees a pointer into its block. */
static inline void hearth_map_set_two(hearth_map *map, size_t granule, uint8_t byte, size_t class) {
  hearth_map_set(map, granule + 1, HEARTH_FREE | (class > HEARTH_SMALL_CLASSES ? class - HEARTH_SMALL_CLASSES : class));
  atomic_store_explicit(&map[granule], byte, memory_order_release);
}
static inline void hearth_map_set_freed(hearth_map *map, size_t granule, size_t class) {
  if (class > HEARTH_SMALL_CLASSES)
    hearth_map_set_two(map, granule, HEARTH_FREED_MEDIUM, class);
  else
    hearth_map_set(map, granule, HEARTH_FREE | class);
}
static inline char *hearth_address_of(hearth_segment *segment, size_t granule) {
  return (char *)segment + granule * HEARTH_GRANULE;
}

/* slow_path.c: what malloc and free do when the lists do not serve. NULL: the system has no memory. */
void *hearth_pool_alloc_slowly(hearth_pool *pool, size_t class);
void *hearth_pool_alloc_aligned(hearth_pool *pool, size_t bytes, size_t alignment);
void hearth_pool_free_slowly(hearth_pool *pool, void *block);
void hearth_pool_empty_lists(hearth_pool *pool);
void hearth_pool_init(hearth_pool *pool, hearth_heap *heap, unsigned placement);
/* Gives back what is empty; always, or if half of what may be free is. */
void hearth_pool_collect(hearth_pool *pool);
void hearth_pool_collect_if_worth(hearth_pool *pool);
/* So many unused slots leave memory, as far as there are any. */
void hearth_pool_discard_slots(hearth_pool *pool, size_t slots);

/* sweep.c */
/* All segments are to be swept. */
void hearth_pool_drop_lists(hearth_pool *pool);
/* The same, because too much is free: where blocks are freed and not asked for, empties go back now. */
void hearth_pool_free_too_much(hearth_pool *pool);
/* Empty segments go back to all, if the pool is not about to grow. */
void hearth_segment_sweep(hearth_pool *pool, hearth_segment *segment, bool is_growing);
/* The next hole of the range becomes its cursor. false: there is none. */
bool hearth_pool_next_hole(hearth_pool *pool, unsigned range);
/* What is left at the cursor becomes freed blocks and holes. */
void hearth_pool_close_cursor(hearth_pool *pool, unsigned range);

/* For slow_path.c and sweep.c alone: a pool's segments and slots. */
/* A slot has no block any more. */
void hearth_pool_return_slot(hearth_pool *pool, hearth_segment *segment, unsigned slot);
/* A segment without slots in use leaves the pool. */
void hearth_pool_return_segment(hearth_pool *pool, hearth_segment *segment);
void hearth_segment_set_state(hearth_segment *segment);

/* Holes or slots are used again. */
static inline void hearth_pool_reuse(hearth_pool *pool, size_t granules) {
  pool->received_granules -= granules < pool->received_granules ? granules : pool->received_granules;
}

/* Granules that may be freed before the lists are dropped: a quarter, and as much as two slots. Of the whole heap in
 * its main pool: what lies in others, as cold memory, would count there without hints. */
static inline int64_t hearth_pool_quota(const hearth_pool *pool) {
  size_t used = pool == &pool->heap->main ? pool->heap->used_granules : pool->used_granules;
  return (int64_t)(used / 4 + 2 * HEARTH_SLOT_GRANULES);
}

/* The granules of all blocks, when all segments are swept; blocks that other threads freed since then count, too. */
size_t hearth_pool_live(const hearth_pool *pool);
/* The quota; but in a pool of several segments at most seven eighths of its blocks: the last ones may lie everywhere,
 * and hold all of it. A sweep of all takes time by its blocks, as segments without any go back: so the blocks that were
 * freed pay for it.
 *   listed   granules that are in the lists */
void hearth_pool_set_budget(hearth_pool *pool, size_t live, int64_t listed);

/* Marks a block of another thread's heap, or of none. */
void hearth_remote_free(hearth_segment *segment, void *block, size_t class);
/* By the pool's owner: marked blocks of the slots in the queue become holes. false: there were no such slots. */
bool hearth_pool_receive(hearth_pool *pool);

/* HEARTH_MALLOC=secure=on: misuse that passes in silence otherwise stops the program, or hits nothing.
 * docs/security.md says what that stops and costs.
 *
 *   freed blocks   are marked, in no list: none is used again before a sweep, when a quarter of the heap is free
 *   holes          too small for the map's chains wait in lists whose links are checked
 *   segments       the slots behind the map and at the end are never opened: guards
 *   fresh slots    are taken at random */
enum { HEARTH_GUARDED_SLOTS = 1 << HEARTH_MAP_SLOTS | (int)(1u << (HEARTH_SLOTS - 1)) };
extern bool hearth_is_secure;
/* For all heaps, also those that are there; before the program has threads. */
void hearth_secure_mode_open(void);
/* A hole of below HEARTH_CHAINED_GRANULES granules; NULL: there is none. Ends the program if one was written to. */
void *hearth_checked_pop(hearth_pool *pool, size_t granules);

/* thread_heaps.c: heaps of threads. */
hearth_heap *hearth_heap_of_thread(void); /* taken or made at its first request; NULL: no memory */
hearth_pool *hearth_heap_pool(hearth_heap *heap, unsigned placement);
bool hearth_heap_try_take(hearth_heap *heap); /* an idle one, to work on */
void hearth_heap_give(hearth_heap *heap);
hearth_heap *hearth_heap_create(void);
void hearth_heap_collect(hearth_heap *heap);
void hearth_heaps_for_each_pool(void (*function)(hearth_pool *pool));
hearth_heap *_Atomic *hearth_heaps_head(void); /* of the list of all, by next_of_all */
/* Code of the program may take blocks from the lists itself (hearth/lowered_calls.h): of malloc, and of operator new.
 * Neutral hints are served here, as the plain functions are the allocator's. */
void hearth_heaps_open_fast_path(bool has_malloc, bool has_new, bool has_neutral);

/* NULL: the list is empty. */
static inline hearth_block *hearth_pool_first(const hearth_pool *pool, size_t class) {
  return (hearth_block *)(pool->list[class] - pool->key);
}

static inline void *hearth_pool_pop(hearth_pool *pool, size_t class, size_t granules) {
  hearth_block *block = hearth_pool_first(pool, class);
  if (HEARTH_UNLIKELY(!block))
    return NULL;
  pool->list[class] = block->next;
  hearth_map *map = hearth_map_of(hearth_segment_of(block));
  size_t granule = hearth_granule_of(block);
  hearth_map_set(map, granule, hearth_live_byte(class));
  if (class > HEARTH_SMALL_CLASSES)
    hearth_map_set(map, granule + 1, 0);
  pool->budget += (int64_t)granules;
  return block;
}

/* A block at the range's cursor; NULL: there is no room. */
static inline void *hearth_pool_take(hearth_pool *pool, unsigned range, size_t class, size_t granules) {
  hearth_cursor *cursor = &pool->cursor[range];
  char *block = cursor->at;
  if (HEARTH_UNLIKELY((size_t)(cursor->end - block) < granules * HEARTH_GRANULE))
    return NULL;
  if (!block) /* callers need not test a block for it */
    __builtin_unreachable();
  cursor->at = block + granules * HEARTH_GRANULE;
  hearth_map *map = hearth_map_of(hearth_segment_of(block));
  hearth_expect(hearth_map_get(map, hearth_granule_of(block)) == 0);
  hearth_map_set(map, hearth_granule_of(block), hearth_live_byte(class));
  return block;
}

static inline void hearth_pool_push(hearth_pool *pool, void *block, size_t class) {
  ((hearth_block *)block)->next = pool->list[class];
  pool->list[class] = (uintptr_t)block + pool->key;
}

/* malloc_functions.c, operator_new.c: what the program calls. */
/* A block of any size; alignment: a power of two. NULL: no memory, errno is set. *ret_zero is true if it is known to
 * be zero, or stays. */
void *hearth_alloc(hearth_pool *pool, size_t bytes, size_t alignment, bool *ret_zero);

/* malloc and its like, whatever the program finds by these names. */
void *hearth_engine_malloc(size_t bytes);
void *hearth_engine_calloc(size_t count, size_t bytes);
void *hearth_engine_realloc(void *block, size_t bytes);

static inline bool hearth_is_power_of_two(size_t number) { return number && !(number & (number - 1)); }

/* Of up to 1 KiB; 0 of no bytes. */
static inline size_t hearth_small_class(size_t bytes) { return (bytes + HEARTH_GRANULE - 1) / HEARTH_GRANULE; }

/* A freed block of up to 1 KiB. NULL: the list is empty. */
static inline __attribute__((always_inline)) void *hearth_pop_small(hearth_pool *pool, size_t bytes) {
  if (HEARTH_UNLIKELY(bytes > HEARTH_SMALL_BYTES))
    return NULL;
  size_t class = hearth_small_class(bytes);
  return hearth_pool_pop(pool, class, class);
}

/* When the list is empty, at the cursor: where a heap grows or fills its holes. NULL: there is no room, or it is no
 * such class. */
static inline void *hearth_take_small(hearth_pool *pool, size_t class) {
  if (HEARTH_UNLIKELY(class - 1 >= HEARTH_SMALL_CLASSES || pool->is_checked))
    return NULL;
  return hearth_pool_take(pool, hearth_class_range(class), class, class);
}

/* malloc_reports.c: messages without stdio, as they come from inside of malloc and free. errno is kept. Nothing is
 * written where descriptor 2 has become a file of the program's: it must be the same file as when the program
 * started, the same file as standard output, or a file that is appended to, as logs are. */
/* "hearth malloc: WHAT DETAIL" on standard error. */
void hearth_malloc_warn(const char *what, const char *detail);
/* "hearth malloc: WHAT ADDRESS", then abort: the program's heap differs from its author's belief. */
_Noreturn void hearth_fatal(const char *what, const void *address);
/* HEARTH_MALLOC=stats=FILE: from now on, as the process exits, the contents of the memory are appended to `path` as
 * a line, as `hearth top --json` prints them; "" for none. Shorter than HEARTH_MALLOC_PATH_BYTES; copied, and
 * relative to the working directory of now. */
void hearth_statistics_file_open(const char *path);

/* Where `hearth top` finds this process's tables (hearth/running_program.h). Once, when the options are known. Without
 * memory for it, there is none. */
void hearth_status_write(void);

#pragma GCC visibility pop

#endif
