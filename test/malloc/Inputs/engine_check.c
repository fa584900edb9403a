/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Knows the map's bytes by the picture in engine.h alone: it reads nothing by the engine's own functions that change them. */
#include "engine_check.h"
#include "engine.h"

#include "heap_memory.h"

#include <stdio.h>

#define VALID(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      dprintf(2, "%s:%d: not so: %s\n", __func__, __LINE__, #condition);                                               \
      return false;                                                                                                    \
    }                                                                                                                  \
  } while (0)

enum { HOLE_BYTES = 8 }; /* of the map, that a longer hole has for its length and the next one */

/* Sums over a pool's segments, beside what its counters say. */
typedef struct walk {
  hearth_pool_sums sums;
  size_t segments, used_slots, unused_slots, chained;
} walk;

static uint8_t byte_at(hearth_segment *segment, size_t granule) {
  return hearth_map_get(hearth_map_of(segment), granule);
}

/* Six bits a byte: the high one is set in all of them, the next one in none. 0: it is not so. */
static size_t number_at(hearth_segment *segment, size_t granule, size_t bytes) {
  size_t number = 0;
  for (size_t i = 0; i < bytes; i++) {
    if (byte_at(segment, granule + i) >> 6 != 2)
      return 0;
    number |= (size_t)(byte_at(segment, granule + i) & 0x3f) << (6 * i);
  }
  return number;
}
static size_t hole_length(hearth_segment *segment, size_t granule) { return number_at(segment, granule + 1, 3); }
static size_t hole_next(hearth_segment *segment, size_t granule) { return number_at(segment, granule + 4, 4); }

static bool is_zero(hearth_segment *segment, size_t first, size_t end) {
  for (; first < end; first++)
    if (byte_at(segment, first))
      return false;
  return true;
}

static bool is_used(const hearth_segment *segment, size_t granule) {
  return segment->used_slots >> (granule / HEARTH_SLOT_GRANULES) & 1;
}
static unsigned range_at(const hearth_segment *segment, size_t granule) {
  return segment->range_of_slot[granule / HEARTH_SLOT_GRANULES];
}

/* The granules that the cursor at this place has left; 0: none is here. */
static size_t cursor_at(hearth_pool *pool, hearth_segment *segment, size_t granule) {
  for (unsigned range = 0; range < HEARTH_RANGES; range++) {
    hearth_cursor cursor = pool->cursor[range];
    if (cursor.at != cursor.end && cursor.at == hearth_address_of(segment, granule))
      return (size_t)(cursor.end - cursor.at) / HEARTH_GRANULE;
  }
  return 0;
}

static bool piece_is_valid(walk *walk, hearth_segment *segment, size_t granule, size_t *ret_granules) {
  size_t left = cursor_at(segment->pool, segment, granule);
  uint8_t byte = byte_at(segment, granule);
  if (left) {
    VALID(!segment->to_sweep);
    VALID(!byte);
    walk->sums.at_cursors += left;
    *ret_granules = left;
    return true;
  }
  VALID(byte);
  bool is_long_hole = byte == 0x80, is_live = byte <= 64 || (byte > 0x80 + 64 && byte < 0x80 + HEARTH_CLASSES);
  bool is_of_two = byte >= 0xfc && byte <= 0xfe, is_medium = byte == 0xfc || byte == 0xfd;
  size_t class = byte == 0xff ? 1 : (byte_at(segment, granule + is_of_two) & 0x7f) + is_medium * 64u;
  if (is_of_two)
    VALID(byte_at(segment, granule + 1) > (is_medium ? 0x80 : 0x81) && byte_at(segment, granule + 1) <= 0x80 + 64);
  VALID(class < HEARTH_CLASSES);
  *ret_granules = is_long_hole ? hole_length(segment, granule) : hearth_class_granules(class);
  VALID(*ret_granules && (!is_long_hole || *ret_granules >= HOLE_BYTES));
  if (is_long_hole) /* so that no byte of a hole is a class: a block that began here may be freed once more */
    for (size_t i = 0; i < HOLE_BYTES; i++)
      VALID(byte_at(segment, granule + i) >> 6 == 2);
  *(is_long_hole ? &walk->sums.holes : is_live ? &walk->sums.live : &walk->sums.freed) += *ret_granules;
  VALID(is_zero(segment, granule + (is_long_hole ? HOLE_BYTES : is_of_two ? 2 : 1), granule + *ret_granules));
  return true;
}

