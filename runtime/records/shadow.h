/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Access counters. Each 64 aligned bytes of the program's memory (a granule) have one 64-bit counter, at
 * (address & ~63) / 8 + __memprof_shadow_memory_dynamic_address. Instrumented code adds to it without atomicity, unless
 * told otherwise (-memprof-atomic): counts of memory that several threads touch at once may be low.
 *
 * In histogram mode, each 8 aligned bytes have an 8-bit counter instead, at (address / 8) + the same base, which stays at
 * 255. */
#ifndef HEARTH_RUNTIME_SHADOW_H
#define HEARTH_RUNTIME_SHADOW_H

#include "block.h"
#include "os.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Base of the counters; 0 while there are none. Compilers load it in instrumented code. */
extern uint64_t __memprof_shadow_memory_dynamic_address __attribute__((visibility("default")));

/* Accesses to one block. */
typedef struct hearth_access_sum {
  uint64_t accesses;
  uint64_t granules; /* that the block lies in, at least 1 */
  uint64_t touched;  /* of those, how many have been accessed */
} hearth_access_sum;

/* Reserve counters for the whole address space of user programs; idempotent. False: the system refuses it. */
bool hearth_shadow_reserve(void);

/* From now on the counters mean nothing: all sums say that nothing was accessed. */
void hearth_shadow_ignore(void);

/* There are counters, and they mean something. */
bool hearth_shadow_has_counters(void);

/* From the start on, the counters are those of histogram mode. */
extern bool hearth_shadow_is_histogram __attribute__((visibility("hidden")));

/* Below this, writing zeros is cheaper than page faults later. */
#define HEARTH_DISCARD_LEAST (16 * HEARTH_OS_PAGE)

/* The counters mean nothing any more. */
extern bool hearth_shadow_is_ignored __attribute__((visibility("hidden")));

typedef struct hearth_counters {
  uint64_t *begin, *end;
} hearth_counters;

static inline hearth_counters hearth_counters_of(const void *memory, size_t size) {
  uintptr_t first = (uintptr_t)memory / HEARTH_GRANULE;
  uintptr_t last = ((uintptr_t)memory + (size ? size - 1 : 0)) / HEARTH_GRANULE;
  uint64_t *base = (uint64_t *)__memprof_shadow_memory_dynamic_address;

  return (hearth_counters){base + first, base + last + 1};
}

/* Blocks mostly have few counters: then one at a time is fastest. Reading and writing them atomically, as other threads
 * may be counting, keeps compilers from making it anything else. */
static inline void hearth_counters_clear(uint64_t *begin, uint64_t *end) {
  for (; begin < end; ++begin)
    __atomic_store_n(begin, 0, __ATOMIC_RELAXED);
}

/* The same for many of them, and in histogram mode. */
void hearth_shadow_clear_many(hearth_counters range);
hearth_access_sum hearth_shadow_sum_bytes(hearth_counters range);

/* The following take the user's bytes [memory, memory + size); size 0 counts as 1. They touch the counters of exactly
 * the granules that these bytes lie in. Without counters they do nothing, and the sum says that nothing was touched. */
static inline void hearth_shadow_clear(const void *memory, size_t size) {
  if (!__memprof_shadow_memory_dynamic_address)
    return;
  hearth_counters range = hearth_counters_of(memory, size);
  if (__builtin_expect((uintptr_t)range.end - (uintptr_t)range.begin >= HEARTH_DISCARD_LEAST, false))
    hearth_shadow_clear_many(range);
  else
    hearth_counters_clear(range.begin, range.end);
}

static inline hearth_access_sum hearth_shadow_sum(const void *memory, size_t size) {
  hearth_counters range = hearth_counters_of(memory, size);
  hearth_access_sum sum = {.granules = (uint64_t)(range.end - range.begin)};

  if (!__memprof_shadow_memory_dynamic_address || hearth_shadow_is_ignored)
    return sum;
  if (__builtin_expect(hearth_shadow_is_histogram, false))
    return hearth_shadow_sum_bytes(range);
  for (const uint64_t *counter = range.begin; counter < range.end; ++counter) {
    uint64_t accesses = __atomic_load_n(counter, __ATOMIC_RELAXED);
    sum.accesses += accesses;
    sum.touched += accesses != 0;
  }
  return sum;
}

