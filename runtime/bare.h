/* Memory of blocks that are not recorded because they are not in the sample (sample.h): chunks without header, in sizes of 16
 * bytes more each, as close to each other as the C library's. They lie in runs of their own, one unit each, so that the table
 * of units tells them from blocks with headers, and share no granule with those. */
#ifndef HEARTH_RUNTIME_BARE_H
#define HEARTH_RUNTIME_BARE_H

#include "runs.h"

#define HEARTH_BARE_STEP    ((size_t)16) /* what sizes and addresses are multiples of */
#define HEARTH_BARE_CLASSES 64
#define HEARTH_BARE_MOST                                                                                               \
  (HEARTH_BARE_CLASSES * HEARTH_BARE_STEP) /* larger blocks have headers: little is saved there */

/* A free chunk. */
typedef struct hearth_bare_chunk {
  struct hearth_bare_chunk *next;
  uint32_t mark
      [2]; /* tells a free chunk: its address and a constant. In two halves, as programs write numbers of four bytes:
                       reading eight of them right after would have to wait for both */
} hearth_bare_chunk;

_Static_assert(sizeof(hearth_bare_chunk) == HEARTH_BARE_STEP, "the least chunk has room");

/* Free chunks of one thread, as hearth_heap_cache. */
typedef struct hearth_bare_cache {
  struct {
    hearth_bare_chunk *free;
    uint32_t count;
  } classes[HEARTH_BARE_CLASSES];
} hearth_bare_cache;

/* Early, once. */
void hearth_bare_create(void);

/* A chunk of at least `size` bytes, which are not zeroed. NULL: it is to have a header, or there is no memory, or this signal
 * handler would have to wait. */
void *hearth_bare_take(size_t size, hearth_bare_cache *cache);

typedef enum hearth_bare_kind {
  HEARTH_BARE_LIVE,
  HEARTH_BARE_FREED,
  HEARTH_BARE_INSIDE, /* no chunk begins there */
  HEARTH_BARE_OTHER   /* in none of these runs */
} hearth_bare_kind;

/* What a pointer of the program points to.
 *   ret_size  bytes of its chunk; set if it is LIVE */
hearth_bare_kind hearth_bare_find(const void *pointer, size_t *ret_size);

/* End a live block. False: there is none at `pointer`. Of threads that free a block at once none is refused.
 *   cache  NULL: this thread has none, or it is in use */
bool hearth_bare_give(void *pointer, hearth_bare_cache *cache);

/* As for the heap, of which these are a part (heap.h). */
void hearth_bare_cache_flush(hearth_bare_cache *cache);
void hearth_bare_count(const hearth_run *run, size_t *bytes, size_t *blocks); /* add those of a run */
unsigned hearth_bare_lock(void);
void hearth_bare_unlock(void);

#endif
