/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Segments: two MiB each, in use by a pool, or kept for the next one; and what lies at an address. */
#ifndef HEARTH_MALLOC_SEGMENTS_H
#define HEARTH_MALLOC_SEGMENTS_H

#include "engine.h"

#pragma GCC visibility push(hidden)

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

typedef struct hearth_live {
  size_t blocks, bytes;
} hearth_live;
/* By the map, while threads may change it. Under the lock, as others give segments back. */
hearth_live hearth_segment_count(hearth_segment *segment);

/* Address space that segments take, the part that is kept for the next ones, and their live blocks. Walks over all
 * maps. */
typedef struct hearth_segments_stats {
  size_t bytes, kept_bytes;
  hearth_live live;
} hearth_segments_stats;
hearth_segments_stats hearth_segments_count(void);

/* Gives the kept ones back. Returns whether there were any. */
bool hearth_segments_trim(void);

extern hearth_lock hearth_segments_lock; /* for fork */

#pragma GCC visibility pop

#endif
