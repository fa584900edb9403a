/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A table of reciprocals, filled in at the start. */
#include "divide.h"

uint64_t hearth_reciprocals[HEARTH_RECIPROCALS];

void hearth_divide_begin(void) {
  for (uint64_t i = 0; i < HEARTH_RECIPROCALS; ++i)
    hearth_reciprocals[i] = UINT64_MAX / (i + 2) + 1;
}