/* Slots in use are tiled by blocks, holes and what cursors have left; the map of the others is zero. */
static bool tiles_are_valid(walk *walk, hearth_segment *segment) {
  for (size_t granule = HEARTH_FIRST_GRANULE, granules; granule < HEARTH_SEGMENT_GRANULES; granule += granules) {
    if (!is_used(segment, granule)) {
      granules = HEARTH_SLOT_GRANULES - granule % HEARTH_SLOT_GRANULES;
      VALID(is_zero(segment, granule, granule + granules));
      continue;
    }
    if (!piece_is_valid(walk, segment, granule, &granules)) {
      dprintf(2, "  granule %zu of segment %p, range %u\n", granule, (void *)segment, range_at(segment, granule));
      return false;
    }
    VALID(granule + granules <= HEARTH_SEGMENT_GRANULES);
    for (size_t inner = granule; inner < granule + granules; inner += HEARTH_SLOT_GRANULES)
      VALID(is_used(segment, inner) && range_at(segment, inner) == range_at(segment, granule));
    unsigned slot = (unsigned)(granule / HEARTH_SLOT_GRANULES),
             last = (unsigned)((granule + granules - 1) / HEARTH_SLOT_GRANULES);
    while (slot++ < last)
      VALID(!(segment->run_starts >> slot & 1));
    VALID(is_used(segment, granule + granules - 1) &&
          range_at(segment, granule + granules - 1) == range_at(segment, granule));
  }
  return true;
}

static bool holes_are_valid(walk *walk, hearth_segment *segment) {
  for (unsigned range = 0; range < HEARTH_RANGES; range++) {
    VALID(!segment->to_sweep || (!segment->holes[range] && !segment->has_holes[range]));
    VALID(!segment->holes[range] || segment->has_holes[range]);
    size_t most = HEARTH_SEGMENT_GRANULES / HOLE_BYTES;
    for (size_t granule = segment->holes[range]; granule; granule = hole_next(segment, granule)) {
      VALID(most--); /* a circle */
      VALID(granule < HEARTH_SEGMENT_GRANULES);
      VALID(is_used(segment, granule) && range_at(segment, granule) == range);
      VALID(byte_at(segment, granule) == HEARTH_FREE);
      walk->chained += hole_length(segment, granule);
    }
  }
  return true;
}

static bool segment_is_valid(walk *walk, hearth_pool *pool, hearth_segment *segment) {
  VALID(hearth_is_segment(hearth_kind_of(segment)));
  VALID(segment->pool == pool);
  VALID(segment->next ? segment->next->previous == segment : pool->last == segment);
  hearth_segment_state state = segment->to_sweep || !pool->is_listed ? HEARTH_MARKED : HEARTH_LISTED;
  VALID(atomic_load(&segment->owner) == (uintptr_t)pool + state);
  VALID(!segment->zero[0] && !segment->zero[1]);
  VALID(!(segment->used_slots & ~segment->usable_slots));
  VALID(segment->open_slots == HEARTH_SLOTS || !(segment->used_slots >> segment->open_slots));
  unsigned used = (unsigned)__builtin_popcount(segment->used_slots);
  walk->segments++;
  walk->used_slots += used;
  VALID(segment->to_sweep || !segment->freed_granules);
  walk->unused_slots += segment->to_sweep ? 0 : (unsigned)__builtin_popcount(segment->usable_slots) - used;
  return tiles_are_valid(walk, segment) && holes_are_valid(walk, segment);
}

