/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The two address ranges of the process, the cold one below the hot one in a single reservation, so that one
 * comparison in free tells the program's own blocks from ours.
 *
 *     base                          base + bytes / 2             base + bytes
 *     | cold region ....... | guard | hot region ............... |
 */
#ifndef HEARTH_RANGES_H
#define HEARTH_RANGES_H

#include "region.h"

#include <stdatomic.h>
#include <stdbool.h>

enum hearth_range {
  HEARTH_RANGE_COLD = 0,
  HEARTH_RANGE_HOT = 1,
  HEARTH_RANGES = 2,
  HEARTH_RANGE_NONE = HEARTH_RANGES, /* the program's own allocator */
};

enum {
  HEARTH_POOL_NONE = HEARTH_POOLS, /* the program's own allocator */
  HEARTH_POOL_VERIFIED,            /* the program's own, with the hint as a scope (HEARTH_HOTCOLD=verify) */
  HEARTH_POOL_UNKNOWN,             /* the ranges are not open */
};

struct hearth_ranges {
  /* base is stored before bytes, so that a reader that sees bytes sees base. Both 0 until the first hinted call. */
  _Atomic uintptr_t base;
  _Atomic size_t bytes;
  _Atomic bool opened;
  _Atomic uint8_t pool_of_hint[UINT8_MAX + 1]; /* or one of the numbers above; written last */
  unsigned cold_below;
  unsigned hot_from;
  bool has_pools; /* besides the cold one */
  bool is_verified;
  struct hearth_region region[HEARTH_RANGES];
  _Atomic uint64_t fallbacks[HEARTH_RANGES];
};

extern struct hearth_ranges hearth_ranges;

/* Read the options, reserve the ranges, once. Other threads wait meanwhile; a call out of the opening itself returns
 * at once. When ranges cannot be had, one warning, and all requests fall back. */
void hearth_ranges_open(void);

/* The entry points' part in the opening. They lie above, so entries/opening.c defines it. */
struct hearth_hotcold_options;
struct hearth_ranges_user {
  bool (*is_interposed)(void); /* do all blocks come back to us? Otherwise none is handed out */
  void (*opened)(const struct hearth_hotcold_options *options); /* the ranges are there */
};
extern const struct hearth_ranges_user hearth_ranges_user;

/* Is it in one of the ranges? *ret_offset: bytes of theirs before it. */
static inline __attribute__((always_inline)) bool hearth_is_in_ranges(const void *pointer, size_t *ret_offset) {
  size_t bytes = atomic_load_explicit(&hearth_ranges.bytes, memory_order_acquire);
  *ret_offset = (uintptr_t)pointer - atomic_load_explicit(&hearth_ranges.base, memory_order_relaxed);
  return *ret_offset < bytes;
}

static inline enum hearth_range hearth_range_of(const void *pointer) {
  size_t offset;
  if (!hearth_is_in_ranges(pointer, &offset))
    return HEARTH_RANGE_NONE;
  return offset >= atomic_load_explicit(&hearth_ranges.bytes, memory_order_relaxed) / 2 ? HEARTH_RANGE_HOT
                                                                                        : HEARTH_RANGE_COLD;
}

static inline enum hearth_range hearth_range_of_pool(unsigned pool) {
  return pool == HEARTH_POOL_COLD ? HEARTH_RANGE_COLD : HEARTH_RANGE_HOT;
}

/* May be HEARTH_POOL_UNKNOWN. */
static inline unsigned hearth_pool_of_hint(uint8_t hint) {
  return atomic_load_explicit(&hearth_ranges.pool_of_hint[(size_t)hint], memory_order_acquire);
}

/* The pool for a hint, HEARTH_POOL_NONE or HEARTH_POOL_VERIFIED. */
unsigned hearth_pool_for_hint(uint8_t hint);

#endif
