/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pieces are huge by advice: the first ones when they are dense, as mincore tells, the others before their first page is
 * handed out, as long as huge pages come quickly. Times are the thread's own, so that other programs do not count. */
#define _GNU_SOURCE
#include "huge_pages.h"

#include "ranges.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

/* Linux 5.14 and 6.1; older kernels refuse them, and fill or collapse later by themselves. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum {
  ORDINARY_PIECES = 8,
  PAGES_OF_PIECE = (int)(HEARTH_HUGE_PAGE_BYTES / HEARTH_PAGE_BYTES),
  DENSE_PAGES = PAGES_OF_PIECE / 8 * 7,
  /* Pages of smaller parcels are left to faults: small programs are to stay small. */
  FILLED_AT_ONCE = 128 << 10,
  /* A huge page is slow if it takes this many times as long as as many ordinary ones. */
  SLOW_FACTOR = 16,
  ORDINARY_NS = 1100, /* of an ordinary page, until one was timed */
  FIRST_PAUSE = 4,
  LONGEST_PAUSE = 256,
};

static struct range {
  char *start, *end;
  unsigned paused_pieces;                   /* that are to get ordinary pages; guarded by the region's lock */
  _Atomic bool is_huge[HEARTH_HUGE_PIECES]; /* by advice, since the piece was last without memory */
} ranges[HEARTH_RANGES];

static _Atomic unsigned pause_asked, pause_next = FIRST_PAUSE;
static _Atomic uint64_t ordinary_ns = ORDINARY_NS; /* that an ordinary page took */

void hearth_huge_pages_open(char *start, size_t bytes) {
  struct range *range = &ranges[ranges[0].start != NULL];
  range->start = start;
  range->end = start + bytes;
  madvise(start, bytes, MADV_NOHUGEPAGE); /* where the system's default is huge pages everywhere */
}

static struct range *range_of(const char *address) { return &ranges[address >= ranges[0].end]; }

static size_t piece_at(const struct range *range, const char *address) {
  return (size_t)(address - range->start) / HEARTH_HUGE_PAGE_BYTES;
}

static char *start_of(const struct range *range, size_t piece) { return range->start + piece * HEARTH_HUGE_PAGE_BYTES; }

static void advise(struct range *range, size_t piece, bool huge) {
  madvise(start_of(range, piece), HEARTH_HUGE_PAGE_BYTES, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  atomic_store_explicit(&range->is_huge[piece], huge, memory_order_relaxed);
}

/* Times. */

static uint64_t thread_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A huge page took so long. */
static void judge(uint64_t ns) {
  uint64_t ordinary = PAGES_OF_PIECE * atomic_load_explicit(&ordinary_ns, memory_order_relaxed);
  if (ns <= SLOW_FACTOR * ordinary) {
    atomic_store_explicit(&pause_next, FIRST_PAUSE, memory_order_relaxed);
    return;
  }
  unsigned pause = atomic_load_explicit(&pause_next, memory_order_relaxed);
  atomic_store_explicit(&pause_asked, pause, memory_order_relaxed);
  atomic_store_explicit(&pause_next, pause < LONGEST_PAUSE ? 2 * pause : pause, memory_order_relaxed);
}

/* Is the next piece to get ordinary pages? */
static bool pauses(struct range *range) {
  unsigned asked = atomic_exchange_explicit(&pause_asked, 0, memory_order_relaxed);
  if (asked)
    range->paused_pieces = asked;
  if (!range->paused_pieces)
    return false;
  range->paused_pieces--;
  return true;
}

/* The first pieces. */

static bool is_dense(char *piece) {
  unsigned char in_memory[PAGES_OF_PIECE];
  int pages = 0;
  if (mincore(piece, HEARTH_HUGE_PAGE_BYTES, in_memory))
    return false;
  for (int i = 0; i < PAGES_OF_PIECE; i++)
    pages += in_memory[i] & 1;
  return pages >= DENSE_PAGES;
}

static void collapse(struct range *range, size_t piece) {
  uint64_t before = thread_ns();
  advise(range, piece, true);
  madvise(start_of(range, piece), HEARTH_HUGE_PAGE_BYTES, MADV_COLLAPSE);
  judge(thread_ns() - before);
}

static void collapse_dense_pieces(struct range *range, const char *end) {
  for (size_t piece = 0; piece < ORDINARY_PIECES && start_of(range, piece) < end; piece++)
    if (!atomic_load_explicit(&range->is_huge[piece], memory_order_relaxed) && is_dense(start_of(range, piece)) &&
        !pauses(range))
      collapse(range, piece);
}

/* Chooses for the pieces whose first page is among the pages. */
static bool commit(char *start, size_t bytes, size_t free_bytes) {
  struct range *range = range_of(start);
  char *end = start + bytes;
  (void)free_bytes;
  collapse_dense_pieces(range, start);
  for (size_t piece = piece_at(range, start + HEARTH_HUGE_PAGE_BYTES - 1); start_of(range, piece) < end; piece++)
    if (piece >= ORDINARY_PIECES || start_of(range, piece) + HEARTH_HUGE_PAGE_BYTES <= end)
      advise(range, piece, !pauses(range));
  return true;
}

static void fill(char *start, size_t bytes) {
  struct range *range = range_of(start);
  size_t piece = piece_at(range, start);
  bool huge = atomic_load_explicit(&range->is_huge[piece], memory_order_relaxed),
       first = start == start_of(range, piece);
  if (huge ? !first : bytes < FILLED_AT_ONCE)
    return;
  int saved_errno = errno;
  uint64_t before = thread_ns();
  bool filled = !madvise(start, bytes, MADV_POPULATE_WRITE);
  uint64_t ns = thread_ns() - before;
  errno = saved_errno;
  if (filled && huge)
    judge(ns);
  else if (filled)
    atomic_store_explicit(&ordinary_ns, ns / (bytes / HEARTH_PAGE_BYTES), memory_order_relaxed);
}

const struct hearth_region_backing hearth_huge_pages_backing = {.commit = commit, .fill = fill};
