/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Free spans are in bins by the logarithm of their length, and are joined with free neighbours when they are given
 * back. Requests that they do not serve take from the frontier, behind which nothing was ever used. */
#include "spans.h"
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
  hearth_sector *bins[BINS]; /* free spans: bin b holds lengths [2^b, 2^(b+1)) */
} spans;

static char *sector_address(uint32_t sector) { return spans.range + (size_t)sector * HEARTH_SECTOR; }

static unsigned bin_of(uint32_t length) { return 31u - (unsigned)__builtin_clz(length); }

bool hearth_spans_create(void) {
  for (size_t size = RANGE_MOST; size >= RANGE_LEAST; size /= 2) {
    /* One sector more, to align the range to sectors. */
    char *space = hearth_os_reserve(size + HEARTH_SECTOR);
    if (!space)
      continue;
    uint32_t count = (uint32_t)(size / HEARTH_SECTOR);
    size_t table = count * sizeof(hearth_sector);
    spans.sectors = hearth_os_map(table);
    if (!spans.sectors) {
      hearth_os_unmap(space, size + HEARTH_SECTOR);
      continue;
    }
    hearth_os_mark_sparse(spans.sectors, table);
    spans.range = (char *)(((uintptr_t)space + HEARTH_SECTOR - 1) & ~(HEARTH_SECTOR - 1));
    spans.count = count;
    return true;
  }
  return false;
}

static void unlink_free(uint32_t first) {
  hearth_sector *sector = &spans.sectors[first];

  hearth_expect(sector->kind == HEARTH_SPAN_FREE && sector->length > 0);
  hearth_expect(sector[sector->length - 1].kind == HEARTH_SPAN_FREE);
  hearth_expect(sector[sector->length - 1].length == sector->length);
  hearth_sector_unlink(&spans.bins[bin_of(sector->length)], sector);
}

static void link_free(uint32_t first, uint32_t length) {
  hearth_sector as_free = {.kind = HEARTH_SPAN_FREE, .length = length};

  hearth_expect(length > 0 && first + length <= spans.frontier);
  spans.sectors[first] = spans.sectors[first + length - 1] = as_free;
  hearth_sector_link(&spans.bins[bin_of(length)], &spans.sectors[first]);
}