/* The same where there are counters, not those of histogram mode, for a block whose first byte is the middle one of a granule:
 * the byte before it then lies in the same granule, and size 0 is no special case. */
static inline uint64_t *hearth_shadow_middle(const void *memory) {
  return (uint64_t *)__memprof_shadow_memory_dynamic_address + (uintptr_t)memory / 64;
}

static inline void hearth_shadow_clear_middle(const void *memory, size_t size) {
  uint64_t *counter = hearth_shadow_middle(memory), *last = counter + (size + 31) / 64;

  __atomic_store_n(counter, 0, __ATOMIC_RELAXED);
  while (__builtin_expect(counter < last, false))
    __atomic_store_n(++counter, 0, __ATOMIC_RELAXED);
}

static inline hearth_access_sum hearth_shadow_sum_middle(const void *memory, size_t size) {
  const uint64_t *counter = hearth_shadow_middle(memory), *last = counter + (size + 31) / 64;
  uint64_t first = __atomic_load_n(counter, __ATOMIC_RELAXED);
  hearth_access_sum sum = {.accesses = first, .granules = (uint64_t)(last - counter) + 1, .touched = first != 0};

  while (counter < last) {
    uint64_t accesses = __atomic_load_n(++counter, __ATOMIC_RELAXED);
    sum.accesses += accesses;
    sum.touched += accesses != 0;
  }
  return sum;
}

/* Counters of histogram mode: one for each 8 bytes of [memory, memory + size), where memory is a multiple of 8. Clang
 * 19 counts at the start of 64 bytes, which may lie before the block. */
typedef struct hearth_byte_counters {
  const uint8_t *lead;  /* the granule's that the block begins in, up to `first` */
  const uint8_t *first; /* the block's own */
  uint64_t count;       /* of the block's own; 0 also where there are no counters */
} hearth_byte_counters;

hearth_byte_counters hearth_shadow_bytes(const void *memory, size_t size);

static inline uint64_t *hearth_shadow_counter(uintptr_t address) {
  return (uint64_t *)(((address & ~(uintptr_t)63) >> 3) + __memprof_shadow_memory_dynamic_address);
}

static inline uint8_t *hearth_shadow_byte(uintptr_t address) {
  return (uint8_t *)((address >> 3) + __memprof_shadow_memory_dynamic_address);
}

static inline uint8_t hearth_saturate_byte(uint8_t counter, uint64_t count) {
  return count < (uint64_t)(UINT8_MAX - counter) ? (uint8_t)(counter + count) : UINT8_MAX;
}

/* Bytes of memory that one counter counts for. */
static inline uintptr_t hearth_shadow_granule(void) { return hearth_shadow_is_histogram ? 8 : 64; }

/* Add `count` to the counter of `address`. */
static inline void hearth_shadow_count(uintptr_t address, uint64_t count) {
  if (__builtin_expect(hearth_shadow_is_histogram, false))
    *hearth_shadow_byte(address) = hearth_saturate_byte(*hearth_shadow_byte(address), count);
  else
    *hearth_shadow_counter(address) += count;
}

/* The same, without loss when several threads do it. */
static inline void hearth_shadow_count_atomic(uintptr_t address, uint64_t count) {
  if (!hearth_shadow_is_histogram) {
    __atomic_fetch_add(hearth_shadow_counter(address), count, __ATOMIC_RELAXED);
    return;
  }
  uint8_t *counter = hearth_shadow_byte(address), before = __atomic_load_n(counter, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(counter, &before, hearth_saturate_byte(before, count), true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED))
    ;
}

#endif
