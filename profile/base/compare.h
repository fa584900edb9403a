/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Comparisons for qsort, bsearch and hearth_lower_bound: of numbers, and of structs that begin with them. */
#ifndef HEARTH_COMPARE_H
#define HEARTH_COMPARE_H

#include <stdint.h>

static inline int hearth_compare_u64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static inline int hearth_compare_u32(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

#endif
