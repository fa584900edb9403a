/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Allocation with a hint: how often will the program touch this block?
 *
 *   hint   one byte, 0 coldest to 255 hottest, always the last parameter; tcmalloc's scale
 *   cold   hint below a threshold (default 64): the block lies in the cold address range
 *   hot    hint at or above a threshold (default 254): the block lies in the hot address range
 *   pool   hints 223 to 253: the same range, there in pool 0 to 30, with the blocks that the plan of a profile puts together;
 *          hot blocks share one more, pool 31
 *   other  everything else: the program's own allocator, called through its plain function
 *
 * Every function below does what the function without the suffix does, with the same results, errors and errno; the
 * hint decides placement only. A range that is full, or that could not be reserved, falls back to the program's own
 * allocator and the fallback is counted. Blocks of every class are freed by plain free (or, for the operator new
 * forms, by plain operator delete) and may be passed to realloc, reallocarray and malloc_usable_size, from any thread.
 * Plain realloc keeps a block in its pool; the hinted one moves it when the hint asks for a pool, or for the cold range, and the
 * block does not lie there. A neutral hint keeps it where it is.
 *
 * Link with -lhearth_hotcold (archive or shared object) or preload the shared object. The operator new forms that
 * tcmalloc declares, such as operator new(size_t, __hot_cold_t), are defined as well, under tcmalloc's names.
 *
 * Thresholds and switches: environment variable HEARTH_HOTCOLD, see docs/options.md. */
#ifndef HEARTH_HOTCOLD_H
#define HEARTH_HOTCOLD_H

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

enum hearth_hotcold_placement {
  HEARTH_HOTCOLD_OTHER = 0,
  HEARTH_HOTCOLD_COLD = 1,
  HEARTH_HOTCOLD_HOT = 2,
};

/* The address range that a pointer lies in. Any value is allowed, also NULL and pointers into the middle of a block;
 * says nothing about whether the block is live. Never blocks; safe in signal handlers. */
enum hearth_hotcold_placement hearth_hotcold_class(const void *pointer);

/* The pool of a live block of the hot range, 0 to 31; -1 for blocks elsewhere. Never blocks; safe in signal handlers. */
int hearth_hotcold_pool(const void *block);

/* One range. Counters of running threads are read without stopping them: exact when no other thread allocates. */
struct hearth_hotcold_range_stats {
  uint64_t live_blocks;
  uint64_t live_bytes;     /* usable bytes of the live blocks, as malloc_usable_size gives them */
  uint64_t ever_blocks;    /* hinted requests that this range served, and blocks that realloc moved inside it */
  uint64_t reserved_bytes; /* address space of the range; 0: nothing reserved yet, or the range is switched off */
  uint64_t
      committed_bytes; /* in parcels and large blocks that are in use or kept for reuse; resident bytes are at most this */
  uint64_t
      resident_bytes; /* in memory now, in whole pages, as the system reports it; with cold=file, in its page cache */
  uint64_t fallbacks; /* hinted requests for this range that the program's own allocator served */
};

struct hearth_hotcold_stats {
  struct hearth_hotcold_range_stats cold;
  struct hearth_hotcold_range_stats hot;
  uint64_t passed_on; /* hinted requests of neither range: neutral ones, and those for a range that is switched off */
};

/* Fill *ret_stats. May be called by several threads at once; takes the allocator's locks, each for a short time: not for
 * signal handlers. Takes time in proportion to committed_bytes, some 10 us for a MiB. Does not allocate; keeps errno.
 * Hints honoured are ever_blocks, hints not honoured fallbacks. From outside: `hearth top PID`. */
void hearth_hotcold_stats(struct hearth_hotcold_stats *ret_stats);

/* The same of one pool of the hot range, 0 to 31; all 0 for any other number. */
struct hearth_hotcold_pool_stats {
  uint64_t live_blocks;
  uint64_t live_bytes;
  uint64_t ever_blocks;
};
void hearth_hotcold_pool_stats(int pool, struct hearth_hotcold_pool_stats *ret_stats);

#ifdef __cplusplus
}
#endif

#endif