static bool lists_are_valid(hearth_pool *pool) {
  VALID(!hearth_pool_first(pool, 0));
  for (size_t class = 1; class < HEARTH_CLASSES; class++) {
    VALID(pool->is_listed || !hearth_pool_first(pool, class));
    size_t most = pool->used_granules / hearth_class_granules(class);
    for (hearth_block *block = hearth_pool_first(pool, class); block;
         block = (hearth_block *)(block->next - pool->key)) {
      VALID(most--); /* a circle */
      VALID((uintptr_t)block % HEARTH_GRANULE == 0 && hearth_is_segment(hearth_kind_of(block)));
      hearth_segment *segment = hearth_segment_of(block);
      VALID(segment->pool == pool && !segment->to_sweep);
      size_t granule = hearth_granule_of(block);
      VALID(class <= 64 ? byte_at(segment, granule) == (0x80 | class)
                        : byte_at(segment, granule) == 0xfc && byte_at(segment, granule + 1) == (0x80 | (class - 64)));
    }
  }
  return true;
}

static bool segments_with_holes_are_valid(hearth_pool *pool) {
  for (unsigned range = 0; range < HEARTH_RANGES; range++) {
    size_t listed = 0, marked = 0;
    for (hearth_segment *segment = pool->with_holes[range]; segment; segment = segment->next_with_holes[range]) {
      VALID(++listed <= pool->segments);
      VALID(segment->pool == pool && segment->has_holes[range]);
    }
    for (hearth_segment *segment = pool->first; segment; segment = segment->next)
      marked += segment->has_holes[range];
    VALID(listed == marked);
  }
  return true;
}

/* What is to be swept comes at or after the next one. */
static bool order_is_valid(hearth_pool *pool) {
  bool is_behind = false;
  for (hearth_segment *segment = pool->first; segment; segment = segment->next) {
    is_behind |= segment == pool->next_to_sweep;
    VALID(is_behind || !segment->to_sweep);
  }
  VALID(is_behind || !pool->next_to_sweep);
  return true;
}

static bool counters_are_valid(const walk *walk, const hearth_pool *pool) {
  VALID(walk->segments == pool->segments);
  VALID(walk->used_slots * HEARTH_SLOT_GRANULES == pool->used_granules);
  VALID(walk->unused_slots == pool->unused_slots);
  VALID(walk->chained == pool->hole_granules);
  VALID(pool->received_granules <= pool->hole_granules + pool->unused_slots * HEARTH_SLOT_GRANULES);
  hearth_pool_sums sums = walk->sums;
  VALID(sums.live + sums.freed + sums.holes + sums.at_cursors == pool->used_granules);
  VALID(pool->next_to_sweep || hearth_pool_live(pool) >= sums.live);
  return true;
}

static bool walk_pool(hearth_pool *pool, walk *walk) {
  VALID(!pool->first || !pool->first->previous);
  for (hearth_segment *segment = pool->first; segment; segment = segment->next)
    if (!segment_is_valid(walk, pool, segment))
      return false;
  return order_is_valid(pool) && lists_are_valid(pool) && segments_with_holes_are_valid(pool) &&
         counters_are_valid(walk, pool);
}

bool hearth_pool_sum(hearth_pool *pool, hearth_pool_sums *ret_sums) {
  walk walk = {0};
  bool is_valid = walk_pool(pool, &walk);
  *ret_sums = walk.sums;
  return is_valid;
}

bool hearth_pool_is_valid(hearth_pool *pool) {
  hearth_pool_sums sums;
  return hearth_pool_sum(pool, &sums);
}

bool hearth_heap_is_valid(hearth_heap *heap) {
  VALID(hearth_pool_is_valid(&heap->main));
  size_t used = heap->main.used_granules;
  for (unsigned i = 0; i < HEARTH_POOLS; i++) {
    hearth_pool *pool = atomic_load_explicit(&heap->pool[i], memory_order_relaxed);
    if (!pool || pool == &heap->main)
      continue;
    VALID(hearth_pool_is_valid(pool));
    used += pool->used_granules;
  }
  VALID(used == heap->used_granules);
  return true;
}
