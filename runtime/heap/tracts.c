/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Free tracts are in bins by the logarithm of their length, and are joined with free neighbours when they are given
 * back. Requests that they do not serve take from the frontier, behind which nothing was ever used. */
#include "tracts.h"
#include "lock.h"
#include "os.h"
#include "shadow.h"

#define RANGE_MOST   ((size_t)1 << 40)
#define RANGE_LEAST  ((size_t)1 << 35) /* valgrind and small address spaces still give this much */
#define COMMIT_UNITS 64u               /* grow by 4 MiB: few system calls, little waste */
#define BINS         32
#define NO_SECTOR    UINT32_MAX

static struct {
  hearth_lock lock;
  char *range;
  hearth_sector *sectors;
  uint32_t count;            /* sectors of the range */
  uint32_t frontier;         /* sectors ever used */
  uint32_t committed;        /* sectors that are readable and writable */
  hearth_sector *bins[BINS]; /* free tracts: bin b holds lengths [2^b, 2^(b+1)) */
} tracts;

static char *sector_address(uint32_t sector) { return tracts.range + (size_t)sector * HEARTH_SECTOR; }

static unsigned bin_of(uint32_t length) { return 31u - (unsigned)__builtin_clz(length); }

bool hearth_tracts_create(void) {
  for (size_t size = RANGE_MOST; size >= RANGE_LEAST; size /= 2) {
    /* One sector more, to align the range to sectors. */
    char *space = hearth_os_reserve(size + HEARTH_SECTOR);
    if (!space)
      continue;
    uint32_t count = (uint32_t)(size / HEARTH_SECTOR);
    size_t table = count * sizeof(hearth_sector);
    tracts.sectors = hearth_os_map(table);
    if (!tracts.sectors) {
      hearth_os_unmap(space, size + HEARTH_SECTOR);
      continue;
    }
    hearth_os_mark_sparse(tracts.sectors, table);
    tracts.range = (char *)(((uintptr_t)space + HEARTH_SECTOR - 1) & ~(HEARTH_SECTOR - 1));
    tracts.count = count;
    return true;
  }
  return false;
}

static void unlink_free(uint32_t first) {
  hearth_sector *sector = &tracts.sectors[first];

  hearth_expect(sector->kind == HEARTH_TRACT_FREE && sector->length > 0);
  hearth_expect(sector[sector->length - 1].kind == HEARTH_TRACT_FREE);
  hearth_expect(sector[sector->length - 1].length == sector->length);
  hearth_sector_unlink(&tracts.bins[bin_of(sector->length)], sector);
}

static void link_free(uint32_t first, uint32_t length) {
  hearth_sector as_free = {.kind = HEARTH_TRACT_FREE, .length = length};

  hearth_expect(length > 0 && first + length <= tracts.frontier);
  tracts.sectors[first] = tracts.sectors[first + length - 1] = as_free;
  hearth_sector_link(&tracts.bins[bin_of(length)], &tracts.sectors[first]);
}

/* A free tract of at least `length` sectors, unlinked; its excess is linked again. */
static uint32_t take_free(uint32_t length) {
  for (unsigned bin = bin_of(length); bin < BINS; ++bin)
    for (const hearth_sector *at = tracts.bins[bin]; at; at = at->next) {
      uint32_t first = (uint32_t)(at - tracts.sectors), found = at->length;
      if (found < length)
        continue; /* in the first bin only */
      unlink_free(first);
      if (found > length)
        link_free(first + length, found - length);
      return first;
    }
  return NO_SECTOR;
}

static uint32_t take_new(uint32_t length) {
  if (length > tracts.count - tracts.frontier)
    return NO_SECTOR;
  uint32_t end = tracts.frontier + length;
  if (end > tracts.committed) {
    uint32_t target = (end + COMMIT_UNITS - 1) / COMMIT_UNITS * COMMIT_UNITS; /* the range is a multiple of it */
    if (!hearth_os_commit(sector_address(tracts.committed), (target - tracts.committed) * HEARTH_SECTOR))
      return NO_SECTOR;
    tracts.committed = target;
  }
  uint32_t first = tracts.frontier;
  tracts.frontier = end;
  hearth_expect(tracts.frontier <= tracts.committed && tracts.committed <= tracts.count);
  return first;
}

/* With signals blocked: every malloc may need a tract in the end, also a signal handler's malloc. */
static uint64_t lock_runs(void) {
  uint64_t signals = hearth_os_block_signals();

  hearth_lock_take(&tracts.lock);
  return signals;
}

static void unlock_runs(uint64_t signals) {
  hearth_lock_give(&tracts.lock);
  hearth_os_restore_signals(signals);
}

