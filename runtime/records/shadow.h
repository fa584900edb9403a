/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Access counters. Each 16 aligned bytes of the program's memory (a granule) have one 32-bit counter, at
 * __hearth_counters + address / 16 * 4. Instrumented code adds to it without atomicity, unless told otherwise
 * (-memprof-atomic): counts of memory that several threads touch at once may be low. Counters wrap around. The
 * runtime's own thread reads them often enough to see each of their two halves, below 2^31 and above, and counts
 * beside how often one followed the other (own_thread.h). Nobody but the program writes to a counter while its block
 * lives: a thread that adds again and again goes on from what it has in its processor's store buffer, and would undo
 * it.
 *
 * Code of clang -fmemory-profile has counters of its own, at (address & ~63) / 8 +
 * __memprof_shadow_memory_dynamic_address, of 64 bits for each 64 aligned bytes (a line). In histogram mode, each 8
 * aligned bytes have an 8-bit counter instead, at (address / 8) + the same base, which stays at 255. Either makes
 * the heap coarse: no two blocks that begin later share a line.
 *
 * Code of -memprof-global-stores adds to a second counter of the granule, at __hearth_stores + address / 16 * 4,
 * which stays at its greatest number. */
#ifndef HEARTH_RUNTIME_SHADOW_H
#define HEARTH_RUNTIME_SHADOW_H

#include "block.h"
#include "os.h"

#include "hearth/program_tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bases of the counters; 0 while there are none. Compilers load them in instrumented code. */
extern uint64_t __hearth_counters __attribute__((visibility("default")));
extern uint64_t __hearth_stores __attribute__((visibility("default")));
extern uint64_t __memprof_shadow_memory_dynamic_address __attribute__((visibility("default")));

/* Accesses to one block. */
typedef struct hearth_access_sum {
  uint64_t accesses;
  uint64_t lines;   /* of 64 bytes, from the block's start; at least 1 */
  uint64_t touched; /* of those, how many have been accessed */
} hearth_access_sum;

/* Reserve counters for the whole address space of user programs; idempotent. False: the system refuses it. */
bool hearth_shadow_reserve(void);

/* From now on the counters mean nothing: all sums say that nothing was accessed. */
void hearth_shadow_ignore(void);

/* There are counters, and they mean something. */
extern bool hearth_shadow_counts __attribute__((visibility("hidden")));

/* From the start on, the counters are those of histogram mode. */
extern bool hearth_shadow_is_histogram __attribute__((visibility("hidden")));

/* The other counters count, too: blocks that begin from now on share no line with another one. */
extern bool hearth_shadow_is_coarse __attribute__((visibility("hidden")));

static inline uint32_t *hearth_shadow_counter(uintptr_t address) {
  return (uint32_t *)__hearth_counters + address / HEARTH_GRANULE;
}

/* The following take the user's bytes [memory, memory + size); size 0 counts as 1. They touch the counters of exactly
 * the granules that these bytes lie in. Without counters they do nothing, and the sum says that nothing was touched. */
void hearth_shadow_clear(const void *memory, size_t size);

/* The same for what is added to a block that had `size` bytes and gets `larger`: the counters of those it had stay
 * as they are. */
void hearth_shadow_clear_added(const void *memory, size_t size, size_t larger);

/* Whole pages that have only counters of this memory, which is no block's, go back to the system. The other counters
 * stay; a block that begins there clears them. */
void hearth_shadow_give_back(const void *memory, size_t size);
hearth_access_sum hearth_shadow_sum(const void *memory, size_t size);

/* Stores that were counted in this memory, which is no block's; and make their counters 0. */
uint64_t hearth_shadow_sum_stores(const void *memory, size_t size);
void hearth_shadow_clear_stores(const void *memory, size_t size);

/* What so many granules have beside their counters, and made 0. */
uint64_t hearth_shadow_sum_beside(uintptr_t address, size_t granules);
void hearth_shadow_clear_beside(uintptr_t address, size_t granules);

/* A bit for each page, of several pages one, that has a granule with something beside its counter. */
#define HEARTH_BESIDE_BITS 4096
extern uint64_t hearth_shadow_beside[HEARTH_BESIDE_BITS / 64] __attribute__((visibility("hidden")));
extern bool hearth_shadow_has_beside __attribute__((visibility("hidden"))); /* a bit is set */

static inline unsigned hearth_shadow_beside_bit(uintptr_t address) {
  return (unsigned)(address / HEARTH_PAGE_BYTES % HEARTH_BESIDE_BITS);
}

static inline bool hearth_shadow_page_may_have_beside(uintptr_t address) {
  unsigned bit = hearth_shadow_beside_bit(address);

  return __atomic_load_n(&hearth_shadow_beside[bit / 64], __ATOMIC_RELAXED) >> bit % 64 & 1;
}

static inline bool hearth_shadow_may_have_beside(uintptr_t address, size_t granules) {
  uintptr_t end = address + granules * HEARTH_GRANULE;

  if (__builtin_expect(!__atomic_load_n(&hearth_shadow_has_beside, __ATOMIC_RELAXED), true))
    return false;
  while (address < end && !hearth_shadow_page_may_have_beside(address))
    address = (address | (HEARTH_PAGE_BYTES - 1)) + 1;
  return address < end;
}

