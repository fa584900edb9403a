/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Free spans are in bins by the logarithm of their length, and are joined with free neighbours when they are given
 * back. Requests that they do not serve take from the frontier, behind which nothing was ever used. */
#include "heap.h"
#include "os.h"
#include "shadow.h"
#include "thread_state.h"

#define RANGE_MOST   ((size_t)1 << 40)
#define RANGE_LEAST  ((size_t)1 << 35) /* valgrind and small address spaces still give this much */
#define COMMIT_UNITS 64u               /* grow by 4 MiB: few system calls, little waste */
#define BINS         32
#define NO_SLICE     UINT32_MAX

static struct {
  hearth_lock lock;
  char *range;
  hearth_slice *slices;
  uint32_t count;           /* slices of the range */
  uint32_t frontier;        /* slices ever used */
  uint32_t committed;       /* slices that are readable and writable */
  hearth_slice *bins[BINS]; /* free spans: bin b holds lengths [2^b, 2^(b+1)) */
} spans;

static char *slice_address(uint32_t slice) { return spans.range + (size_t)slice * HEARTH_SLICE; }

static unsigned span_bin_of(uint32_t length) { return 31u - (unsigned)__builtin_clz(length); }

/* Counters take five eighths of the address space (shadow.c), which has 64 GiB to 128 TiB. */
bool hearth_spans_create(void) {
  size_t most = ((size_t)1 << hearth_os_address_bits()) / 8, least = most < RANGE_LEAST ? most : RANGE_LEAST;
  for (size_t size = most < RANGE_MOST ? most : RANGE_MOST; size >= least; size /= 2) {
    spans.range = hearth_system_reserve(size, HEARTH_SLICE);
    if (!spans.range)
      continue;
    uint32_t count = (uint32_t)(size / HEARTH_SLICE);
    size_t table = count * sizeof(hearth_slice);
    spans.slices = hearth_system_map_sparse(table);
    if (!spans.slices) {
      hearth_system_release(spans.range, size);
      continue;
    }
    spans.count = count;
    return true;
  }
  return false;
}

static void unlink_free(uint32_t first) {
  hearth_slice *slice = &spans.slices[first];

  hearth_expect(slice->kind == HEARTH_SPAN_FREE && slice->length > 0);
  hearth_expect(slice[slice->length - 1].kind == HEARTH_SPAN_FREE);
  hearth_expect(slice[slice->length - 1].length == slice->length);
  hearth_slice_unlink(&spans.bins[span_bin_of(slice->length)], slice);
}

static void link_free(uint32_t first, uint32_t length) {
  hearth_slice as_free = {.kind = HEARTH_SPAN_FREE, .length = length};

  hearth_expect(length > 0 && first + length <= spans.frontier);
  spans.slices[first] = spans.slices[first + length - 1] = as_free;
  hearth_slice_link(&spans.bins[span_bin_of(length)], &spans.slices[first]);
}

/* A free span of at least `length` slices, unlinked; its excess is linked again. */
static uint32_t take_free(uint32_t length) {
  for (unsigned bin = span_bin_of(length); bin < BINS; ++bin)
    for (const hearth_slice *at = spans.bins[bin]; at; at = at->next) {
      uint32_t first = (uint32_t)(at - spans.slices), found = at->length;
      if (found < length)
        continue; /* in the first bin only */
      unlink_free(first);
      if (found > length)
        link_free(first + length, found - length);
      return first;
    }
  return NO_SLICE;
}

