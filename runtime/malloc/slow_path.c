/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The ways of malloc and free that the lists do not serve.
 *
 * Memory for a request, in this order: the cursor of its range, holes of swept segments, unused slots, the next
 * segment to be swept, a drop of the lists if too much is free, a larger freed block, holes of other ranges, a new
 * segment. */

#include "heap_memory.h"

#include <string.h>

enum { ORDINARY_SEGMENTS = 4 }; /* of a pool, before its segments are huge pages: small programs stay small */

static const struct {
  size_t largest;
  unsigned slots;
} ranges[HEARTH_RANGES] = {
#define HEARTH_ROW(largest, slots) {largest, slots},
    HEARTH_RANGE_TABLE(HEARTH_ROW)
#undef HEARTH_ROW
};

void hearth_pool_empty_lists(hearth_pool *pool) {
  for (size_t class = 0; class < HEARTH_CLASSES; class++)
    pool->list[class] = pool->key;
}

void hearth_pool_init(hearth_pool *pool, hearth_heap *heap, unsigned placement) {
  pool->heap = heap;
  pool->placement = (uint8_t)placement;
  pool->is_cold = placement == HEARTH_POOL_COLD;
  pool->is_listed = !pool->is_cold && !hearth_is_secure;
  pool->is_checked = !pool->is_cold && hearth_is_secure;
  pool->key = hearth_system_random();
  hearth_pool_empty_lists(pool);
  hearth_pool_set_budget(pool, 0, 0);
}

/* Segments and slots. */

void hearth_segment_set_state(hearth_segment *segment) {
  hearth_pool *pool = segment->pool;
  hearth_segment_state state = segment->to_sweep || !pool->is_listed ? HEARTH_MARKED : HEARTH_LISTED;
  atomic_store_explicit(&segment->owner, (uintptr_t)pool + state, memory_order_relaxed);
}

static hearth_segment *add_segment(hearth_pool *pool) {
  hearth_segment *segment = hearth_segment_take(pool->placement, pool->segments >= ORDINARY_SEGMENTS);
  if (!segment)
    return NULL;
  segment->pool = pool;
  segment->next = NULL;
  segment->previous = pool->last;
  *(pool->last ? &pool->last->next : &pool->first) = segment;
  pool->last = segment;
  pool->segments++;
  pool->unused_slots += (size_t)__builtin_popcount(segment->usable_slots);
  hearth_segment_set_state(segment);
  return segment;
}

void hearth_pool_return_segment(hearth_pool *pool, hearth_segment *segment) {
  hearth_expect(!segment->used_slots && !segment->to_sweep);
  for (unsigned range = 0; range < HEARTH_RANGES; range++)
    hearth_expect(!segment->has_holes[range]);
  *(segment->previous ? &segment->previous->next : &pool->first) = segment->next;
  *(segment->next ? &segment->next->previous : &pool->last) = segment->previous;
  if (pool->next_to_sweep == segment)
    pool->next_to_sweep = segment->next;
  pool->segments--;
  pool->unused_slots -= (size_t)__builtin_popcount(segment->usable_slots);
  hearth_segment_give(segment);
}

void hearth_pool_return_slot(hearth_pool *pool, hearth_segment *segment, unsigned slot) {
  segment->used_slots &= ~(1u << slot);
  pool->used_granules -= HEARTH_SLOT_GRANULES;
  pool->heap->used_granules -= HEARTH_SLOT_GRANULES;
}

/* The first run of at least `least` unused slots, at most `most` of them; in the secure mode a random slot, where
 * one will do. 0: there is none. */
static unsigned find_slots(const hearth_segment *segment, unsigned least, unsigned most, unsigned *ret_first) {
  uint32_t unused = segment->usable_slots & ~segment->used_slots;
  if (hearth_is_secure && unused && least == 1) {
    most = 1;
    for (size_t skipped = hearth_system_random() % (size_t)__builtin_popcount(unused); skipped; skipped--)
      unused &= unused - 1;
  }
  while (unused) {
    unsigned first = (unsigned)__builtin_ctz(unused), count = 1;
    while (first + count < HEARTH_SLOTS && unused >> (first + count) & 1 && count < most)
      count++;
    if (count >= least) {
      *ret_first = first;
      return count;
    }
    unused &= (uint32_t)(~(uint64_t)0 << (first + count));
  }
  return 0;
}

