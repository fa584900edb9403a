/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Blocks that other threads than the pool's own free. */
#ifndef HEARTH_MALLOC_REMOTE_FREES_H
#define HEARTH_MALLOC_REMOTE_FREES_H

#include "engine.h"

#pragma GCC visibility push(hidden)

/* Marks a block of another thread's heap, or of none. */
void hearth_remote_free(hearth_segment *segment, void *block, size_t class);
/* By the pool's owner: marked blocks of the slots in the queue become holes. false: there were no such slots. */
bool hearth_pool_receive(hearth_pool *pool);
/* By the pool's owner: of the segment's slots nothing is awaited any more. */
void hearth_segment_forget_remote(hearth_segment *segment, uint32_t slots);

#pragma GCC visibility pop

#endif
