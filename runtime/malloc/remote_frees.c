/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A block that a thread frees in another thread's pool gets a mark of its own in the map. Each slot counts these granules; with
 * each page of them, the slot is to be received: a bit of its segment, and the segment is in the pool's queue. An owner that
 * needs memory walks over these slots: neighbouring marked blocks become holes, the owner's own freed blocks stay in their
 * lists.
 *
 * A thread counts and queues before it marks: until then the block is live and its segment stays. After the mark the
 * segment may be gone. */
#include "remote_frees.h"

#include "slots.h"

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
static bool count(hearth_pool *pool, hearth_segment *segment, unsigned slot, size_t granules) {
  size_t before = atomic_fetch_add_explicit(&segment->remote_granules[slot], (uint16_t)granules, memory_order_relaxed);
  size_t pages = (before + granules) / PAGE_GRANULES - before / PAGE_GRANULES;
  if (pages)
    atomic_fetch_add_explicit(&pool->freed_elsewhere, (int64_t)(pages * PAGE_GRANULES), memory_order_relaxed);
  return pages;
}

/* A block of one granule has no room for a class, nor need. */
static void mark(hearth_segment *segment, size_t granule, size_t class) {
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
  bool is_page = count(pool, segment, slot, hearth_class_granules(class));
  if (is_page)
    enqueue(pool, segment, slot);
  mark(segment, granule, class);
  if (is_page && hearth_heap_try_take(pool->heap)) { /* nobody else will look */
    hearth_pool_collect_if_worth(pool);
    hearth_heap_give(pool->heap);
  }
}

void hearth_segment_forget_remote(hearth_segment *segment, uint32_t slots) {
  for (; slots; slots &= slots - 1) {
    unsigned slot = (unsigned)__builtin_ctz(slots);
    if (!atomic_load_explicit(&segment->remote_granules[slot], memory_order_relaxed))
      continue;
    size_t granules = atomic_exchange_explicit(&segment->remote_granules[slot], 0, memory_order_relaxed);
    atomic_fetch_sub_explicit(&segment->pool->freed_elsewhere, (int64_t)(granules & -(size_t)PAGE_GRANULES),
                              memory_order_relaxed);
  }
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
      hearth_segment_forget_remote(segment, slots);
      hearth_slots_sweep(segment, slots);
    }
  }
  return true;
}
