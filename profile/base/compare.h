/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Comparisons for qsort, bsearch and hearth_lower_bound: of numbers, and of structs that begin with them; and sorting. */
#ifndef HEARTH_COMPARE_H
#define HEARTH_COMPARE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static inline int hearth_compare_u64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
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

/* ------------------------------------------------ search ------------------------------------------------ */

/* Binary search in a sorted array, where the C library's bsearch does not serve: it finds none of the items between
 * which a key lies. Inline, so that the comparison is, too. */

/* The number of items before `key`: the place of the first item that is not less than it, `count` if all are. The items
 * ascend by `compare`, which gets the key first, as bsearch's does. The upper bound is found by a `compare` that never
 * returns 0: equal items then count as less. */
static inline size_t hearth_lower_bound(const void *key, const void *items, size_t count, size_t size,
                                        int (*compare)(const void *, const void *)) {
  const char *first = items;
  size_t before = 0;
  while (count > 0) {
    size_t half = count / 2;
    if (compare(key, first + (before + half) * size) > 0) {
      before += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return before;
}

#endif
