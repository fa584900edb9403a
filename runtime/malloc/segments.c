/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table has a byte for each two MiB of the address space, in leaves that are mapped when something lies there.
 * Empty segments are kept up to a twentieth of the most that were in use at once, so that a program that frees
 * everything keeps little. */
#include "heap_memory.h"

#include "hearth/malloc.h"

#include <string.h>

enum {
  ADDRESS_BITS = 48,
  SEGMENT_BITS = 21,
  LEAF_BITS = 14, /* 16 KiB, for 32 GiB of addresses */
  LEAVES = 1 << (ADDRESS_BITS - SEGMENT_BITS - LEAF_BITS),
  KEPT_SHARE = 20,
};
_Static_assert(1 << SEGMENT_BITS == HEARTH_SEGMENT_BYTES, "");

typedef _Atomic uint8_t *leaf;
static leaf _Atomic table[LEAVES];

hearth_lock hearth_segments_lock;
static struct source {
  hearth_segment *kept; /* by `next` */
  size_t kept_count, used_count, most_used;
} sources[2]; /* of ordinary and of cold memory */

void *hearth_array_grow(void *array, size_t count, size_t *room, size_t entry_bytes) {
  if (count < *room)
    return array;
  size_t old = HEARTH_WHOLE_PAGES(*room * entry_bytes), bytes = old ? 2 * old : HEARTH_PAGE_BYTES;
  void *larger = hearth_system_reserve(bytes, HEARTH_PAGE_BYTES);
  if (!larger || !hearth_system_open(larger, bytes))
    return NULL;
  if (old) {
    memcpy(larger, array, count * entry_bytes);
    hearth_system_release(array, old);
  }
  *room = bytes / entry_bytes;
  return larger;
}

static size_t piece_of(const void *address) { return (uintptr_t)address >> SEGMENT_BITS; }

hearth_kind hearth_kind_of(const void *address) {
  size_t piece = piece_of(address);
  if (piece >> LEAF_BITS >= LEAVES)
    return HEARTH_KIND_NONE;
  leaf found = atomic_load_explicit(&table[piece >> LEAF_BITS], memory_order_acquire);
  return found ? atomic_load_explicit(&found[piece % (1 << LEAF_BITS)], memory_order_relaxed) : HEARTH_KIND_NONE;
}

char *hearth_kind_next(const void *from, hearth_kind *ret_kind) {
  for (size_t piece = piece_of(from); piece >> LEAF_BITS < LEAVES; piece++) {
    leaf found = atomic_load_explicit(&table[piece >> LEAF_BITS], memory_order_acquire);
    if (!found)
      piece |= (1 << LEAF_BITS) - 1;
    else if ((*ret_kind = atomic_load_explicit(&found[piece % (1 << LEAF_BITS)], memory_order_relaxed)))
      return (char *)(piece << SEGMENT_BITS);
  }
  return NULL;
}

hearth_kind_table hearth_kind_table_get(void) { return (hearth_kind_table){table, LEAVES, 1 << LEAF_BITS}; }

static leaf leaf_of(size_t piece) {
  leaf _Atomic *entry = &table[piece >> LEAF_BITS];
  leaf found = atomic_load_explicit(entry, memory_order_acquire);
  if (found)
    return found;
  leaf made = hearth_system_reserve(1 << LEAF_BITS, HEARTH_PAGE_BYTES);
  if (!made || !hearth_system_open((void *)made, 1 << LEAF_BITS))
    return NULL;
  if (atomic_compare_exchange_strong(entry, &found, made))
    return made;
  hearth_system_release((void *)made, 1 << LEAF_BITS);
  return found;
}

bool hearth_kind_set(const void *start, size_t bytes, hearth_kind kind) {
  size_t first = piece_of(start), end = piece_of((const char *)start + bytes);
  if (end >> LEAF_BITS >= LEAVES)
    return false;
  for (size_t piece = first; piece < end; piece++)
    if (!leaf_of(piece))
      return false;
  for (size_t piece = first; piece < end; piece++)
    atomic_store_explicit(&leaf_of(piece)[piece % (1 << LEAF_BITS)], (uint8_t)kind, memory_order_relaxed);
  return true;
}

/* The system gives a huge page at the first touch of its bytes, if all of them are open then, or hardly ever; of a
 * file, if all of them are mapped from it, the head, too. */
static hearth_segment *make_segment(hearth_kind kind, bool huge) {
  hearth_segment *segment = hearth_system_reserve(HEARTH_SEGMENT_BYTES, HEARTH_SEGMENT_BYTES);
  if (!segment)
    return NULL;
  unsigned open_slots = huge ? HEARTH_SLOTS : HEARTH_MAP_SLOTS;
  size_t bytes = open_slots * HEARTH_SLOT_BYTES;
  if (hearth_memory_open(huge && hearth_is_cold(kind), segment, bytes) &&
      hearth_kind_set(segment, HEARTH_SEGMENT_BYTES, kind)) {
    if (huge)
      hearth_system_make_huge(segment, HEARTH_SEGMENT_BYTES);
    segment->open_slots = open_slots + hearth_is_secure; /* behind a guard, by which no page is huge */
    segment->is_huge = huge;
    segment->is_cold = hearth_is_cold(kind);
    return segment;
  }
  hearth_memory_release(hearth_is_cold(kind), segment, HEARTH_SEGMENT_BYTES);
  return NULL;
}

