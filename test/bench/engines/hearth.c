/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The adapter's own: pools of threads. */
#include "engine.h"

#include <hearth/hotcold.h>
#include <stdlib.h>

/* The cold range is the lower half of the adapter's reservation, and begins at a huge page. */
char *engine_open(void) {
  char *block = malloc_hot_cold(16, 0);
  free(block);
  return (char *)((size_t)block & -((size_t)2 << 20));
}
void engine_thread_begin(void) {}
void engine_thread_end(void) {}
void *engine_take(size_t bytes) { return malloc_hot_cold(bytes, 0); }
void engine_give(void *block) { free(block); }
