/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Binary search in a sorted array, where the C library's bsearch does not serve: it finds none of the items between
 * which a key lies. Inline, so that the comparison is, too. */
#ifndef HEARTH_SEARCH_H
#define HEARTH_SEARCH_H

#include <stddef.h>

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