hearth_segment *hearth_segment_take(unsigned placement, bool huge) {
  hearth_kind kind = (hearth_kind)placement;
  struct source *source = &sources[hearth_is_cold(kind)];
  hearth_lock_take(&hearth_segments_lock);
  hearth_segment *segment = source->kept;
  if (segment) {
    source->kept = segment->next;
    source->kept_count--;
    hearth_kind_set(segment, HEARTH_SEGMENT_BYTES, kind);
  } else { /* without the lock: cold memory may wait for the disk */
    hearth_lock_give(&hearth_segments_lock);
    segment = make_segment(kind, huge && !hearth_is_secure);
    hearth_lock_take(&hearth_segments_lock);
  }
  if (segment && ++source->used_count > source->most_used)
    source->most_used = source->used_count;
  hearth_lock_give(&hearth_segments_lock);
  if (!segment)
    return NULL;
  hearth_large_count_segments(hearth_is_cold(kind), 1);
  segment->usable_slots = (uint32_t)-1 << HEARTH_MAP_SLOTS & ~(hearth_is_secure ? (uint32_t)HEARTH_GUARDED_SLOTS : 0);
  return segment;
}

bool hearth_segment_open(hearth_segment *segment, unsigned slots) {
  if (slots <= segment->open_slots)
    return true;
  /* At least as much as is open already, so that a segment is open after a few calls. */
  unsigned opened = segment->is_huge ? HEARTH_SLOTS : 2 * segment->open_slots - HEARTH_MAP_SLOTS;
  if (opened < slots)
    opened = slots;
  if (opened > HEARTH_SLOTS || segment->is_cold)
    opened = HEARTH_SLOTS;
  opened -= opened == HEARTH_SLOTS && hearth_is_secure;
  char *start = (char *)segment + segment->open_slots * HEARTH_SLOT_BYTES;
  size_t bytes = (opened - segment->open_slots) * HEARTH_SLOT_BYTES;
  if (!hearth_memory_open(segment->is_cold, start, bytes))
    return false;
  segment->open_slots = opened;
  return true;
}

void hearth_segment_give(hearth_segment *segment) {
  unsigned open_slots = segment->open_slots;
  bool is_huge = segment->is_huge, is_cold = segment->is_cold;
  struct source *source = &sources[is_cold];
  hearth_expect(hearth_is_segment(hearth_kind_of(segment)) && hearth_is_cold(hearth_kind_of(segment)) == is_cold);
  memset(segment, 0, sizeof *segment);
  segment->open_slots = open_slots;
  segment->is_huge = is_huge;
  segment->is_cold = is_cold;
  hearth_lock_take(&hearth_segments_lock);
  hearth_expect(source->used_count > 0);
  source->used_count--;
  bool keep = source->kept_count <= source->most_used / KEPT_SHARE;
  if (keep) {
    segment->next = source->kept;
    source->kept = segment;
    source->kept_count++;
  }
  hearth_kind_set(segment, HEARTH_SEGMENT_BYTES, keep ? HEARTH_KIND_KEPT : HEARTH_KIND_NONE);
  hearth_lock_give(&hearth_segments_lock);
  hearth_large_count_segments(is_cold, -1);
  if (!keep)
    hearth_memory_release(is_cold, segment, HEARTH_SEGMENT_BYTES);
}

void hearth_segment_count(hearth_segment *segment, struct hearth_malloc_part_stats *sum) {
  typedef uint64_t __attribute__((may_alias)) map_word; /* most are zero */
  hearth_map *map = hearth_map_of(segment);
  for (size_t first = HEARTH_FIRST_GRANULE; first < HEARTH_SEGMENT_GRANULES; first += sizeof(map_word)) {
    if (!(segment->used_slots >> first / HEARTH_SLOT_GRANULES & 1)) { /* the map's page was perhaps never touched */
      first += HEARTH_SLOT_GRANULES - sizeof(map_word);
      continue;
    }
    if (!__atomic_load_n((const map_word *)(map + first), __ATOMIC_RELAXED))
      continue;
    for (size_t granule = first; granule < first + sizeof(map_word); granule++) {
      size_t class = hearth_live_class(hearth_map_get(map, granule));
      if (!class)
        continue;
      sum->live_blocks++;
      sum->live_bytes += hearth_class_granules(class) * HEARTH_GRANULE;
    }
  }
}

static bool trim(struct source *source) {
  hearth_lock_take(&hearth_segments_lock);
  hearth_segment *all = source->kept;
  for (hearth_segment *segment = all; segment; segment = segment->next)
    hearth_kind_set(segment, HEARTH_SEGMENT_BYTES, HEARTH_KIND_NONE);
  source->kept = NULL;
  source->kept_count = 0;
  hearth_lock_give(&hearth_segments_lock);
  for (hearth_segment *next, *segment = all; segment; segment = next) {
    next = segment->next;
    hearth_memory_release(segment->is_cold, segment, HEARTH_SEGMENT_BYTES);
  }
  return all;
}

bool hearth_segments_trim(void) {
  bool any = trim(&sources[0]);
  return trim(&sources[1]) || any;
}
