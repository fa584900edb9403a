/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Allocation with a hint: how often will the program touch this block?
 *
 *   hint   one byte, 0 coldest to 255 hottest, always the last parameter; tcmalloc's scale
 *   cold   hint below 64: the block lies in cold memory
 *   pool   hints 223 to 253: pool 0 to 30, with the blocks that the plan of a profile puts together
 *   other  everything else: the plain function is called, and its block lies in the main pool
 *
 * Every function below does what the function without the suffix does, with the same results, errors and errno; the
 * hint decides placement only. Where there is no more cold memory, a block lies in the main pool, which is counted.
 * Blocks are freed by plain free (or, for the operator new forms, by plain operator delete) and may be passed to
 * realloc, reallocarray and malloc_usable_size, from any thread. Plain realloc keeps a block in its pool; the hinted
 * one moves it when the hint asks for another one. A neutral hint keeps it where it is. Blocks above 128 KiB lie in
 * no pool but among large blocks, cold ones in cold memory.
 *
 * Link with -lhearth_malloc (archive or shared object) or preload the shared object. The operator new forms that
 * tcmalloc declares, such as operator new(size_t, __hot_cold_t), are defined as well, under tcmalloc's names.
 *
 * Thresholds and switches: environment variable HEARTH_MALLOC, see docs/options.md. */
#ifndef HEARTH_MALLOC_H
#define HEARTH_MALLOC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void *malloc_hot_cold(size_t bytes, uint8_t hint);
void *calloc_hot_cold(size_t count, size_t bytes, uint8_t hint);
void *realloc_hot_cold(void *block, size_t bytes, uint8_t hint);
void *reallocarray_hot_cold(void *block, size_t count, size_t bytes, uint8_t hint);
void *aligned_alloc_hot_cold(size_t alignment, size_t bytes, uint8_t hint);
void *memalign_hot_cold(size_t alignment, size_t bytes, uint8_t hint);
int posix_memalign_hot_cold(void **ret_block, size_t alignment, size_t bytes, uint8_t hint);
void *valloc_hot_cold(size_t bytes, uint8_t hint);
void *pvalloc_hot_cold(size_t bytes, uint8_t hint);
char *strdup_hot_cold(const char *string, uint8_t hint);
char *strndup_hot_cold(const char *string, size_t max_bytes, uint8_t hint);

enum hearth_malloc_placement {
  HEARTH_MALLOC_OTHER = 0,
  HEARTH_MALLOC_COLD = 1,
  HEARTH_MALLOC_HOT = 2, /* in one of the pools */
};

/* The memory that a pointer lies in. Any value is allowed, also NULL and pointers into the middle of a block;
 * says nothing about whether the block is live. Never blocks; safe in signal handlers. */
enum hearth_malloc_placement hearth_malloc_class(const void *pointer);

/* The pool of a block, 0 to 31; -1 for others. Never blocks; safe in signal handlers. */
int hearth_malloc_pool(const void *block);

/* One part of the memory. Exact when no other thread allocates. */
struct hearth_malloc_part_stats {
  uint64_t live_blocks;
  uint64_t live_bytes;      /* usable bytes of the live blocks, as malloc_usable_size gives them */
  uint64_t placed;          /* hinted requests that it served */
  uint64_t committed_bytes; /* of the memory that the blocks lie in; resident bytes are at most this */
  uint64_t resident_bytes;  /* in memory now, in whole pages, as the system reports it */
  uint64_t swap_bytes;      /* in swap space */
  uint64_t fallbacks;       /* hinted requests for cold memory, of which there was none */
};

struct hearth_malloc_stats {
  struct hearth_malloc_part_stats main, cold, hot; /* hot: all pools */
  uint64_t passed_on;                              /* hinted requests of neither: the plain function was called */
};

/* Fill *ret_stats. May be called by several threads at once; not for signal handlers. Takes time in proportion to
 * committed_bytes, some 20 us for a MiB. Does not allocate; keeps errno. From outside: `hearth top PID`. */
void hearth_malloc_stats(struct hearth_malloc_stats *ret_stats);

/* The same of one pool, 0 to 31; all 0 for any other number. Without resident_bytes and swap_bytes. */
void hearth_malloc_pool_stats(int pool, struct hearth_malloc_part_stats *ret_stats);

#ifdef __cplusplus
}
#endif

#endif
