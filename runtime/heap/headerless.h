/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory of blocks that are not recorded because they are not in the sample (sample.h): chunks without header, in sizes
 * of 16 bytes more each, as dense as the C library's. They lie in tracts of their own, one sector each, so that the
 * table of sectors tells them from blocks with headers, and share no granule with those. */
#ifndef HEARTH_RUNTIME_HEADERLESS_H
#define HEARTH_RUNTIME_HEADERLESS_H

#include "tracts.h"

#define HEARTH_HEADERLESS_STEP    ((size_t)16) /* sizes and addresses are multiples of this */
#define HEARTH_HEADERLESS_CLASSES 64
#define HEARTH_HEADERLESS_MOST                                                                                         \
  (HEARTH_HEADERLESS_CLASSES * HEARTH_HEADERLESS_STEP) /* larger blocks have headers: little is saved there */

/* A free chunk. */
typedef struct hearth_headerless_chunk {
  struct hearth_headerless_chunk *next;
  uint32_t mark
      [2]; /* tells a free chunk: its address and a constant. In two halves, as programs write numbers of four bytes:
                       reading eight of them right after would have to wait for both */
} hearth_headerless_chunk;

_Static_assert(sizeof(hearth_headerless_chunk) == HEARTH_HEADERLESS_STEP, "the least chunk has room");

/* Free chunks of one thread, as hearth_heap_cache. */
typedef struct hearth_headerless_cache {
  struct {
    hearth_headerless_chunk *free;
    uint32_t count, seen;
  } classes[HEARTH_HEADERLESS_CLASSES];
  uint32_t turn;
} hearth_headerless_cache;

/* Early, once. */
void hearth_headerless_create(void);

/* A chunk of at least `size` bytes, which are not zeroed. NULL: it is to have a header, or there is no memory, or this signal
 * handler would have to wait. */
void *hearth_headerless_take(size_t size, hearth_headerless_cache *cache);

typedef enum hearth_headerless_kind {
  HEARTH_HEADERLESS_LIVE,
  HEARTH_HEADERLESS_FREED,
  HEARTH_HEADERLESS_INSIDE, /* no chunk begins there */
  HEARTH_HEADERLESS_OTHER   /* in none of these tracts */
} hearth_headerless_kind;

/* Find the kind of memory that a pointer of the program points to.
 *   ret_size  bytes of its chunk; set if it is LIVE */
hearth_headerless_kind hearth_headerless_find(const void *pointer, size_t *ret_size);

/* End a live block. False: there is none at `pointer`. If several threads free a block at once, none is refused.
 *   cache  NULL: this thread has none, or it is in use */
bool hearth_headerless_give(void *pointer, hearth_headerless_cache *cache);

/* As for the heap, of which these are a part (heap.h). */
void hearth_headerless_cache_flush(hearth_headerless_cache *cache);
void hearth_headerless_count(const hearth_tract *tract, size_t *bytes, size_t *blocks); /* add those of a tract */
unsigned hearth_headerless_lock(void);
void hearth_headerless_unlock(void);

#endif
