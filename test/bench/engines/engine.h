/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What engines.c asks of an allocator that could serve the cold range. */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#define RANGE_BYTES ((size_t)8 << 30)

/* Once. Returns the start of the range, RANGE_BYTES of address space that cold blocks are to lie in. */
char *engine_open(void);

/* In each thread, before its first block, and after its last. */
void engine_thread_begin(void);
void engine_thread_end(void);

/* A cold block, and any block of this process back, from any thread. */
void *engine_take(size_t bytes);
void engine_give(void *block);

/* RANGE_BYTES, aligned to 1 GiB, without memory. */
char *reserve_range(void);

#endif