static unsigned slots_for(size_t granules) {
  return (unsigned)((granules + HEARTH_SLOT_GRANULES - 1) / HEARTH_SLOT_GRANULES);
}

/* Blocks of a power of two, or whose sizes in turn add up to one, would lie at the same places of all slots, and so
 * share a few sets of the caches: slots begin at one of eight lines. What is before it is found by the next sweep. */
static char *colour_slot(hearth_segment *segment, unsigned slot) {
  enum { COLOURS = 8, LINE_GRANULES = 64 / HEARTH_GRANULE };
  size_t granule = (size_t)slot * HEARTH_SLOT_GRANULES, skipped = slot % COLOURS * LINE_GRANULES;
  if (skipped)
    hearth_map_set_freed(hearth_map_of(segment), granule, skipped);
  return hearth_address_of(segment, granule + skipped);
}

static void add_quota(hearth_pool *pool, size_t granules) {
  pool->whole_budget += (int64_t)granules / 4;
  pool->budget += (int64_t)granules / 4;
}

static bool use_slots(hearth_pool *pool, hearth_segment *segment, unsigned first, unsigned count, unsigned range) {
  if (!hearth_segment_open(segment, first + count))
    return false;
  for (unsigned slot = first; slot < first + count; slot++) {
    segment->used_slots |= 1u << slot;
    segment->clean_slots &= ~(1u << slot);
    segment->range_of_slot[slot] = (uint8_t)range;
    segment->run_starts &= ~(1u << slot);
  }
  size_t granules = (size_t)count * HEARTH_SLOT_GRANULES;
  pool->unused_slots -= count;
  hearth_pool_reuse(pool, granules);
  pool->used_granules += granules;
  pool->heap->used_granules += granules;
  add_quota(pool, granules);
  if (pool != &pool->heap->main)
    add_quota(&pool->heap->main, granules);
  char *start = hearth_address_of(segment, (size_t)first * HEARTH_SLOT_GRANULES);
  hearth_cursor *cursor = &pool->cursor[range];
  if (cursor->end != start || ranges[range].slots == 1) {
    hearth_pool_close_cursor(pool, range);
    cursor->at = ranges[range].slots == 1 && count == 1 ? colour_slot(segment, first) : start;
    segment->run_starts |= 1u << first;
  }
  cursor->end = start + (size_t)count * HEARTH_SLOT_BYTES;
  return true;
}

/* Unused slots of a segment that is swept, for the range's cursor, which has room for `granules` then. */
static bool take_unused_slots(hearth_pool *pool, unsigned range, size_t granules) {
  unsigned least = slots_for(granules), most = ranges[range].slots > least ? ranges[range].slots : least, first;
  if (pool->unused_slots < least)
    return false;
  for (hearth_segment *segment = pool->last; segment; segment = segment->previous)
    if (!segment->to_sweep) {
      unsigned count = find_slots(segment, least, most, &first);
      if (count)
        return use_slots(pool, segment, first, count, range);
    }
  return false;
}

/* Requests. */

static bool has_room(const hearth_cursor *cursor, size_t granules) {
  return (size_t)(cursor->end - cursor->at) >= granules * HEARTH_GRANULE;
}

static int64_t found_by_sweeps(hearth_pool *pool) {
  int64_t elsewhere = atomic_load_explicit(&pool->freed_elsewhere, memory_order_relaxed);
  return elsewhere + (int64_t)(pool->marked_granules + pool->received_granules);
}

static bool is_too_much_free(hearth_pool *pool) { return pool->budget < found_by_sweeps(pool); }

static void sweep_next(hearth_pool *pool, bool is_growing) {
  hearth_segment *segment = pool->next_to_sweep;
  pool->next_to_sweep = segment->next;
  if (segment->to_sweep)
    hearth_segment_sweep(pool, segment, is_growing);
}

/* The smallest freed block with room; for small requests one of the last range, in which enough of them keep their
 * order. */
