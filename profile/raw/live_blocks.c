/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A hash table with open addressing, at most half full; removal moves later rows of the same chain back. */
#include "live_blocks.h"

#include <stdlib.h>

#define LEAST_ROOM 1024u

static size_t home(const hearth_live_blocks *live, uint64_t address) {
  return (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (live->room - 1); /* 2^64 / golden ratio */
}

/* The row of an address, or the free one where it belongs. */
static hearth_live_block *live_block_find(const hearth_live_blocks *live, uint64_t address) {
  size_t at = home(live, address);
  while (live->rows[at].address && live->rows[at].address != address)
    at = (at + 1) & (live->room - 1);
  return &live->rows[at];
}

static bool live_block_grow(hearth_live_blocks *live) {
  hearth_live_blocks larger = {.room = live->room ? 2 * live->room : LEAST_ROOM, .count = live->count};
  larger.rows = calloc(larger.room, sizeof *larger.rows);
  if (!larger.rows)
    return false;
  for (size_t i = 0; i < live->room; ++i)
    if (live->rows[i].address)
      *live_block_find(&larger, live->rows[i].address) = live->rows[i];
  free(live->rows);
  *live = larger;
  return true;
}

bool hearth_live_blocks_add(hearth_live_blocks *live, const hearth_live_block *block, hearth_live_block *ret_replaced) {
  if (2 * (live->count + 1) > live->room && !live_block_grow(live))
    return false;
  hearth_live_block *row = live_block_find(live, block->address);
  *ret_replaced = *row;
  live->count += !row->address;
  *row = *block;
  return true;
}

/* An entry that was put behind the row because the row was taken moves back, so that no search ends too early. */
bool hearth_live_blocks_remove(hearth_live_blocks *live, uint64_t address, hearth_live_block *ret) {
  if (live->count == 0)
    return false;
  hearth_live_block *row = live_block_find(live, address);
  if (!row->address)
    return false;
  *ret = *row;
  size_t hole = (size_t)(row - live->rows), mask = live->room - 1;
  for (size_t at = (hole + 1) & mask; live->rows[at].address; at = (at + 1) & mask)
    if (((at - home(live, live->rows[at].address)) & mask) >= ((at - hole) & mask)) {
      live->rows[hole] = live->rows[at];
      hole = at;
    }
  live->rows[hole].address = 0;
  --live->count;
  return true;
}

void hearth_live_blocks_free(hearth_live_blocks *live) {
  free(live->rows);
  *live = (hearth_live_blocks){0};
}
