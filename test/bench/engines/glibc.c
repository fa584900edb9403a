/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The C library's malloc, for comparison: it has no range, so what is said of one has no meaning. */
#include "engine.h"

#include <stdlib.h>

char *engine_open(void) { return reserve_range(); }
void engine_thread_begin(void) {}
void engine_thread_end(void) {}
void *engine_take(size_t bytes) { return malloc(bytes); }
void engine_give(void *block) { free(block); }
