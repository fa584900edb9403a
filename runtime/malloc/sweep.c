/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds free memory by a walk over the map: neighbouring freed blocks and holes become one hole, slots without
 * blocks go back to their segment, segments without slots in use to all.
 *
 * A sweep takes one segment. It never looks into blocks: holes are chained in the map. Holes below eight granules
 * have no room for that there; they wait in the list of their size, as freed blocks. */
#include "heap_memory.h"

#include <string.h>

enum {
  LENGTH_AT = 1,
  LINK_AT = 4,
};

/* Numbers in the map, six bits a byte: no byte is a live block's, so that free finds out about a block that began
 * there. */
static size_t get_number(hearth_map *map, size_t granule, size_t count) {
  size_t value = 0;
  for (size_t i = 0; i < count; i++)
    value |= (size_t)(hearth_map_get(map, granule + i) & ~HEARTH_FREE) << (6 * i);
  return value;
}

static void set_number(hearth_map *map, size_t granule, size_t count, size_t value) {
  for (size_t i = 0; i < count; i++)
    hearth_map_set(map, granule + i, HEARTH_FREE | ((value >> (6 * i)) & 0x3f));
}

static void mark_hole(hearth_map *map, size_t granule, size_t granules) {
  if (granules < HEARTH_CHAINED_GRANULES) {
    hearth_map_set(map, granule, HEARTH_FREE | granules);
    return;
  }
  hearth_map_set(map, granule, HEARTH_FREE);
  set_number(map, granule + LENGTH_AT, LINK_AT - LENGTH_AT, granules);
  set_number(map, granule + LINK_AT, HEARTH_CHAINED_GRANULES - LINK_AT, 0);
}

/* The granules of the block or hole with this byte, and how many bytes of the map say so. */
static size_t read_mark(hearth_map *map, size_t granule, uint8_t byte, size_t *ret_bytes) {
  *ret_bytes = 1;
  if (byte == HEARTH_REMOTE_GRANULE)
    return 1;
  if (byte == HEARTH_FREE) {
    *ret_bytes = HEARTH_CHAINED_GRANULES;
    return get_number(map, granule + LENGTH_AT, LINK_AT - LENGTH_AT);
  }
  if (byte < HEARTH_FREED_MEDIUM)
    return hearth_class_granules(byte & ~HEARTH_FREE);
  *ret_bytes = 2;
  size_t class = hearth_map_get(map, granule + 1) & ~HEARTH_FREE;
  return hearth_class_granules(byte == HEARTH_REMOTE ? class : class + HEARTH_SMALL_CLASSES);
}

/* The same; its bytes are zero then. */
static size_t unmark(hearth_map *map, size_t granule, uint8_t byte) {
  size_t bytes, granules = read_mark(map, granule, byte, &bytes);
  for (size_t i = 0; i < bytes; i++)
    hearth_map_set(map, granule + i, 0);
  return granules;
}

/* Lists of holes of the secure mode. A link is right if it leads to a hole of the same list: whoever writes to a
 * freed block does not know the key. */

static void checked_push(hearth_pool *pool, void *hole, size_t granules) {
  ((hearth_block *)hole)->next = pool->checked[granules] ^ pool->key;
  pool->checked[granules] = (uintptr_t)hole;
}

static bool is_hole(const hearth_pool *pool, uintptr_t address, size_t granules) {
  hearth_segment *segment = hearth_segment_of((void *)address);
  return address % HEARTH_GRANULE == 0 && hearth_is_segment(hearth_kind_of((void *)address)) && segment->pool == pool &&
         hearth_map_get(hearth_map_of(segment), hearth_granule_of((void *)address)) == (HEARTH_FREE | granules);
}

void *hearth_checked_pop(hearth_pool *pool, size_t granules) {
  hearth_block *hole = (hearth_block *)pool->checked[granules];
  if (!hole)
    return NULL;
  uintptr_t next = hole->next ^ pool->key;
  if (next && !is_hole(pool, next, granules))
    hearth_fatal("a freed block was written to: ", hole);
  pool->checked[granules] = next;
  hearth_map_set(hearth_map_of(hearth_segment_of(hole)), hearth_granule_of(hole), granules);
  pool->budget += (int64_t)granules;
  return hole;
}