char *hearth_tract_take(hearth_tract_kind kind, uint8_t size_class, size_t size) {
  if (size > tracts.count * HEARTH_SECTOR)
    return NULL;
  uint32_t length = (uint32_t)((size + HEARTH_SECTOR - 1) / HEARTH_SECTOR);
  uint64_t signals = lock_runs();
  uint32_t first = take_free(length);
  if (first == NO_SECTOR)
    first = take_new(length);
  if (first != NO_SECTOR) {
    for (uint32_t i = 1; i < length; ++i)
      tracts.sectors[first + i] = (hearth_sector){.kind = HEARTH_TRACT_INNER, .size_class = size_class, .length = i};
    tracts.sectors[first] = (hearth_sector){.kind = (uint8_t)kind, .size_class = size_class, .length = length};
  }
  unlock_runs(signals);
  return first == NO_SECTOR ? NULL : sector_address(first);
}

void hearth_tract_give(char *start) {
  uint32_t first = (uint32_t)((size_t)(start - tracts.range) / HEARTH_SECTOR);
  uint32_t length = tracts.sectors[first].length;

  hearth_expect(start == sector_address(first) && first + length <= tracts.frontier);
  hearth_expect(tracts.sectors[first].kind >= HEARTH_TRACT_SMALL && tracts.sectors[first].kind <= HEARTH_TRACT_LARGE);
  /* Before it can be taken again, and outside the lock: this is the slow part. */
  hearth_os_discard(start, length * HEARTH_SECTOR);
  hearth_shadow_give_back(start, length * HEARTH_SECTOR);
  uint64_t signals = lock_runs();
  tracts.sectors[first].kind = HEARTH_TRACT_FREE; /* also inside of a longer one: its blocks were freed */
  if (first + length < tracts.frontier && tracts.sectors[first + length].kind == HEARTH_TRACT_FREE) {
    uint32_t behind = first + length;
    length += tracts.sectors[behind].length;
    unlink_free(behind);
  }
  if (first > 0 && tracts.sectors[first - 1].kind == HEARTH_TRACT_FREE) {
    uint32_t before = first - tracts.sectors[first - 1].length;
    length += tracts.sectors[before].length;
    unlink_free(before);
    first = before;
  }
  link_free(first, length);
  unlock_runs(signals);
}

inline bool hearth_tracts_contain(const void *address) {
  return (uintptr_t)address - (uintptr_t)tracts.range <
         tracts.count * HEARTH_SECTOR; /* no sector before there is a range */
}

inline hearth_sector *hearth_sector_of(const void *address) {
  uintptr_t offset = (uintptr_t)address - (uintptr_t)tracts.range;

  return offset < tracts.count * HEARTH_SECTOR ? &tracts.sectors[offset / HEARTH_SECTOR] : NULL;
}

inline hearth_sector *hearth_tract_first_sector(const void *address) {
  hearth_sector *sector = &tracts.sectors[((uintptr_t)address - (uintptr_t)tracts.range) / HEARTH_SECTOR];

  return sector->kind == HEARTH_TRACT_INNER ? sector - sector->length : sector;
}

char *hearth_tract_start(const hearth_sector *first) { return sector_address((uint32_t)(first - tracts.sectors)); }

inline bool hearth_tract_find_small(const void *address, unsigned *ret_class, uint32_t *ret_offset) {
  uintptr_t offset = (uintptr_t)address - (uintptr_t)tracts.range;

  if (offset >= tracts.count * HEARTH_SECTOR)
    return false;
  const hearth_sector *sector = &tracts.sectors[offset / HEARTH_SECTOR];
  bool is_inner = sector->kind == HEARTH_TRACT_INNER;
  *ret_class = sector->size_class;
  *ret_offset = (uint32_t)(offset % HEARTH_SECTOR + (is_inner ? sector->length * HEARTH_SECTOR : 0));
  return sector->kind == HEARTH_TRACT_SMALL || (is_inner && sector->size_class != HEARTH_TRACT_NO_CLASS);
}

static inline hearth_tract describe(uint32_t first) {
  const hearth_sector *sector = &tracts.sectors[first];

  return (hearth_tract){sector->kind, sector->size_class, sector_address(first), sector->length * HEARTH_SECTOR};
}

inline hearth_tract hearth_tract_of(const void *address) {
  return describe((uint32_t)(hearth_tract_first_sector(address) - tracts.sectors));
}

inline bool hearth_tract_find(const void *address, hearth_tract *ret_tract) {
  if (!hearth_tracts_contain(address))
    return false;
  *ret_tract = hearth_tract_of(address);
  return ret_tract->kind == HEARTH_TRACT_SMALL || ret_tract->kind == HEARTH_TRACT_LARGE;
}

size_t hearth_tracts_extent(char **ret_start) {
  *ret_start = tracts.range;
  return (size_t)__atomic_load_n(&tracts.frontier, __ATOMIC_RELAXED) * HEARTH_SECTOR;
}

