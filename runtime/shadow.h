/* Access counters. Each 64 aligned bytes of the program's memory (a granule) have one 64-bit counter, at
 * (address & ~63) / 8 + __memprof_shadow_memory_dynamic_address. Instrumented code adds to it without atomicity, unless
 * told otherwise (-memprof-atomic): counts of memory that several threads touch at once may be low. */
#ifndef HEARTH_RUNTIME_SHADOW_H
#define HEARTH_RUNTIME_SHADOW_H

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

/* The following take the user's bytes [memory, memory + size); size 0 counts as 1. They touch the counters of exactly
 * the granules that these bytes lie in. Without counters they do nothing, and the sum says that nothing was touched. */
void hearth_shadow_clear(const void *memory, size_t size);
hearth_access_sum hearth_shadow_sum(const void *memory, size_t size);

static inline uint64_t *hearth_shadow_counter(uintptr_t address) {
  return (uint64_t *)(((address & ~(uintptr_t)63) >> 3) + __memprof_shadow_memory_dynamic_address);
}

/* Add `count` to the counter of `address`. */
static inline void hearth_shadow_count(uintptr_t address, uint64_t count) { *hearth_shadow_counter(address) += count; }

/* The same, without loss when several threads do it. */
static inline void hearth_shadow_count_atomic(uintptr_t address, uint64_t count) {
  __atomic_fetch_add(hearth_shadow_counter(address), count, __ATOMIC_RELAXED);
}

#endif