/* What is left at a cursor, or too small to be chained, goes to the lists, cut to classes; where there are none, it
 * waits for the next sweep. It counts as freed, so that a sweep comes when it pays, as far as half the quota remains
 * for blocks. */
static void push_hole(hearth_pool *pool, char *start, size_t granules) {
  int64_t least = hearth_pool_quota(pool) / 2;
  if (!pool->is_listed && (pool->is_cold || granules >= HEARTH_CHAINED_GRANULES)) {
    mark_hole(hearth_map_of(hearth_segment_of(start)), hearth_granule_of(start), granules);
    return;
  }
  hearth_map *map = hearth_map_of(hearth_segment_of(start));
  while (granules) {
    size_t class = hearth_class_below(granules), piece = hearth_class_granules(class);
    hearth_map_set_freed(map, hearth_granule_of(start), class);
    if (pool->is_listed)
      hearth_pool_push(pool, start, class);
    else
      checked_push(pool, start, class);
    if (pool->budget - (int64_t)piece > least)
      pool->budget -= (int64_t)piece;
    else
      pool->whole_budget += (int64_t)piece;
    start += piece * HEARTH_GRANULE;
    granules -= piece;
  }
}

/* Blocks that other threads free. Such a block gets a mark of its own in the map. Each slot counts these granules;
 * with each page of them, the slot is to be received: a bit of its segment, and the segment is in the pool's queue.
 * An owner that needs memory walks over these slots: neighbouring marked blocks become holes, the owner's own freed
 * blocks stay in their lists.
 *
 * A thread counts and queues before it marks: until then the block is live and its segment stays. After the mark the
 * segment may be gone. */

enum {
  PAGE_GRANULES = HEARTH_PAGE_BYTES / HEARTH_GRANULE,
  IN_QUEUE = 1, /* beside the bits of slots: slot 0 has no blocks */
};

static void enqueue(hearth_pool *pool, hearth_segment *segment, unsigned slot) {
  if (atomic_fetch_or_explicit(&segment->remote_slots, 1u << slot | IN_QUEUE, memory_order_acquire) & IN_QUEUE)
    return;
  hearth_segment *first = atomic_load_explicit(&pool->remote, memory_order_relaxed);
  do
    segment->next_remote = first;
  while (!atomic_compare_exchange_weak_explicit(&pool->remote, &first, segment, memory_order_release,
                                                memory_order_relaxed));
}

/* Whether another page is full. */
static bool count_remote(hearth_pool *pool, hearth_segment *segment, unsigned slot, size_t granules) {
  size_t before = atomic_fetch_add_explicit(&segment->remote_granules[slot], (uint16_t)granules, memory_order_relaxed);
  size_t pages = (before + granules) / PAGE_GRANULES - before / PAGE_GRANULES;
  if (pages)
    atomic_fetch_add_explicit(&pool->freed_elsewhere, (int64_t)(pages * PAGE_GRANULES), memory_order_relaxed);
  return pages;
}

/* A block of one granule has no room for a class, nor need. */
static void mark_remote(hearth_segment *segment, size_t granule, size_t class) {
  hearth_map *map = hearth_map_of(segment);
  if (class == 1)
    atomic_store_explicit(&map[granule], HEARTH_REMOTE_GRANULE, memory_order_release);
  else
    hearth_map_set_two(map, granule, class > HEARTH_SMALL_CLASSES ? HEARTH_REMOTE_MEDIUM : HEARTH_REMOTE, class);
}

void hearth_remote_free(hearth_segment *segment, void *block, size_t class) {
  hearth_pool *pool = segment->pool;
  size_t granule = hearth_granule_of(block);
  unsigned slot = (unsigned)(granule / HEARTH_SLOT_GRANULES);
  bool is_page = count_remote(pool, segment, slot, hearth_class_granules(class));
  if (is_page)
    enqueue(pool, segment, slot);
  mark_remote(segment, granule, class);
  if (is_page && hearth_heap_try_take(pool->heap)) { /* nobody else will look */
    hearth_pool_collect_if_worth(pool);
    hearth_heap_give(pool->heap);
  }
}

static void forget_remote(hearth_segment *segment, uint32_t slots) {
  for (; slots; slots &= slots - 1) {
    unsigned slot = (unsigned)__builtin_ctz(slots);
    if (!atomic_load_explicit(&segment->remote_granules[slot], memory_order_relaxed))
      continue;
    size_t granules = atomic_exchange_explicit(&segment->remote_granules[slot], 0, memory_order_relaxed);
    atomic_fetch_sub_explicit(&segment->pool->freed_elsewhere, (int64_t)(granules & -(size_t)PAGE_GRANULES),
                              memory_order_relaxed);
  }
}

