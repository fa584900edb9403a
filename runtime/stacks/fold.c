/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From the root to the leaf: where an address is already among those kept, the kept stack is cut back to it. Bits of
 * a hash tell most addresses that are not. */
#include "known_stacks.h"
#include "mappings.h"

#include <stdbool.h>
#include <stddef.h>

static inline uint64_t bit_of(uint64_t pc) {
  return UINT64_C(1) << (pc * UINT64_C(0x9e3779b97f4a7c15) >> 58); /* 2^64 / golden ratio */
}

static void leave_out(const uint64_t *pcs, const uint8_t *tops, size_t from, size_t to) {
  for (; from != to; from = tops[from + 1])
    hearth_folded_pcs_add(pcs[from]);
}

void hearth_fold_extend(const uint64_t *pcs, hearth_folded *folded, size_t first, size_t from, size_t end) {
  uint8_t *tops = folded->tops;

  tops[end] = (uint8_t)end;
  folded->seen[end] = 0;
  for (size_t i = from; i-- > first;) {
    uint64_t seen = folded->seen[i + 1], bit = bit_of(pcs[i]);
    size_t same = seen & bit ? tops[i + 1] : end;
    while (same != end && pcs[same] != pcs[i])
      same = tops[same + 1];
    if (same != end)
      leave_out(pcs, tops, tops[i + 1], same);
    tops[i] = (uint8_t)(same != end ? same : i);
    folded->seen[i] = seen | bit;
  }
}

size_t hearth_fold_collect(const uint64_t *pcs, const hearth_folded *folded, size_t first, size_t end,
                           uint64_t *ret_pcs) {
  size_t depth = 0;

  for (size_t kept = folded->tops[first]; kept != end; kept = folded->tops[kept + 1])
    ret_pcs[depth++] = pcs[kept];
  return depth;
}

size_t hearth_fold_recursion(uint64_t *pcs, size_t depth) {
  hearth_folded folded;

  hearth_fold_extend(pcs, &folded, 0, depth, depth);
  return hearth_fold_collect(pcs, &folded, 0, depth, pcs);
}

/* A hash table with open addressing, which never grows and forgets nothing. */

enum { SLOT_BITS = 13, SLOTS = 1 << SLOT_BITS };
_Static_assert(HEARTH_FOLDED_PCS_MOST < SLOTS, "a search ends at a free slot");

static uint64_t slots[SLOTS]; /* 0: free */
static uint32_t count;

/* Put an address into a free slot, unless there are enough. False: another one has it now. */
static bool folded_take(uint64_t *slot, uint64_t pc) {
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
    if (found == pc || (found == 0 && folded_take(&slots[at], pc)))
      return;
  }
}

const uint64_t *hearth_folded_pcs_next(const uint64_t *pc) {
  for (size_t at = pc ? (size_t)(pc - slots) + 1 : 0; at < SLOTS; at++)
    if (__atomic_load_n(&slots[at], __ATOMIC_RELAXED))
      return &slots[at];
  return NULL;
}
