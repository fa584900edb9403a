/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Segments: two MiB each, in use by a pool, or kept for the next one; and what lies at an address. */
#ifndef HEARTH_MALLOC_SEGMENTS_H
#define HEARTH_MALLOC_SEGMENTS_H

#include "engine.h"

#pragma GCC visibility push(hidden)

typedef enum hearth_kind { HEARTH_KIND_NONE, HEARTH_KIND_SEGMENT, HEARTH_KIND_LARGE } hearth_kind;

/* What lies in the two MiB around an address, which may be any. */
hearth_kind hearth_kind_of(const void *address);
/* bytes: a multiple of HEARTH_SEGMENT_BYTES. false: no memory for the table; nothing was changed. */
bool hearth_kind_set(const void *start, size_t bytes, hearth_kind kind);

/* A segment without blocks, its map all zero, in the table; the caller fills in the head. NULL: no memory. */
hearth_segment *hearth_segment_take(bool huge);
/* Its map has to be zero again, the head's part aside. */
void hearth_segment_give(hearth_segment *segment);
/* Slots [HEARTH_MAP_SLOTS, slots) are readable and writable. false: no memory. */
bool hearth_segment_open(hearth_segment *segment, unsigned slots);

/* Address space that segments take, in bytes, and the part that is kept for the next ones. */
void hearth_segments_count(size_t *ret_bytes, size_t *ret_kept_bytes);

/* Gives the kept ones back. Returns whether there were any. */
bool hearth_segments_trim(void);

extern struct hearth_futex_lock hearth_segments_lock; /* for fork */

#pragma GCC visibility pop

#endif