static uint32_t take_new(uint32_t length) {
  if (length > spans.count - spans.frontier)
    return NO_SLICE;
  uint32_t end = spans.frontier + length;
  if (end > spans.committed) {
    uint32_t target = (end + COMMIT_UNITS - 1) / COMMIT_UNITS * COMMIT_UNITS; /* the range is a multiple of it */
    if (!hearth_system_open(slice_address(spans.committed), (target - spans.committed) * HEARTH_SLICE))
      return NO_SLICE;
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
  if (size > spans.count * HEARTH_SLICE)
    return NULL;
  uint32_t length = (uint32_t)((size + HEARTH_SLICE - 1) / HEARTH_SLICE);
  uint64_t signals = lock_runs();
  uint32_t first = take_free(length);
  if (first == NO_SLICE)
    first = take_new(length);
  if (first != NO_SLICE) {
    for (uint32_t i = 1; i < length; ++i)
      spans.slices[first + i] = (hearth_slice){.kind = HEARTH_SPAN_INNER, .size_class = size_class, .length = i};
    spans.slices[first] = (hearth_slice){.kind = (uint8_t)kind, .size_class = size_class, .length = length};
  }
  unlock_runs(signals);
  return first == NO_SLICE ? NULL : slice_address(first);
}

void hearth_span_give(char *start) {
  uint32_t first = (uint32_t)((size_t)(start - spans.range) / HEARTH_SLICE);
  uint32_t length = spans.slices[first].length;

  hearth_expect(start == slice_address(first) && first + length <= spans.frontier);
  hearth_expect(spans.slices[first].kind >= HEARTH_SPAN_SMALL && spans.slices[first].kind <= HEARTH_SPAN_LARGE);
  /* Before it can be taken again, and outside the lock: this is the slow part. */
  hearth_system_discard(start, length * HEARTH_SLICE);
  hearth_shadow_give_back(start, length * HEARTH_SLICE);
  uint64_t signals = lock_runs();
  spans.slices[first].kind = HEARTH_SPAN_FREE; /* also inside of a longer one: its blocks were freed */
  if (first + length < spans.frontier && spans.slices[first + length].kind == HEARTH_SPAN_FREE) {
    uint32_t behind = first + length;
    length += spans.slices[behind].length;
    unlink_free(behind);
  }
  if (first > 0 && spans.slices[first - 1].kind == HEARTH_SPAN_FREE) {
    uint32_t before = first - spans.slices[first - 1].length;
    length += spans.slices[before].length;
    unlink_free(before);
    first = before;
  }
  link_free(first, length);
  unlock_runs(signals);
}

inline hearth_slice *hearth_slice_of(const void *address) {
  uintptr_t offset = (uintptr_t)address - (uintptr_t)spans.range;

  return offset < spans.count * HEARTH_SLICE ? &spans.slices[offset / HEARTH_SLICE]
                                             : NULL; /* no slice before there is a range */
}

inline hearth_slice *hearth_span_first_slice(const void *address) {
  hearth_slice *slice = &spans.slices[((uintptr_t)address - (uintptr_t)spans.range) / HEARTH_SLICE];

  return slice->kind == HEARTH_SPAN_INNER ? slice - slice->length : slice;
}

char *hearth_span_start(const hearth_slice *first) { return slice_address((uint32_t)(first - spans.slices)); }

inline bool hearth_span_find_small(const void *address, unsigned *ret_class, uint32_t *ret_offset) {
  uintptr_t offset = (uintptr_t)address - (uintptr_t)spans.range;

  if (offset >= spans.count * HEARTH_SLICE)
    return false;
  const hearth_slice *slice = &spans.slices[offset / HEARTH_SLICE];
  bool is_inner = slice->kind == HEARTH_SPAN_INNER;
  *ret_class = slice->size_class;
  *ret_offset = (uint32_t)(offset % HEARTH_SLICE + (is_inner ? slice->length * HEARTH_SLICE : 0));
  return slice->kind == HEARTH_SPAN_SMALL || (is_inner && slice->size_class != HEARTH_NO_CLASS);
}

static inline hearth_span describe_span(uint32_t first) {
  const hearth_slice *slice = &spans.slices[first];

  return (hearth_span){slice->kind, slice->size_class, slice_address(first), slice->length * HEARTH_SLICE};
}

inline hearth_span hearth_span_of(const void *address) {
  return describe_span((uint32_t)(hearth_span_first_slice(address) - spans.slices));
}

size_t hearth_spans_extent(char **ret_start) {
  *ret_start = spans.range;
  return (size_t)__atomic_load_n(&spans.frontier, __ATOMIC_RELAXED) * HEARTH_SLICE;
}

/* The parts of a slice may be of two states: then it is no span. */
bool hearth_span_peek(const void *address, hearth_span *ret_span) {
  uint32_t frontier = __atomic_load_n(&spans.frontier, __ATOMIC_RELAXED);
  size_t number = ((uintptr_t)address - (uintptr_t)spans.range) / HEARTH_SLICE;
  if (number >= frontier)
    return false;
  uint32_t first = (uint32_t)number;
  hearth_slice slice = spans.slices[first];
  if (slice.kind == HEARTH_SPAN_INNER && slice.length <= first) {
    first -= slice.length;
    slice = spans.slices[first];
  }
  *ret_span = (hearth_span){slice.kind, slice.size_class, slice_address(first), slice.length * HEARTH_SLICE};
  return (slice.kind == HEARTH_SPAN_SMALL || slice.kind == HEARTH_SPAN_LARGE) && slice.length > number - first &&
         slice.length <= frontier - first;
}

bool hearth_span_next(uint32_t *slice, hearth_span *ret_span) {
  while (*slice < spans.frontier) {
    *ret_span = describe_span(*slice);
    hearth_expect(ret_span->size > 0 && ret_span->kind != HEARTH_SPAN_INNER);
    *slice += spans.slices[*slice].length;
    if (ret_span->kind != HEARTH_SPAN_FREE)
      return true;
  }
  return false;
}

void hearth_spans_lock(void) { hearth_lock_take(&spans.lock); }

void hearth_spans_unlock(void) { hearth_lock_give(&spans.lock); }

/* A span is in one list while it has free chunks. One that gets empty goes back, unless the class has few empty
 * ones: a program that frees and allocates by turns must not have its pages taken away each time. Each new span of a
 * class that has given one back lets one more stay. */

#define EMPTY_PART     32u /* of a class's spans that may stay empty, and one more */
#define SLICES_OF(mib) ((uint32_t)(((size_t)(mib) << 20) / HEARTH_SLICE))
/* That may stay because the class takes spans again: */
#define EMPTY_OF_CLASS SLICES_OF(1)
#define EMPTY_OF_ALL   SLICES_OF(4)

static uint32_t empty_slices; /* of all classes */

void hearth_class_spans_note_new(hearth_class_spans *spans, const hearth_slice *span) {
  ++spans->count;
  if (spans->left == 0)
    return;
  --spans->left;
  spans->staying += (spans->staying + 1) * span->length <= EMPTY_OF_CLASS;
}

void hearth_class_spans_note_taken(hearth_class_spans *spans, hearth_slice *span, uint32_t chunks) {
  hearth_expect(span->free_count > 0 && span->free_count <= chunks);
  if (span->free_count == chunks) {
    hearth_expect(spans->empty_count > 0);
    hearth_slice_unlink(&spans->empty, span);
    hearth_slice_link(&spans->partial, span);
    --spans->empty_count;
    __atomic_fetch_sub(&empty_slices, span->length, __ATOMIC_RELAXED);
  }
  if (--span->free_count == 0)
    hearth_slice_unlink(&spans->partial, span);
}

static bool may_stay(const hearth_class_spans *spans, const hearth_slice *span) {
  return spans->empty_count <= spans->count / EMPTY_PART ||
         (spans->empty_count < spans->staying &&
          __atomic_load_n(&empty_slices, __ATOMIC_RELAXED) + span->length <= EMPTY_OF_ALL);
}

static void put_empty(hearth_class_spans *spans, hearth_slice *span) {
  hearth_slice_unlink(&spans->partial, span);
  if (may_stay(spans, span)) {
    hearth_slice_link(&spans->empty, span);
    ++spans->empty_count;
    __atomic_fetch_add(&empty_slices, span->length, __ATOMIC_RELAXED);
  } else {
    span->next = spans->leaving;
    spans->leaving = span;
    --spans->count;
    ++spans->left;
  }
}

void hearth_class_spans_note_given(hearth_class_spans *spans, hearth_slice *span, uint32_t chunks) {
  hearth_expect(span->free_count < chunks && spans->count > 0);
  if (span->free_count++ == 0)
    hearth_slice_link(&spans->partial, span);
  if (span->free_count == chunks)
    put_empty(spans, span);
}

void hearth_class_spans_unlock(hearth_class_spans *spans, hearth_lock *lock) {
  hearth_slice *leaving = spans->leaving;

  spans->leaving = NULL;
  hearth_lock_give(lock);
  while (leaving) {
    hearth_slice *next = leaving->next;
    hearth_span_give(hearth_span_start(leaving));
    leaving = next;
  }
}
