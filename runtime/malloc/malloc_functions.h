/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HEARTH_MALLOC_FUNCTIONS_H
#define HEARTH_MALLOC_FUNCTIONS_H

#include "engine.h"

/* Weak: a program may have functions of its own under these names, and links with the archive all the same. */
#define HEARTH_EXPORT   __attribute__((visibility("default"), weak))
#define HEARTH_OPERATOR HEARTH_EXPORT

/* A block of any size; alignment: a power of two. NULL: no memory, errno is set. *ret_zero is true if it is known to
 * be zero, or stays. */
HEARTH_HIDDEN void *hearth_alloc(hearth_pool *pool, size_t bytes, size_t alignment, bool *ret_zero);

/* malloc and its like, whatever the program finds by these names. */
HEARTH_HIDDEN void *hearth_engine_malloc(size_t bytes);
HEARTH_HIDDEN void *hearth_engine_calloc(size_t count, size_t bytes);
HEARTH_HIDDEN void *hearth_engine_realloc(void *block, size_t bytes);

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

/* malloc_statistics.c */
/* HEARTH_MALLOC=stats=FILE: from now on, as the process exits, the contents of the memory are appended to `path` as
 * a line, as `hearth top --json` prints them; "" for none. Shorter than HEARTH_MALLOC_PATH_BYTES; copied, and
 * relative to the working directory of now. */
HEARTH_HIDDEN void hearth_statistics_file_open(const char *path);

/* Where `hearth top` finds this process's tables (hearth/running_program.h). Once, when the options are known. Without
 * memory for it, there is none. */
HEARTH_HIDDEN void hearth_status_write(void);

#endif
