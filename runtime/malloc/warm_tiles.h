/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For cold=auto: which tiles (64 KiB) of cold memory are to leave. A tile that was sent out, and has more than a quarter of those
 * pages in memory at the next round, is not cold, whatever its blocks' hints say (or it cannot leave): it stays for one round, then
 * for three, up to 63, as often as that happens again. One that comes back later was out for a round, which is what it left
 * for: it leaves again, and a return before is forgotten. */
#ifndef HEARTH_MALLOC_WARM_TILES_H
#define HEARTH_MALLOC_WARM_TILES_H

#include <stdint.h>

enum { HEARTH_TILE_PAGES = 16, HEARTH_TILES = 32 };

typedef struct hearth_warm_tile {
  uint8_t sent;    /* pages that were in memory when the last round sent it; 0: it did not */
  uint8_t returns; /* how often it came back, less the times that it did not */
  uint8_t rest;    /* rounds for which it stays */
} hearth_warm_tile;

/* Before a round: so many of its pages are in memory. It leaves if `rest` is 0 then. */
static inline void hearth_warm_tile_look(hearth_warm_tile *tile, unsigned in_memory) {
  enum { MOST_RETURNS = 6 };
  if (tile->sent && in_memory > tile->sent / 4u) {
    tile->returns += tile->returns < MOST_RETURNS;
    tile->rest = (uint8_t)((1u << tile->returns) - 1);
  } else if (tile->rest) {
    tile->rest--;
  } else if (tile->sent && tile->returns) {
    tile->returns--;
  }
  tile->sent = tile->rest ? 0 : (uint8_t)in_memory;
}

#endif
