/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* HEARTH_MALLOC=verify: while a profiling runtime records the program, its own allocator serves all hinted requests, each
 * in a scope that is named after its hint (hearth/hints.h). So the recording has the whole stack of each block beside the
 * hint that the program chose. */
#ifndef HEARTH_MALLOC_VERIFIED_H
#define HEARTH_MALLOC_VERIFIED_H

#include <stddef.h>
#include <stdint.h>

/* As malloc or memalign, calloc of `bytes`, and realloc of a block that is not NULL to more than 0 bytes. */
#pragma GCC visibility push(hidden)
void *hearth_verified_alloc(size_t bytes, size_t alignment, uint8_t hint);
void *hearth_verified_calloc(size_t bytes, uint8_t hint);
void *hearth_verified_realloc(void *block, size_t bytes, uint8_t hint);
#pragma GCC visibility pop

#endif
