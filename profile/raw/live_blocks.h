/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Blocks that are live at a moment of a trace, by address. */
#ifndef HEARTH_LIVE_BLOCKS_H
#define HEARTH_LIVE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hearth_live_block {
  uint64_t address;                /* 0: the row is free */
  uint64_t size, begin_ns, number; /* number: the caller's */
  uint32_t stack;
} hearth_live_block;

/* All zero: none are. */
typedef struct hearth_live_blocks {
  hearth_live_block *rows;
  size_t room, count; /* room: a power of two */
} hearth_live_blocks;

/* Add a block. One that is there already at its address is replaced: *ret_replaced is it then, else its address is
 * 0. False: out of memory. */
bool hearth_live_blocks_add(hearth_live_blocks *live, const hearth_live_block *block, hearth_live_block *ret_replaced);
/* False: no such block is known. */
bool hearth_live_blocks_remove(hearth_live_blocks *live, uint64_t address, hearth_live_block *ret);
void hearth_live_blocks_free(hearth_live_blocks *live);

#endif