/* A free span of at least `length` sectors, unlinked; its excess is linked again. */
static uint32_t take_free(uint32_t length) {
  for (unsigned bin = bin_of(length); bin < BINS; ++bin)
    for (const hearth_sector *at = spans.bins[bin]; at; at = at->next) {
      uint32_t first = (uint32_t)(at - spans.sectors), found = at->length;
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
  if (length > spans.count - spans.frontier)
    return NO_SECTOR;
  uint32_t end = spans.frontier + length;
  if (end > spans.committed) {
    uint32_t target = (end + COMMIT_UNITS - 1) / COMMIT_UNITS * COMMIT_UNITS; /* the range is a multiple of it */
    if (!hearth_os_commit(sector_address(spans.committed), (target - spans.committed) * HEARTH_SECTOR))
      return NO_SECTOR;
    spans.committed = target;
  }
  uint32_t first = spans.frontier;
  spans.frontier = end;
  hearth_expect(spans.frontier <= spans.committed && spans.committed <= spans.count);
  return first;
}

/* With signals blocked: every malloc may need a span in the end, also a signal handler's malloc. */
static uint64_t lock_runs(void) {
  uint64_t signals = hearth_os_block_signals();

  hearth_lock_take(&spans.lock);
  return signals;
}

static void unlock_runs(uint64_t signals) {
  hearth_lock_give(&spans.lock);
  hearth_os_restore_signals(signals);
}

char *hearth_span_take(hearth_span_kind kind, uint8_t size_class, size_t size) {
  if (size > spans.count * HEARTH_SECTOR)
    return NULL;
  uint32_t length = (uint32_t)((size + HEARTH_SECTOR - 1) / HEARTH_SECTOR);
  uint64_t signals = lock_runs();
  uint32_t first = take_free(length);
  if (first == NO_SECTOR)
    first = take_new(length);
  if (first != NO_SECTOR) {
    for (uint32_t i = 1; i < length; ++i)
      spans.sectors[first + i] = (hearth_sector){.kind = HEARTH_SPAN_INNER, .size_class = size_class, .length = i};
    spans.sectors[first] = (hearth_sector){.kind = (uint8_t)kind, .size_class = size_class, .length = length};
  }
  unlock_runs(signals);
  return first == NO_SECTOR ? NULL : sector_address(first);
}

void hearth_span_give(char *start) {
  uint32_t first = (uint32_t)((size_t)(start - spans.range) / HEARTH_SECTOR);
  uint32_t length = spans.sectors[first].length;

  hearth_expect(start == sector_address(first) && first + length <= spans.frontier);
  hearth_expect(spans.sectors[first].kind >= HEARTH_SPAN_SMALL && spans.sectors[first].kind <= HEARTH_SPAN_LARGE);
  /* Before it can be taken again, and outside the lock: this is the slow part. */
  hearth_os_discard(start, length * HEARTH_SECTOR);
  hearth_shadow_give_back(start, length * HEARTH_SECTOR);
  uint64_t signals = lock_runs();
  spans.sectors[first].kind = HEARTH_SPAN_FREE; /* also inside of a longer one: its blocks were freed */
  if (first + length < spans.frontier && spans.sectors[first + length].kind == HEARTH_SPAN_FREE) {
    uint32_t behind = first + length;
    length += spans.sectors[behind].length;
    unlink_free(behind);
  }
  if (first > 0 && spans.sectors[first - 1].kind == HEARTH_SPAN_FREE) {
    uint32_t before = first - spans.sectors[first - 1].length;
    length += spans.sectors[before].length;
    unlink_free(before);
    first = before;
  }
  link_free(first, length);
  unlock_runs(signals);
}

inline bool hearth_spans_contain(const void *address) {
  return (uintptr_t)address - (uintptr_t)spans.range <
         spans.count * HEARTH_SECTOR; /* no sector before there is a range */
}

inline hearth_sector *hearth_sector_of(const void *address) {
  uintptr_t offset = (uintptr_t)address - (uintptr_t)spans.range;

  return offset < spans.count * HEARTH_SECTOR ? &spans.sectors[offset / HEARTH_SECTOR] : NULL;
}

inline hearth_sector *hearth_span_first_sector(const void *address) {
  hearth_sector *sector = &spans.sectors[((uintptr_t)address - (uintptr_t)spans.range) / HEARTH_SECTOR];

  return sector->kind == HEARTH_SPAN_INNER ? sector - sector->length : sector;
}

char *hearth_span_start(const hearth_sector *first) { return sector_address((uint32_t)(first - spans.sectors)); }

inline bool hearth_span_find_small(const void *address, unsigned *ret_class, uint32_t *ret_offset) {
  uintptr_t offset = (uintptr_t)address - (uintptr_t)spans.range;

  if (offset >= spans.count * HEARTH_SECTOR)
    return false;
  const hearth_sector *sector = &spans.sectors[offset / HEARTH_SECTOR];
  bool is_inner = sector->kind == HEARTH_SPAN_INNER;
  *ret_class = sector->size_class;
  *ret_offset = (uint32_t)(offset % HEARTH_SECTOR + (is_inner ? sector->length * HEARTH_SECTOR : 0));
  return sector->kind == HEARTH_SPAN_SMALL || (is_inner && sector->size_class != HEARTH_SPAN_NO_CLASS);
}

static inline hearth_span describe(uint32_t first) {
  const hearth_sector *sector = &spans.sectors[first];

  return (hearth_span){sector->kind, sector->size_class, sector_address(first), sector->length * HEARTH_SECTOR};
}

inline hearth_span hearth_span_of(const void *address) {
  return describe((uint32_t)(hearth_span_first_sector(address) - spans.sectors));
}

inline bool hearth_span_find(const void *address, hearth_span *ret_span) {
  if (!hearth_spans_contain(address))
    return false;
  *ret_span = hearth_span_of(address);
  return ret_span->kind == HEARTH_SPAN_SMALL || ret_span->kind == HEARTH_SPAN_LARGE;
}

size_t hearth_spans_extent(char **ret_start) {
  *ret_start = spans.range;
  return (size_t)__atomic_load_n(&spans.frontier, __ATOMIC_RELAXED) * HEARTH_SECTOR;
}

/* The parts of a sector may be of two states: then it is no span. */
bool hearth_span_peek(const void *address, hearth_span *ret_span) {
  uint32_t frontier = __atomic_load_n(&spans.frontier, __ATOMIC_RELAXED);
  size_t number = ((uintptr_t)address - (uintptr_t)spans.range) / HEARTH_SECTOR;
  if (number >= frontier)
    return false;
  uint32_t first = (uint32_t)number;
  hearth_sector sector = spans.sectors[first];
  if (sector.kind == HEARTH_SPAN_INNER && sector.length <= first) {
    first -= sector.length;
    sector = spans.sectors[first];
  }
  *ret_span = (hearth_span){sector.kind, sector.size_class, sector_address(first), sector.length * HEARTH_SECTOR};
  return (sector.kind == HEARTH_SPAN_SMALL || sector.kind == HEARTH_SPAN_LARGE) && sector.length > number - first &&
         sector.length <= frontier - first;
}

bool hearth_span_next(uint32_t *sector, hearth_span *ret_span) {
  while (*sector < spans.frontier) {
    *ret_span = describe(*sector);
    hearth_expect(ret_span->size > 0 && ret_span->kind != HEARTH_SPAN_INNER);
    *sector += spans.sectors[*sector].length;
    if (ret_span->kind != HEARTH_SPAN_FREE)
      return true;
  }
  return false;
}

void hearth_spans_lock(void) { hearth_lock_take(&spans.lock); }

void hearth_spans_unlock(void) { hearth_lock_give(&spans.lock); }

/* A span is in one list while it has free chunks. One that gets empty goes back, unless the class has few empty ones: a program
 * that frees and allocates by turns must not have its pages taken away each time. Each new span of a class that has given one back
 * lets one more stay. */

#define EMPTY_PART      32u /* of a class's spans that may stay empty, and one more */
#define SECTORS_OF(mib) ((uint32_t)(((size_t)(mib) << 20) / HEARTH_SECTOR))
/* That may stay because the class takes spans again: */
#define EMPTY_OF_CLASS SECTORS_OF(1)
#define EMPTY_OF_ALL   SECTORS_OF(4)

static uint32_t empty_sectors; /* of all classes */

void hearth_class_spans_note_new(hearth_class_spans *spans, const hearth_sector *span) {
  ++spans->count;
  if (spans->left == 0)
    return;
  --spans->left;
  spans->staying += (spans->staying + 1) * span->length <= EMPTY_OF_CLASS;
}

void hearth_class_spans_note_taken(hearth_class_spans *spans, hearth_sector *span, uint32_t chunks) {
  hearth_expect(span->free_count > 0 && span->free_count <= chunks);
  if (span->free_count == chunks) {
    hearth_expect(spans->empty_count > 0);
    hearth_sector_unlink(&spans->empty, span);
    hearth_sector_link(&spans->partial, span);
    --spans->empty_count;
    __atomic_fetch_sub(&empty_sectors, span->length, __ATOMIC_RELAXED);
  }
  if (--span->free_count == 0)
    hearth_sector_unlink(&spans->partial, span);
}

static bool may_stay(const hearth_class_spans *spans, const hearth_sector *span) {
  return spans->empty_count <= spans->count / EMPTY_PART ||
         (spans->empty_count < spans->staying &&
          __atomic_load_n(&empty_sectors, __ATOMIC_RELAXED) + span->length <= EMPTY_OF_ALL);
}

static void put_empty(hearth_class_spans *spans, hearth_sector *span) {
  hearth_sector_unlink(&spans->partial, span);
  if (may_stay(spans, span)) {
    hearth_sector_link(&spans->empty, span);
    ++spans->empty_count;
    __atomic_fetch_add(&empty_sectors, span->length, __ATOMIC_RELAXED);
  } else {
    span->next = spans->leaving;
    spans->leaving = span;
    --spans->count;
    ++spans->left;
  }
}

void hearth_class_spans_note_given(hearth_class_spans *spans, hearth_sector *span, uint32_t chunks) {
  hearth_expect(span->free_count < chunks && spans->count > 0);
  if (span->free_count++ == 0)
    hearth_sector_link(&spans->partial, span);
  if (span->free_count == chunks)
    put_empty(spans, span);
}

void hearth_class_spans_unlock(hearth_class_spans *spans, hearth_lock *lock) {
  hearth_sector *leaving = spans->leaving;

  spans->leaving = NULL;
  hearth_lock_give(lock);
  while (leaving) {
    hearth_sector *next = leaving->next;
    hearth_span_give(hearth_span_start(leaving));
    leaving = next;
  }
}