/* Sweeps. */

/* Where the holes of a sweep are chained, in the order of addresses. */
typedef struct chains {
  size_t last[HEARTH_RANGES];
} chains;

static void add_hole(hearth_segment *segment, chains *chains, size_t start, size_t end, unsigned range) {
  hearth_map *map = hearth_map_of(segment);
  hearth_pool *pool = segment->pool;
  size_t granules = end - start;
  if (!granules)
    return;
  if (granules < HEARTH_CHAINED_GRANULES) {
    push_hole(pool, hearth_address_of(segment, start), granules);
    return;
  }
  mark_hole(map, start, granules);
  pool->hole_granules += granules;
  if (chains->last[range])
    set_number(map, chains->last[range] + LINK_AT, HEARTH_CHAINED_GRANULES - LINK_AT, start);
  else
    segment->holes[range] = (uint32_t)start;
  chains->last[range] = start;
}

static unsigned slot_of(size_t granule) { return (unsigned)(granule / HEARTH_SLOT_GRANULES); }

/* Slots without blocks go back; elsewhere a hole lies in one run of slots. */
static void add_free_run(hearth_segment *segment, chains *chains, size_t start, size_t end) {
  unsigned range = segment->range_of_slot[slot_of(start)];
  unsigned first = slot_of(start + HEARTH_SLOT_GRANULES - 1), behind = slot_of(end);
  for (unsigned slot = first; slot < behind; slot++)
    hearth_pool_return_slot(segment->pool, segment, slot);
  size_t first_start = (size_t)first * HEARTH_SLOT_GRANULES, behind_start = (size_t)behind * HEARTH_SLOT_GRANULES;
  if (first < behind && behind < HEARTH_SLOTS)
    segment->run_starts |= 1u << behind;
  if (first > behind || (first == behind && !(segment->run_starts >> first & 1))) {
    add_hole(segment, chains, start, end, range);
    return;
  }
  add_hole(segment, chains, start, first_start, range);
  add_hole(segment, chains, behind_start, end, range);
}

/* Behind the last of the neighbouring slots in use, of one range. */
static size_t end_of_run(const hearth_segment *segment, unsigned slot) {
  unsigned range = segment->range_of_slot[slot];
  do
    slot++;
  while (slot < HEARTH_SLOTS && segment->used_slots >> slot & 1 && segment->range_of_slot[slot] == range);
  return (size_t)slot * HEARTH_SLOT_GRANULES;
}

/* Acquire: whoever freed the block has done with it. */
static uint8_t read_byte(hearth_map *map, size_t granule) {
  return atomic_load_explicit(&map[granule], memory_order_acquire);
}

/* Behind the neighbouring freed blocks and holes. */
static size_t unmark_run(hearth_map *map, size_t granule, size_t end) {
  while (granule < end) {
    uint8_t byte = read_byte(map, granule), class = byte ^ HEARTH_FREE;
    if (HEARTH_LIKELY((uint8_t)(class - 1) < HEARTH_SMALL_CLASSES)) {
      hearth_map_set(map, granule, 0);
      granule += class;
    } else if (!byte || hearth_live_class(byte)) {
      break;
    } else {
      granule += unmark(map, granule, byte);
    }
  }
  return granule;
}

static void walk_run(hearth_segment *segment, chains *chains, size_t granule, size_t end) {
  hearth_map *map = hearth_map_of(segment);
  while (granule < end) {
    uint8_t byte = read_byte(map, granule);
    hearth_expect(byte);
    if (HEARTH_LIKELY((int8_t)byte > 0)) {
      granule += byte;
    } else if (hearth_live_class(byte)) {
      granule += hearth_class_granules(hearth_live_class(byte));
    } else {
      size_t start = granule;
      granule = unmark_run(map, granule, end);
      add_free_run(segment, chains, start, granule);
    }
  }
}