/* Of counters that follow each other. */
static inline void hearth_counters_clear(uint32_t *counter, uintptr_t address, size_t granules) {
  for (size_t i = 0; i < granules; ++i)
    __atomic_store_n(&counter[i], 0, __ATOMIC_RELAXED);
  if (hearth_shadow_may_have_beside(address, granules))
    hearth_shadow_clear_beside(address, granules);
}

static inline hearth_access_sum hearth_counters_sum(const uint32_t *counter, uintptr_t address, size_t granules) {
  hearth_access_sum sum = {.lines = (granules + 3) / 4};
  uint32_t line = 0;
  size_t left = granules;

  for (; left >= 4; left -= 4, counter += 4) {
    sum.accesses += (uint64_t)counter[0] + counter[1] + counter[2] + counter[3];
    sum.touched += (counter[0] | counter[1] | counter[2] | counter[3]) != 0;
  }
  for (; left > 0; --left) {
    line |= *counter;
    sum.accesses += *counter++;
  }
  sum.touched += line != 0;
  if (hearth_shadow_may_have_beside(address, granules))
    sum.accesses += hearth_shadow_sum_beside(address, granules);
  return sum;
}

/* The same where there are counters, and those of 16 bytes only, for a block that begins with a granule. */
static inline size_t hearth_granules_of(size_t size) {
  return (size + (size == 0) + HEARTH_GRANULE - 1) / HEARTH_GRANULE;
}

#define HEARTH_FEW_BYTES 32768 /* so many of a block are cleared in this way, more by hearth_shadow_clear */

static inline void hearth_shadow_clear_block(const void *memory, size_t size) {
  hearth_counters_clear(hearth_shadow_counter((uintptr_t)memory), (uintptr_t)memory, hearth_granules_of(size));
}

static inline hearth_access_sum hearth_shadow_sum_block(const void *memory, size_t size) {
  return hearth_counters_sum(hearth_shadow_counter((uintptr_t)memory), (uintptr_t)memory, hearth_granules_of(size));
}

/* The counter of `address` was seen with this number; one thread at a time, and for each counter often enough. */
void hearth_shadow_note(uintptr_t address, uint32_t seen);

/* Counters of histogram mode: one for each 8 bytes of [memory, memory + size), where memory is a multiple of 8. Clang
 * 19 counts at the start of 64 bytes, which may lie before the block. */
typedef struct hearth_byte_counters {
  const uint8_t *lead;  /* the granule's that the block begins in, up to `first` */
  const uint8_t *first; /* the block's own */
  uint64_t count;       /* of the block's own; 0 also where there are no counters */
} hearth_byte_counters;

hearth_byte_counters hearth_shadow_bytes(const void *memory, size_t size);

/* Of clang -fmemory-profile: the counter of the line of `address`. */
static inline uint64_t *hearth_shadow_line_counter(uintptr_t address) {
  return (uint64_t *)__memprof_shadow_memory_dynamic_address + address / HEARTH_LINE;
}

static inline uint8_t *hearth_shadow_byte(uintptr_t address) {
  return (uint8_t *)((address >> 3) + __memprof_shadow_memory_dynamic_address);
}

static inline uint8_t hearth_saturate_byte(uint8_t counter, uint32_t count) {
  return count < (uint32_t)(UINT8_MAX - counter) ? (uint8_t)(counter + count) : UINT8_MAX;
}

/* Bytes of memory that one counter counts for. */
static inline uintptr_t hearth_shadow_granule(void) { return hearth_shadow_is_histogram ? 8 : HEARTH_GRANULE; }

/* Add `count` to the counter of `address`: accesses of one basic block, which are few. */
static inline void hearth_shadow_count(uintptr_t address, uint32_t count) {
  if (__builtin_expect(hearth_shadow_is_histogram, false))
    *hearth_shadow_byte(address) = hearth_saturate_byte(*hearth_shadow_byte(address), count);
  else
    *hearth_shadow_counter(address) += count;
}

/* The same, without loss when several threads do it. */
static inline void hearth_shadow_count_atomic(uintptr_t address, uint32_t count) {
  if (!hearth_shadow_is_histogram) {
    __atomic_fetch_add(hearth_shadow_counter(address), count, __ATOMIC_RELAXED);
    return;
  }
  uint8_t *counter = hearth_shadow_byte(address), before = __atomic_load_n(counter, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(counter, &before, hearth_saturate_byte(before, count), true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED))
    ;
}

/* The global variables of instrumented code, whose accesses are in the counters of their granules (shadow.h). Their
 * tables lie in the program and its libraries: those of a library that was closed are found to be gone, and left
 * out. */

/* From a constructor of the module. */
void hearth_static_data_add(const hearth_global_table *table);

/* Tables that found no room. */
uint64_t hearth_static_data_dropped(void);

/* `visit` each of the globals; no library is unloaded meanwhile. The strings are of the table. Returns how many
 * there are; NULL: count them only. */
typedef void hearth_static_data_visit(const hearth_global_row *row, const char *name, const char *file, void *closure);
uint64_t hearth_static_data_each(hearth_static_data_visit *visit, void *closure);

/* `visit` the memory of each; libraries may be unloaded meanwhile. `flags`: hearth/program_tables.h. */
void hearth_static_data_peek(void (*visit)(const char *memory, size_t size, uint32_t flags));

/* Make the counters of all 0. */
void hearth_static_data_clear(void);

#endif
