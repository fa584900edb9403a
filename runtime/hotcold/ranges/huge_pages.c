/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pieces are huge by advice: the first ones when they are dense, as mincore tells, the others before their first page is
 * handed out. Times are the thread's own, so that other programs do not count. */
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
  /* Huge pages may take so much longer than ordinary ones would have, and this part of the program's time: */
  ALLOWED_NS = 4000000,
  TIME_SHARE = 16,
  ORDINARY_NS = 1100, /* of an ordinary page, until one was timed */
};

static struct range {
  char *start, *end;
  _Atomic bool is_huge[HEARTH_HUGE_PIECES]; /* by advice, since the piece was last without memory */
} ranges[HEARTH_RANGES];

static _Atomic int64_t extra_ns; /* that huge pages took more than ordinary ones would have, at least 0 */
static _Atomic int64_t ordinary_ns = ORDINARY_NS; /* that an ordinary page took */

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

static int64_t read_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Threads that do so at once may lose a time. */
static void add_extra(int64_t ns) {
  int64_t sum = atomic_load_explicit(&extra_ns, memory_order_relaxed) + ns;
  atomic_store_explicit(&extra_ns, sum > 0 ? sum : 0, memory_order_relaxed);
}

static bool may_be_huge(void) {
  int64_t extra = atomic_load_explicit(&extra_ns, memory_order_relaxed) - ALLOWED_NS;
  return extra <= 0 || extra <= read_ns(CLOCK_PROCESS_CPUTIME_ID) / TIME_SHARE;
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

/* Now, or by the system in the background. */
static void make_huge(struct range *range, size_t piece) {
  advise(range, piece, true);
  if (!may_be_huge())
    return;
  int64_t before = read_ns(CLOCK_THREAD_CPUTIME_ID);
  madvise(start_of(range, piece), HEARTH_HUGE_PAGE_BYTES, MADV_COLLAPSE);
  add_extra(read_ns(CLOCK_THREAD_CPUTIME_ID) - before);
}

static void make_dense_pieces_huge(struct range *range, const char *end) {
  for (size_t piece = 0; piece < ORDINARY_PIECES && start_of(range, piece) < end; piece++)
    if (!atomic_load_explicit(&range->is_huge[piece], memory_order_relaxed) && is_dense(start_of(range, piece)))
      make_huge(range, piece);
}

/* Chooses for the pieces whose first page is among the pages. */
static bool commit(char *start, size_t bytes, size_t free_bytes) {
  struct range *range = range_of(start);
  char *end = start + bytes;
  (void)free_bytes;
  make_dense_pieces_huge(range, start);
  for (size_t piece = piece_at(range, start + HEARTH_HUGE_PAGE_BYTES - 1); start_of(range, piece) < end; piece++)
    if (piece >= ORDINARY_PIECES || start_of(range, piece) + HEARTH_HUGE_PAGE_BYTES <= end)
      advise(range, piece, may_be_huge());
  return true;
}

/* From its first page on, a piece of ordinary pages gets no huge page by a fault. But the system may make it one, in the background, as
 * programs that run for long deserve. */
static void leave_to_system(struct range *range, size_t piece) {
  if (piece >= ORDINARY_PIECES)
    madvise(start_of(range, piece), HEARTH_HUGE_PAGE_BYTES, MADV_HUGEPAGE);
}

static void fill(char *start, size_t bytes) {
  struct range *range = range_of(start);
  size_t piece = piece_at(range, start);
  bool huge = atomic_load_explicit(&range->is_huge[piece], memory_order_relaxed),
       first = start == start_of(range, piece);
  if (huge ? !first : bytes < FILLED_AT_ONCE)
    return;
  int saved_errno = errno;
  int64_t before = read_ns(CLOCK_THREAD_CPUTIME_ID),
          ordinary = atomic_load_explicit(&ordinary_ns, memory_order_relaxed);
  bool filled = !madvise(start, bytes, MADV_POPULATE_WRITE);
  int64_t ns = read_ns(CLOCK_THREAD_CPUTIME_ID) - before;
  if (filled && huge) {
    add_extra(ns - PAGES_OF_PIECE * ordinary);
  } else if (filled) {
    atomic_store_explicit(&ordinary_ns, ns / (int64_t)(bytes / HEARTH_PAGE_BYTES), memory_order_relaxed);
    leave_to_system(range, piece);
  }
  errno = saved_errno;
}

const struct hearth_region_backing hearth_huge_pages_backing = {.commit = commit, .fill = fill};