static void walk(hearth_segment *segment, chains *chains) {
  for (unsigned slot = HEARTH_MAP_SLOTS; slot < HEARTH_SLOTS;) {
    if (!(segment->used_slots >> slot & 1)) {
      slot++;
      continue;
    }
    size_t end = end_of_run(segment, slot);
    walk_run(segment, chains, (size_t)slot * HEARTH_SLOT_GRANULES, end);
    slot = slot_of(end);
  }
}

static bool is_remote(hearth_map *map, size_t granule, uint8_t *ret_byte) {
  *ret_byte = read_byte(map, granule);
  return *ret_byte >= HEARTH_REMOTE_MEDIUM;
}

/* The end of the cursor that begins here. */
static size_t skip_cursor(const hearth_pool *pool, const char *at) {
  for (unsigned range = 0; range < HEARTH_RANGES; range++)
    if (pool->cursor[range].at == at && pool->cursor[range].end != at)
      return (size_t)(pool->cursor[range].end - at) / HEARTH_GRANULE;
  hearth_expect(false);
  return HEARTH_SEGMENT_GRANULES;
}

/* From where a block is known to begin. */
static void walk_slot(hearth_segment *segment, chains *chains, unsigned slot) {
  hearth_map *map = hearth_map_of(segment);
  unsigned run = slot;
  while (!(segment->run_starts >> run & 1))
    run--;
  hearth_expect(run >= HEARTH_MAP_SLOTS);
  size_t begin = (size_t)slot * HEARTH_SLOT_GRANULES, end = begin + HEARTH_SLOT_GRANULES, bytes;
  for (size_t granule = (size_t)run * HEARTH_SLOT_GRANULES; granule < end;) {
    uint8_t byte;
    if (is_remote(map, granule, &byte) && granule >= begin) {
      size_t start = granule;
      do
        granule += unmark(map, granule, byte);
      while (granule < end && is_remote(map, granule, &byte));
      add_free_run(segment, chains, start, granule);
    } else {
      granule += byte ? read_mark(map, granule, byte, &bytes)
                      : skip_cursor(segment->pool, hearth_address_of(segment, granule));
    }
  }
}

static unsigned unused_slots(const hearth_segment *segment) {
  return (unsigned)__builtin_popcount(segment->usable_slots & ~segment->used_slots);
}

static void list_holes(hearth_pool *pool, hearth_segment *segment, unsigned range) {
  if (!segment->holes[range] || segment->has_holes[range])
    return;
  segment->has_holes[range] = true;
  segment->next_with_holes[range] = pool->with_holes[range];
  pool->with_holes[range] = segment;
}

static void sweep_slots(hearth_segment *segment, uint32_t slots) {
  hearth_pool *pool = segment->pool;
  hearth_expect(!segment->to_sweep);
  chains chains = {0};
  uint32_t holes[HEARTH_RANGES];
  size_t hole_granules = pool->hole_granules;
  unsigned unused = unused_slots(segment);
  memcpy(holes, segment->holes, sizeof holes);
  for (; slots; slots &= slots - 1)
    walk_slot(segment, &chains, (unsigned)__builtin_ctz(slots));
  for (unsigned range = 0; range < HEARTH_RANGES; range++)
    if (chains.last[range]) { /* the older holes come behind */
      set_number(hearth_map_of(segment), chains.last[range] + LINK_AT, HEARTH_CHAINED_GRANULES - LINK_AT, holes[range]);
      list_holes(pool, segment, range);
    }
  unused = unused_slots(segment) - unused;
  pool->unused_slots += unused;
  pool->received_granules += pool->hole_granules - hole_granules + (size_t)unused * HEARTH_SLOT_GRANULES;
}

void hearth_segment_sweep(hearth_pool *pool, hearth_segment *segment, bool is_growing) {
  hearth_expect(segment->to_sweep && segment->pool == pool);
  chains chains = {0};
  forget_remote(segment, segment->usable_slots);
  walk(segment, &chains);
  pool->marked_granules -= segment->freed_granules;
  segment->freed_granules = 0;
  segment->to_sweep = false;
  pool->unused_slots += unused_slots(segment);
  if (!segment->used_slots && !is_growing) {
    hearth_pool_receive(pool); /* no queue has it any more */
    hearth_pool_return_segment(pool, segment);
    return;
  }
  hearth_segment_set_state(segment);
  for (unsigned range = 0; range < HEARTH_RANGES; range++)
    list_holes(pool, segment, range);
}