static bool take_larger(hearth_pool *pool, unsigned range, size_t granules) {
  size_t least = granules > HEARTH_SMALL_CLASSES ? granules * HEARTH_GRANULE : ranges[HEARTH_RANGES - 2].largest;
  for (size_t class = hearth_class_of(least) + 1; class < HEARTH_CLASSES; class++) {
    size_t room = hearth_class_granules(class);
    char *block = hearth_pool_pop(pool, class, room);
    if (block) {
      hearth_pool_close_cursor(pool, range);
      hearth_map_set(hearth_map_of(hearth_segment_of(block)), hearth_granule_of(block), 0);
      pool->cursor[range] = (hearth_cursor){block, block + room * HEARTH_GRANULE};
      return true;
    }
  }
  return false;
}

/* Holes of other ranges: the first with room; those before it become freed blocks. */
static bool borrow_hole(hearth_pool *pool, unsigned range, size_t granules) {
  for (unsigned lender = HEARTH_RANGES; lender-- > 0;) {
    hearth_cursor saved = pool->cursor[lender];
    while (lender != range && hearth_pool_next_hole(pool, lender)) {
      hearth_cursor hole = pool->cursor[lender];
      if (has_room(&hole, granules)) {
        pool->cursor[lender] = saved;
        hearth_pool_close_cursor(pool, range);
        pool->cursor[range] = hole;
        return true;
      }
      hearth_pool_close_cursor(pool, lender);
    }
    pool->cursor[lender] = saved;
  }
  return false;
}

/* What comes in at the end of a phase goes back. */
static bool receive(hearth_pool *pool) {
  if (!hearth_pool_receive(pool))
    return false;
  if (!pool->next_to_sweep && is_too_much_free(pool))
    hearth_pool_drop_lists(pool);
  return true;
}

static bool make_room(hearth_pool *pool, unsigned range, size_t granules) {
  hearth_cursor *cursor = &pool->cursor[range];
  while (!has_room(cursor, granules)) {
    if (cursor->at != cursor->end && pool->with_holes[range])
      hearth_pool_close_cursor(pool, range);
    if (hearth_pool_next_hole(pool, range) || receive(pool) || take_unused_slots(pool, range, granules))
      continue;
    if (pool->next_to_sweep) {
      sweep_next(pool, true);
    } else if (is_too_much_free(pool)) {
      hearth_pool_drop_lists(pool);
    } else if (!take_larger(pool, range, granules) && !borrow_hole(pool, range, granules)) {
      return add_segment(pool) && take_unused_slots(pool, range, granules);
    }
  }
  return true;
}

/* At the thread's first request, it has no heap. NULL: no memory for one. */
static hearth_pool *pool_for_request(hearth_pool *pool) {
  if (pool->heap)
    return pool;
  hearth_heap *heap = hearth_heap_of_thread();
  return heap ? &heap->main : NULL;
}

void *hearth_pool_alloc_slowly(hearth_pool *pool, size_t class) {
  unsigned range = hearth_class_range(class);
  size_t granules = hearth_class_granules(class);
  if (HEARTH_UNLIKELY(pool->is_checked) && class < HEARTH_CHAINED_GRANULES) {
    void *hole = hearth_checked_pop(pool, class);
    if (hole)
      return hole;
  }
  void *block = hearth_pool_take(pool, range, class, granules);
  if (HEARTH_LIKELY(block != NULL))
    return block;
  pool = pool_for_request(pool);
  if (!pool)
    return NULL;
  block = hearth_pool_pop(pool, class, granules); /* of a heap that another thread left */
  if (block)
    return block;
  return make_room(pool, range, granules) ? hearth_pool_take(pool, range, class, granules) : NULL;
}

/* At the cursor, behind as much as the alignment asks for, which becomes freed blocks. */
void *hearth_pool_alloc_aligned(hearth_pool *pool, size_t bytes, size_t alignment) {
  size_t class = hearth_class_of(bytes), granules = hearth_class_granules(class);
  unsigned range = hearth_class_range(class);
  pool = pool_for_request(pool);
  if (!pool)
    return NULL;
  const hearth_block *first = hearth_pool_first(pool, class);
  if (first && (uintptr_t)first % alignment == 0)
    return hearth_pool_pop(pool, class, granules);
  hearth_cursor *cursor = &pool->cursor[range];
  if (!make_room(pool, range, granules + alignment / HEARTH_GRANULE))
    return NULL;
  char *end = cursor->end, *start = (char *)(((uintptr_t)cursor->at + alignment - 1) & -alignment);
  cursor->end = start;
  hearth_pool_close_cursor(pool, range);
  *cursor = (hearth_cursor){start, end};
  return hearth_pool_take(pool, range, class, granules);
}

