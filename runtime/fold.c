#include "fold.h"

#include "left_out.h"

/* Addresses that may be among those kept: most others need not be searched there. One bit for each, of so many that deep
 * stacks, too, share few. */
typedef struct seen {
  uint64_t words[8];
} seen;

/* Add an address. Returns whether it may have been there. */
static inline bool see(seen *seen, uint64_t pc) {
  uint64_t hash = pc * UINT64_C(0x9e3779b97f4a7c15) >> 55, bit = UINT64_C(1) << hash % 64; /* 2^64 / golden ratio */
  bool may_be = seen->words[hash / 64] & bit;

  seen->words[hash / 64] |= bit;
  return may_be;
}

static void leave_out(const uint64_t *pcs, const hearth_fold_tops tops, size_t from, size_t to) {
  for (; from != to; from = tops[from + 1])
    hearth_left_out_add(pcs[from]);
}

void hearth_fold_extend(const uint64_t *pcs, hearth_fold_tops tops, size_t first, size_t from, size_t end) {
  seen seen = {{0}};

  tops[end] = (uint8_t)end;
  for (size_t kept = tops[from]; kept != end; kept = tops[kept + 1])
    see(&seen, pcs[kept]);
  for (size_t i = from; i-- > first;) {
    size_t same = see(&seen, pcs[i]) ? tops[i + 1] : end;
    while (same != end && pcs[same] != pcs[i])
      same = tops[same + 1];
    if (same != end)
      leave_out(pcs, tops, tops[i + 1], same);
    tops[i] = (uint8_t)(same != end ? same : i);
  }
}

size_t hearth_fold_collect(const uint64_t *pcs, const hearth_fold_tops tops, size_t first, size_t end,
                           uint64_t *ret_pcs) {
  size_t depth = 0;

  for (size_t kept = tops[first]; kept != end; kept = tops[kept + 1])
    ret_pcs[depth++] = pcs[kept];
  return depth;
}

size_t hearth_fold_recursion(uint64_t *pcs, size_t depth) {
  hearth_fold_tops tops;

  hearth_fold_extend(pcs, tops, 0, depth, depth);
  return hearth_fold_collect(pcs, tops, 0, depth, pcs);
}
