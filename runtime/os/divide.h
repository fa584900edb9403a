/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Quotients of the numbers that a block's record needs: nearly all are small. */
#ifndef HEARTH_RUNTIME_DIVIDE_H
#define HEARTH_RUNTIME_DIVIDE_H

#include <stdbool.h>
#include <stdint.h>

#define HEARTH_RECIPROCALS 1024

/* For divisors from 2 on: 2^64 / divisor, rounded up. */
extern uint64_t hearth_reciprocals[HEARTH_RECIPROCALS] __attribute__((visibility("hidden")));

/* Before any division: 10 microseconds. */
void hearth_divide_begin(void);

/* dividend / divisor, which is not 0. Dividing takes several times as long as multiplying by the reciprocal. That is exact: the
 * reciprocal is too large by less than 1, and so the product by less than dividend / 2^64, which is less than 1 / divisor. */
static inline uint64_t hearth_divide(uint64_t dividend, uint64_t divisor) {
  __extension__ typedef unsigned __int128 product;

  if (__builtin_expect((dividend >> 32 | (divisor - 2) / HEARTH_RECIPROCALS) == 0, true))
    return (uint64_t)((product)dividend * hearth_reciprocals[divisor - 2] >> 64);
  return dividend / divisor;
}

#endif