/* Frees. */

static _Noreturn void abort_for(const void *block, hearth_kind kind) {
  if (hearth_is_segment(kind) && (uintptr_t)block % HEARTH_GRANULE == 0 &&
      hearth_map_get(hearth_map_of(hearth_segment_of(block)), hearth_granule_of(block)) & HEARTH_FREE)
    hearth_fatal("double free, or realloc of a freed block: ", block);
  hearth_fatal("free or realloc of a pointer that is no block's: ", block);
}

size_t hearth_block_class(const void *block, hearth_kind kind) {
  hearth_segment *segment = hearth_segment_of(block);
  size_t granule = hearth_granule_of(block);
  if (!hearth_is_segment(kind) || (uintptr_t)block % HEARTH_GRANULE || granule < HEARTH_FIRST_GRANULE)
    abort_for(block, kind);
  size_t class = hearth_live_class(hearth_map_get(hearth_map_of(segment), granule));
  if (!class)
    abort_for(block, kind);
  return class;
}

static void free_own(hearth_pool *pool, hearth_segment *segment, void *block, size_t class) {
  size_t granules = hearth_class_granules(class);
  hearth_map_set_freed(hearth_map_of(segment), hearth_granule_of(block), class);
  if (segment->to_sweep) {
    segment->freed_granules += (uint32_t)granules;
    pool->marked_granules += granules;
    pool->paid_granules += granules;
    if (pool->paid_granules >= HEARTH_SEGMENT_GRANULES / 8) {
      pool->paid_granules = 0;
      sweep_next(pool, false);
    }
    return;
  }
  if (pool->is_listed)
    hearth_pool_push(pool, block, class);
  pool->budget -= (int64_t)granules;
  if (pool->budget < 0)
    hearth_pool_free_too_much(pool);
}

void hearth_pool_free_slowly(hearth_pool *own, void *block) {
  if (!block)
    return;
  hearth_segment *segment = hearth_segment_of(block);
  uintptr_t pool = hearth_owner_of(segment) & ~(uintptr_t)HEARTH_MARKED;
  if (HEARTH_LIKELY(own->heap && !(((uintptr_t)block | pool) % HEARTH_GRANULE) && hearth_heap_has(own->heap, pool))) {
    size_t class = hearth_live_class(hearth_map_get(hearth_map_of(segment), hearth_granule_of(block)));
    if (HEARTH_LIKELY(class)) {
      free_own((hearth_pool *)pool, segment, block, class);
      return;
    }
  }
  hearth_kind kind = hearth_kind_of(block);
  if (hearth_is_large(kind))
    hearth_large_free(block);
  else
    hearth_remote_free(segment, block, hearth_block_class(block, kind));
}

void hearth_pool_collect(hearth_pool *pool) {
  hearth_pool_drop_lists(pool);
  for (hearth_segment *next, *segment = pool->first; segment; segment = next) {
    next = segment->next;
    hearth_segment_sweep(pool, segment, false);
  }
  pool->next_to_sweep = NULL;
  hearth_pool_set_budget(pool, hearth_pool_live(pool), pool->whole_budget - pool->budget);
}

void hearth_pool_collect_if_worth(hearth_pool *pool) {
  hearth_pool_receive(pool);
  if (pool->whole_budget - pool->budget + found_by_sweeps(pool) > hearth_pool_quota(pool) / 2)
    hearth_pool_collect(pool);
}

void hearth_pool_discard_slots(hearth_pool *pool, size_t slots) {
  hearth_pool_collect_if_worth(pool);
  for (hearth_segment *segment = pool->first; segment && slots; segment = segment->next) {
    uint32_t open = (uint32_t)(((uint64_t)1 << segment->open_slots) - 1);
    uint32_t dirty = segment->usable_slots & open & ~(segment->used_slots | segment->clean_slots);
    for (; dirty && slots; dirty &= dirty - 1, slots--) {
      unsigned slot = (unsigned)__builtin_ctz(dirty);
      hearth_system_discard((char *)segment + slot * HEARTH_SLOT_BYTES, HEARTH_SLOT_BYTES);
      segment->clean_slots |= 1u << slot;
    }
  }
}
