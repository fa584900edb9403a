/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What was found about return addresses: sets of words, each an address and a code. An entry is one word, so that threads need no
 * lock; two threads that look up at once find the same. The first entry of a set is looked at where malloc is entered, the
 * others out of line (hinted_calls.c). An address whose hint depends on the height has an entry for each height besides,
 * under an address made from both, which no code has. */
#ifndef HEARTH_KNOWN_CALLS_H
#define HEARTH_KNOWN_CALLS_H

#include "ranges.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { HEARTH_KNOWN_WAYS = 4, HEARTH_KNOWN_SETS = 4096, HEARTH_KNOWN_CODE_BITS = 16 };

/* A code: the number of the function in all lists from 1 on, 0 for none of them; or one of these. To the first is added the
 * hint, and 256 times its pool, one of ranges.h's numbers. */
enum { HEARTH_KNOWN_BY_HINT = 0xc000, HEARTH_KNOWN_BY_HEIGHT = 0xff00 };

struct hearth_known_set {
  _Atomic uint64_t entries[HEARTH_KNOWN_WAYS]; /* the newest first */
};

static inline struct hearth_known_set *hearth_known_set_of(struct hearth_known_set *sets, uint64_t key) {
  return &sets[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
}

_Static_assert(HEARTH_KNOWN_SETS == 1 << (64 - 52), "the hash has a set for each value");

static inline uint64_t hearth_known_key(uint64_t entry) { return entry >> HEARTH_KNOWN_CODE_BITS; }

static inline uint64_t hearth_known_code(uint64_t entry) { return entry & ((1 << HEARTH_KNOWN_CODE_BITS) - 1); }

/* Also with the last of the pools' numbers. */
static inline bool hearth_known_is_hint(uint64_t code) {
  return code - HEARTH_KNOWN_BY_HINT < (HEARTH_POOL_UNKNOWN + 1) << 8;
}

/* The code of an address by the first entry of its set; more than any code where that is of another. */
static inline uint64_t hearth_known_at_once(struct hearth_known_set *sets, uintptr_t address) {
  return atomic_load_explicit(&hearth_known_set_of(sets, address)->entries[0], memory_order_acquire) ^
         (uint64_t)address << HEARTH_KNOWN_CODE_BITS;
}

#endif
