/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Quicksort on one address of all stacks at a time (Bentley and Sedgewick, "Fast algorithms for sorting and searching
 * strings", 1997): the common part of stacks is compared once. */
#include "stack_order.h"

/* Contexts [begin, end) that agree in their `depth` outermost addresses. */
typedef struct part {
  uint32_t begin, end, depth;
} part;

/* Larger parts wait below smaller ones: two below one that has at most a third of the contexts, or one below at most half.
 * So 2^32 contexts have 43 waiting at most. */
#define PARTS_MOST 48u

/* In the stack number `i` of the list, the address at `depth` from the outermost on; 0 behind the innermost. */
static uint64_t pc_at(hearth_depot *depot, uint32_t i, uint32_t depth) {
  uint32_t size;
  const uint64_t *pcs = hearth_depot_stack(depot, *hearth_depot_list(depot, i), &size);

  return depth < size ? pcs[size - 1 - depth] : 0;
}

static void swap(hearth_depot *depot, uint32_t one, uint32_t other) {
  uint32_t context = *hearth_depot_list(depot, one);

  *hearth_depot_list(depot, one) = *hearth_depot_list(depot, other);
  *hearth_depot_list(depot, other) = context;
}

static uint64_t middle_of(uint64_t a, uint64_t b, uint64_t c) {
  if (a > b) {
    uint64_t greater = a;
    a = b;
    b = greater;
  }
  return c < a ? a : c > b ? b : c;
}

static uint64_t choose(hearth_depot *depot, part all) {
  return middle_of(pc_at(depot, all.begin, all.depth), pc_at(depot, all.begin + (all.end - all.begin) / 2, all.depth),
                   pc_at(depot, all.end - 1, all.depth));
}

/* Divide by the address behind the common ones into those below a chosen one, equal and above. */
static void divide(hearth_depot *depot, part all, part ret_parts[3]) {
  uint64_t chosen = choose(depot, all);
  uint32_t below = all.begin, above = all.end;

  for (uint32_t i = all.begin; i < above;) {
    uint64_t pc = pc_at(depot, i, all.depth);
    if (pc < chosen)
      swap(depot, below++, i++);
    else if (pc > chosen)
      swap(depot, i, --above);
    else
      ++i;
  }
  ret_parts[0] = (part){all.begin, below, all.depth};
  ret_parts[1] = (part){below, chosen ? above : below, all.depth + 1}; /* stacks that end here are equal */
  ret_parts[2] = (part){above, all.end, all.depth};
}

static uint32_t size_of(part part) { return part.end - part.begin; }

/* Put the larger parts first. */
static void order_by_size(part parts[3]) {
  for (unsigned i = 0; i < 3; ++i)
    for (unsigned j = i + 1; j < 3; ++j)
      if (size_of(parts[j]) > size_of(parts[i])) {
        part larger = parts[j];
        parts[j] = parts[i];
        parts[i] = larger;
      }
}

void hearth_stack_order(hearth_depot *depot, uint32_t count) {
  static part waiting[PARTS_MOST]; /* signal stacks are small */
  unsigned used = 0;
  part parts[3];

  if (count > 1)
    waiting[used++] = (part){0, count, 0};
  while (used > 0) {
    divide(depot, waiting[--used], parts);
    order_by_size(parts);
    for (unsigned i = 0; i < 3; ++i)
      if (size_of(parts[i]) > 1)
        waiting[used++] = parts[i];
  }
}
