/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "memory.h"

#include <stdio.h>

void memory_exhausted(size_t size_bytes) {
  fprintf(stderr, "orders: out of memory, %zu bytes wanted\n", size_bytes);
  exit(EXIT_FAILURE);
}
