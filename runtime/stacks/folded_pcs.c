/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A hash table with open addressing, which never grows and forgets nothing. */
#include "folded_pcs.h"

#include "mappings.h"

#include <stdbool.h>
#include <stddef.h>

enum { SLOT_BITS = 13, SLOTS = 1 << SLOT_BITS };
_Static_assert(HEARTH_FOLDED_PCS_MOST < SLOTS, "a search ends at a free slot");

static uint64_t slots[SLOTS]; /* 0: free */
static uint32_t count;

/* Put an address into a free slot, unless there are enough. False: another one has it now. */
static bool take(uint64_t *slot, uint64_t pc) {
  uint64_t found = 0;

  if (__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) >= HEARTH_FOLDED_PCS_MOST) {
    __atomic_fetch_sub(&count, 1, __ATOMIC_RELAXED);
    return true;
  }
  if (__atomic_compare_exchange_n(slot, &found, pc, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return true;
  __atomic_fetch_sub(&count, 1, __ATOMIC_RELAXED);
  return found == pc;
}

void hearth_folded_pcs_add(uint64_t pc) {
  hearth_mappings_tell_apart(&pc, 1, false);
  size_t at = pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOT_BITS); /* 2^64 / golden ratio */
  for (;; at = (at + 1) % SLOTS) {
    uint64_t found = __atomic_load_n(&slots[at], __ATOMIC_RELAXED);
    if (found == pc || (found == 0 && take(&slots[at], pc)))
      return;
  }
}

const uint64_t *hearth_folded_pcs_next(const uint64_t *pc) {
  for (size_t at = pc ? (size_t)(pc - slots) + 1 : 0; at < SLOTS; at++)
    if (__atomic_load_n(&slots[at], __ATOMIC_RELAXED))
      return &slots[at];
  return NULL;
}
