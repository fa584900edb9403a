/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Comparisons for qsort, bsearch and hearth_lower_bound: of numbers, and of structs that begin with them; and sorting. */
#ifndef HEARTH_COMPARE_H
#define HEARTH_COMPARE_H

#include <stdint.h>
#include <stdlib.h>

static inline int hearth_compare_u64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static inline int hearth_compare_u32(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Sort numbers and keep one of each, in place. Returns how many are left. */
static inline size_t hearth_sort_distinct_u64(uint64_t *numbers, size_t count) {
  size_t kept = 0;
  if (count)
    qsort(numbers, count, sizeof *numbers, hearth_compare_u64);
  for (size_t i = 0; i < count; i++)
    if (!kept || numbers[kept - 1] != numbers[i])
      numbers[kept++] = numbers[i];
  return kept;
}

#endif