bool hearth_pool_next_hole(hearth_pool *pool, unsigned range) {
  for (hearth_segment *segment; (segment = pool->with_holes[range]);) {
    size_t granule = segment->holes[range];
    if (!granule) {
      pool->with_holes[range] = segment->next_with_holes[range];
      segment->has_holes[range] = false;
      continue;
    }
    hearth_map *map = hearth_map_of(segment);
    segment->holes[range] = (uint32_t)get_number(map, granule + LINK_AT, HEARTH_CHAINED_GRANULES - LINK_AT);
    size_t granules = unmark(map, granule, HEARTH_FREE);
    pool->hole_granules -= granules;
    hearth_pool_reuse(pool, granules);
    char *start = hearth_address_of(segment, granule);
    pool->cursor[range] = (hearth_cursor){start, start + granules * HEARTH_GRANULE};
    return true;
  }
  return false;
}

void hearth_pool_close_cursor(hearth_pool *pool, unsigned range) {
  hearth_cursor *cursor = &pool->cursor[range];
  size_t granules = (size_t)(cursor->end - cursor->at) / HEARTH_GRANULE;
  if (granules)
    push_hole(pool, cursor->at, granules);
  *cursor = (hearth_cursor){0};
}

size_t hearth_pool_live(const hearth_pool *pool) {
  int64_t live = (int64_t)(pool->used_granules - pool->hole_granules) - (pool->whole_budget - pool->budget);
  for (unsigned range = 0; range < HEARTH_RANGES; range++)
    live -= (pool->cursor[range].end - pool->cursor[range].at) / HEARTH_GRANULE;
  return live > 0 ? (size_t)live : 0;
}

void hearth_pool_set_budget(hearth_pool *pool, size_t live, int64_t listed) {
  int64_t most = live ? (int64_t)(live - live / 8 - 1) : 0, quota = hearth_pool_quota(pool);
  pool->budget = pool->segments > 1 && most < quota ? most : quota;
  pool->whole_budget = pool->budget + listed;
}

void hearth_pool_drop_lists(hearth_pool *pool) {
  size_t live = hearth_pool_live(pool);
  for (unsigned range = 0; range < HEARTH_RANGES; range++) {
    hearth_pool_close_cursor(pool, range);
    pool->with_holes[range] = NULL;
  }
  hearth_pool_empty_lists(pool);
  memset(pool->checked, 0, sizeof pool->checked);
  for (hearth_segment *segment = pool->first; segment; segment = segment->next) {
    memset(segment->holes, 0, sizeof segment->holes);
    memset(segment->has_holes, 0, sizeof segment->has_holes);
    segment->to_sweep = true;
    segment->freed_granules = 0;
    hearth_segment_set_state(segment);
  }
  pool->next_to_sweep = pool->first;
  pool->unused_slots = 0;
  pool->marked_granules = 0;
  pool->hole_granules = 0;
  pool->received_granules = 0;
  hearth_pool_set_budget(pool, live, 0);
}

bool hearth_is_secure;

static void secure_pool(hearth_pool *pool) {
  pool->is_listed = false;
  pool->is_checked = !pool->is_cold;
  hearth_pool_drop_lists(pool);
}

void hearth_secure_mode_open(void) {
  hearth_is_secure = true;
  hearth_heaps_for_each_pool(secure_pool);
}

/* Segments are swept as frees pay for it, or all at once: if they are freed faster than that, or if so few blocks
 * are left that a sweep of all costs less. */
void hearth_pool_free_too_much(hearth_pool *pool) {
  if (pool->next_to_sweep || hearth_pool_live(pool) < pool->used_granules / 4)
    hearth_pool_collect(pool);
  else
    hearth_pool_drop_lists(pool);
}

bool hearth_pool_receive(hearth_pool *pool) {
  if (!atomic_load_explicit(&pool->remote, memory_order_relaxed))
    return false;
  hearth_segment *segment = atomic_exchange_explicit(&pool->remote, NULL, memory_order_acquire);
  for (hearth_segment *next; segment; segment = next) {
    next = segment->next_remote;
    uint32_t slots = atomic_exchange_explicit(&segment->remote_slots, 0, memory_order_release);
    slots &= segment->used_slots;
    if (!segment->to_sweep && pool->is_listed) { /* otherwise a sweep finds them */
      forget_remote(segment, slots);
      sweep_slots(segment, slots);
    }
  }
  return true;
}