/* The parts of a sector may be of two states: then it is no tract. */
bool hearth_tract_peek(const void *address, hearth_tract *ret_tract) {
  uint32_t frontier = __atomic_load_n(&tracts.frontier, __ATOMIC_RELAXED);
  size_t number = ((uintptr_t)address - (uintptr_t)tracts.range) / HEARTH_SECTOR;
  if (number >= frontier)
    return false;
  uint32_t first = (uint32_t)number;
  hearth_sector sector = tracts.sectors[first];
  if (sector.kind == HEARTH_TRACT_INNER && sector.length <= first) {
    first -= sector.length;
    sector = tracts.sectors[first];
  }
  *ret_tract = (hearth_tract){sector.kind, sector.size_class, sector_address(first), sector.length * HEARTH_SECTOR};
  return (sector.kind == HEARTH_TRACT_SMALL || sector.kind == HEARTH_TRACT_LARGE) && sector.length > number - first &&
         sector.length <= frontier - first;
}

bool hearth_tract_next(uint32_t *sector, hearth_tract *ret_tract) {
  while (*sector < tracts.frontier) {
    *ret_tract = describe(*sector);
    hearth_expect(ret_tract->size > 0 && ret_tract->kind != HEARTH_TRACT_INNER);
    *sector += tracts.sectors[*sector].length;
    if (ret_tract->kind != HEARTH_TRACT_FREE)
      return true;
  }
  return false;
}

void hearth_tracts_lock(void) { hearth_lock_take(&tracts.lock); }

void hearth_tracts_unlock(void) { hearth_lock_give(&tracts.lock); }

/* A tract is in one list while it has free chunks. One that gets empty goes back, unless the class has few empty ones: a program
 * that frees and allocates by turns must not have its pages taken away each time. Each new tract of a class that has given one back
 * lets one more stay. */

#define EMPTY_PART      32u /* of a class's tracts that may stay empty, and one more */
#define SECTORS_OF(mib) ((uint32_t)(((size_t)(mib) << 20) / HEARTH_SECTOR))
/* That may stay because the class takes tracts again: */
#define EMPTY_OF_CLASS SECTORS_OF(1)
#define EMPTY_OF_ALL   SECTORS_OF(4)

static uint32_t empty_sectors; /* of all classes */

void hearth_class_tracts_note_new(hearth_class_tracts *tracts, const hearth_sector *tract) {
  ++tracts->count;
  if (tracts->left == 0)
    return;
  --tracts->left;
  tracts->staying += (tracts->staying + 1) * tract->length <= EMPTY_OF_CLASS;
}

void hearth_class_tracts_note_taken(hearth_class_tracts *tracts, hearth_sector *tract, uint32_t chunks) {
  hearth_expect(tract->free_count > 0 && tract->free_count <= chunks);
  if (tract->free_count == chunks) {
    hearth_expect(tracts->empty_count > 0);
    hearth_sector_unlink(&tracts->empty, tract);
    hearth_sector_link(&tracts->partial, tract);
    --tracts->empty_count;
    __atomic_fetch_sub(&empty_sectors, tract->length, __ATOMIC_RELAXED);
  }
  if (--tract->free_count == 0)
    hearth_sector_unlink(&tracts->partial, tract);
}

static bool may_stay(const hearth_class_tracts *tracts, const hearth_sector *tract) {
  return tracts->empty_count <= tracts->count / EMPTY_PART ||
         (tracts->empty_count < tracts->staying &&
          __atomic_load_n(&empty_sectors, __ATOMIC_RELAXED) + tract->length <= EMPTY_OF_ALL);
}

static void put_empty(hearth_class_tracts *tracts, hearth_sector *tract) {
  hearth_sector_unlink(&tracts->partial, tract);
  if (may_stay(tracts, tract)) {
    hearth_sector_link(&tracts->empty, tract);
    ++tracts->empty_count;
    __atomic_fetch_add(&empty_sectors, tract->length, __ATOMIC_RELAXED);
  } else {
    tract->next = tracts->leaving;
    tracts->leaving = tract;
    --tracts->count;
    ++tracts->left;
  }
}

void hearth_class_tracts_note_given(hearth_class_tracts *tracts, hearth_sector *tract, uint32_t chunks) {
  hearth_expect(tract->free_count < chunks && tracts->count > 0);
  if (tract->free_count++ == 0)
    hearth_sector_link(&tracts->partial, tract);
  if (tract->free_count == chunks)
    put_empty(tracts, tract);
}

void hearth_class_tracts_unlock(hearth_class_tracts *tracts, hearth_lock *lock) {
  hearth_sector *leaving = tracts->leaving;

  tracts->leaving = NULL;
  hearth_lock_give(lock);
  while (leaving) {
    hearth_sector *next = leaving->next;
    hearth_tract_give(hearth_tract_start(leaving));
    leaving = next;
  }
}
