/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The system says page by page what is in memory (mincore), before each round. It is not asked after the round: pages that are in
 * use are back before it ends. */
#define _GNU_SOURCE
#include "warm_tiles.h"

#include "parcel.h"

#include <stdint.h>
#include <sys/mman.h>

enum {
  TILE_BYTES = 1 << HEARTH_TILE_SHIFT,
  TILE_PAGES = TILE_BYTES >> HEARTH_PAGE_SHIFT,
  MOST_RETURNS = 6,
  TILES_AT_ONCE = 64,
};

struct tile {
  uint8_t sent;    /* pages that were in memory when the last round sent it; 0: it did not */
  uint8_t returns; /* how often it came back, less the times that it did not */
  uint8_t rest;    /* rounds for which it stays */
};

static struct tile *tiles; /* of the range, from its base on; NULL: none */

static size_t tiles_in(size_t bytes) { return (bytes + TILE_BYTES - 1) / TILE_BYTES; }

bool hearth_warm_tiles_create(size_t bytes) {
  size_t size = tiles_in(bytes) * sizeof *tiles;
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  tiles = memory == MAP_FAILED ? NULL : memory;
  return tiles;
}

static void look_at(struct tile *tile, unsigned in_memory) {
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

void hearth_warm_tiles_look(char *base, size_t bytes) {
  unsigned char is_in[TILES_AT_ONCE * TILE_PAGES];
  for (size_t first = 0, count = tiles_in(bytes); first < count; first += TILES_AT_ONCE) {
    size_t some = count - first < TILES_AT_ONCE ? count - first : TILES_AT_ONCE;
    if (mincore(base + first * TILE_BYTES, some * TILE_BYTES, is_in))
      return;
    for (size_t i = 0; i < some; i++) {
      unsigned in_memory = 0;
      for (unsigned page = 0; page < TILE_PAGES; page++)
        in_memory += is_in[i * TILE_PAGES + page] & 1;
      look_at(&tiles[first + i], in_memory);
    }
  }
}

size_t hearth_warm_tiles_stretch(size_t from, size_t bytes, size_t *ret_bytes) {
  size_t first = from / TILE_BYTES, count = tiles_in(bytes);
  while (first < count && tiles[first].rest)
    first++;
  size_t end = first;
  while (end < count && !tiles[end].rest)
    end++;
  *ret_bytes = (end - first) * TILE_BYTES;
  return first * TILE_BYTES;
}
