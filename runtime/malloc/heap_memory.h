/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The memory below pools: segments, two MiB each, in use by a pool or kept for the next one; large blocks; cold
 * memory; and what lies at an address. */
#ifndef HEARTH_MALLOC_HEAP_MEMORY_H
#define HEARTH_MALLOC_HEAP_MEMORY_H

#include "engine.h"

#pragma GCC visibility push(hidden)

struct hearth_malloc_part_stats; /* hearth/malloc.h */

/* What lies in two MiB of addresses, a byte of a table: nothing, a segment of the pools of a placement, whose number
 * that is, a segment that is kept, or large blocks. */
enum {
  HEARTH_KIND_NONE = HEARTH_POOL_NONE,
  HEARTH_KIND_KEPT = HEARTH_POOLS,
  HEARTH_KIND_LARGE = 64,
  HEARTH_KIND_LARGE_COLD,
};
typedef uint8_t hearth_kind;

static inline bool hearth_is_segment(hearth_kind kind) { return kind && kind < HEARTH_KIND_KEPT; }
static inline bool hearth_is_large(hearth_kind kind) { return kind >= HEARTH_KIND_LARGE; }
static inline bool hearth_is_cold(hearth_kind kind) {
  return kind == HEARTH_POOL_COLD || kind == HEARTH_KIND_LARGE_COLD;
}

/* Of any address. */
hearth_kind hearth_kind_of(const void *address);
/* slow_path.c: the class of a live block; kind: what lies there. Ends the program with a message if it is no block
 * of a segment. */
size_t hearth_block_class(const void *block, hearth_kind kind);
/* bytes: a multiple of HEARTH_SEGMENT_BYTES. false: no memory for the table; nothing was changed. */
bool hearth_kind_set(const void *start, size_t bytes, hearth_kind kind);
/* The first two MiB from `from` on where something lies; NULL: there is nothing. Other threads may change it meanwhile. */
char *hearth_kind_next(const void *from, hearth_kind *ret_kind);

/* Where the table lies, for readers outside of the process: an array of so many pointers to arrays of so many bytes. */
typedef struct hearth_kind_table {
  const void *leaves;
  size_t leaf_count, leaf_bytes;
} hearth_kind_table;
hearth_kind_table hearth_kind_table_get(void);

/* A segment without blocks, its map all zero, in the table; the caller fills in the head. NULL: no memory. */
hearth_segment *hearth_segment_take(unsigned placement, bool huge);
/* Its map has to be zero again, the head's part aside. */
void hearth_segment_give(hearth_segment *segment);
/* Slots [HEARTH_MAP_SLOTS, slots) are readable and writable. false: no memory. */
bool hearth_segment_open(hearth_segment *segment, unsigned slots);

/* Adds its live blocks by the map, while threads may change it. Under the lock, as others give segments back. */
void hearth_segment_count(hearth_segment *segment, struct hearth_malloc_part_stats *sum);

/* Room for one more entry of an array, which moves to other pages for it. Returns the array; NULL: no memory, and it is
 * as it was. */
void *hearth_array_grow(void *array, size_t count, size_t *room, size_t entry_bytes);

/* Gives the kept ones back. Returns whether there were any. */
bool hearth_segments_trim(void);

extern hearth_lock hearth_segments_lock; /* for fork */

/* -- large blocks ---------------------------------------------------------------------------------------------------- */

/* Large blocks: runs of pages in areas, which all threads share under one lock; those of cold blocks have areas of
 * their own.
 *
 *   area   a multiple of 2 MiB, aligned, of huge pages once there are many; opened as a whole
 *   run    neighbouring pages: one block, or free; no two free runs are neighbours
 *   page   an entry beside the area for each page; a run's first and last one say what it is
 *
 * Free runs wait in bins by size, four for each doubling. A run that was never used, or whose pages went back to the
 * system, reads as zero. */

/* Of more than HEARTH_MEDIUM_BYTES, or any size with an alignment of more than that; alignment: a power of two.
 * NULL: no memory. */
void *hearth_large_alloc(bool is_cold, size_t bytes, size_t alignment, bool *ret_zero);
void hearth_large_free(void *block);
/* In place, or by moving pages; NULL: no memory, and the block is as it was. */
void *hearth_large_resize(void *block, size_t bytes);
size_t hearth_large_usable(const void *block);

typedef struct hearth_large_stats {
  size_t area_bytes, live, live_bytes, dirty_bytes; /* dirty: free and in memory */
} hearth_large_stats;
void hearth_large_count(bool is_cold, hearth_large_stats *sum);
/* Where the numbers of live blocks and, behind it, of their pages lie, for readers outside of the process. */
const size_t *hearth_large_live(bool is_cold);
/* Segments are taken by pools, or given back: so many. */
void hearth_large_count_segments(bool is_cold, int change);
/* Gives free pages back. Returns whether there were any. */
bool hearth_large_trim(void);

extern hearth_lock hearth_large_lock; /* for fork */

/* -- cold memory ----------------------------------------------------------------------------------------------------- */

/* Memory of cold blocks, which may leave: to swap space, or to a file on machines without.
 *
 * The file has no name any more; cold memory maps pieces of it, shared. Shared memory stays shared across fork, so
 * before a fork all pieces are mapped again, privately, from the same file: nothing is copied, and as nobody writes
 * to the file any more, parent and child each see the old bytes. What either takes from then on is of a file of its
 * own. Blocks of the disk are reserved before memory is handed out: a full disk is no memory, not SIGBUS. */

struct hearth_malloc_options; /* hints.h */
/* Once, before the first cold block. A mode that cannot be had is HEARTH_COLD_KEEP, after a warning that says why. */
void hearth_cold_memory_configure(const struct hearth_malloc_options *options);

/* As hearth_system_open, _discard and _release, of whole pages, of cold memory or other. A piece of it is released
 * whole. */
bool hearth_memory_open(bool is_cold, void *start, size_t bytes);
void hearth_memory_discard(bool is_cold, void *start, size_t bytes);
void hearth_memory_release(bool is_cold, void *start, size_t bytes);

/* Has pages leave, in a mode in which they leave; they wait for the disk. False: the kernel knows no such advice, or
 * the memory is locked. */
bool hearth_cold_memory_send(char *start, size_t bytes);

/* In the thread that is about to fork, with the locks of segments and large blocks held; and when it has. */
void hearth_cold_memory_before_fork(void);
void hearth_cold_memory_after_fork(void);

/* cold_thread.c: the thread that has cold memory leave, for programs that were asked to. A thread, and not the
 * allocating ones in passing: memory is best given back by a program that rests, and such a program does not
 * allocate; and an allocation should not wait until pages are written. It blocks all signals, and sleeps except for
 * some system calls in each interval. */

/* A round each `interval_s` seconds (0: never), for at most `cost_percent` of the time (0: no bound). */
void hearth_cold_thread_configure(unsigned interval_s, unsigned cost_percent);
/* Starts it, if it is wanted and does not run. With no lock held. */
void hearth_cold_thread_ensure(void);
void hearth_cold_thread_after_fork(void); /* in the child, which has no other threads */

#pragma GCC visibility pop

#endif
